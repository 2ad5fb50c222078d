"""What the axes of consents and tokens change in the document."""

from sandbox.web.docs.amending import Amend, Document, field, operation, schema


def renamed(name: str, of: str, to: str) -> Amend:
    """A field of a component by another name."""

    def amend(document: Document) -> None:
        found = schema(document, name)["properties"]
        found[to] = found.pop(of)

    return amend


def parameter(name: str, of: tuple[str, str], to: tuple[str, str]) -> Amend:
    """A parameter of an operation elsewhere, or by another name: each is a name and its place."""

    def amend(document: Document) -> None:
        for described in operation(document, name):
            for row in described["parameters"]:
                if (row["name"], row["in"]) == of:
                    row["name"], row["in"] = to

    return amend


AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("sca_token_request", "query"): parameter("transactions", ("SCA-Token", "header"), ("sca_token", "query")),
    ("sca_token_reply", "scaToken"): renamed("TokenReply", "sca_token", "scaToken"),
    ("scope_in", "header"): parameter("consent_addresses", ("scope", "query"), ("Scope", "header")),
    ("caf_account", "account"): parameter("consent_addresses", ("iban", "query"), ("account", "query")),
    ("token_type_case", "bearer"): field("TokenReply", "token_type", enum=["bearer"]),
}
