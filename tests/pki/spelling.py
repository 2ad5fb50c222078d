"""Every route beside the bank, and the ways in which a caller may spell its path to get round a guard."""

from collections.abc import Iterator

from flask import Flask

from sandbox.contract.operations import BY_NAME

VALUES = {
    "name": "default",
    "id": "1",
    "seq": "1",
    "kind": "payments",
    "action": "reset",
    "iban": "BE68539007547034",
    "client_id": "demo-tpp",
    "customer": "alice",
}
BODIES = {
    "/clock": {"advance": "1d"},
    "/settings": {"requests_per_minute": 1},
    "/faults": {"answer": {"status": 503}},
    "/scenario": {"name": "default"},
    "/clients": {"client_id": "new", "secret": "new-secret", "roles": ["AIS"], "redirect_uris": ["https://a.example/"]},
    "/clients/demo-tpp": {"active": False},
    "/worlds/default/fork": {"as": "stolen"},
    "/worlds/default/rewind": {"at": "2027-03-01T09:00"},
    "/accounts/BE68539007547034/transactions": {"amount": "1.00"},
}


def routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Endpoint, method and a path below /_sandbox of every route that is neither the bank's nor of its pages."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint in BY_NAME or rule.rule.startswith("/psu/"):
            continue
        assert rule.rule.startswith("/_sandbox"), rule.rule
        path = "".join(
            VALUES.get(argument, "00000000-0000-4000-8000-000000000000") if dynamic else argument
            for dynamic, argument in rule._trace[1:]
        )
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield rule.endpoint, method, path.removeprefix("|").removeprefix("/_sandbox")


def spellings(path: str, address: str = "127.0.0.1") -> dict[str, str]:
    """Of a path below /_sandbox, as request targets."""
    last = path.rpartition("/")[2] or "x"
    below = path if path != "/" else ""
    letters = f"{path.removesuffix(last)}%{ord(last[0]):02x}{last[1:]}"
    return {
        "as it is": f"/_sandbox{path}",
        "two slashes": f"//_sandbox{path}",
        "two slashes of a world": f"/worlds/default//_sandbox{path}",
        "three slashes inside": f"/_sandbox//{below}",
        "an empty world": f"/worlds//_sandbox{path}",
        "%2f": f"/%2f_sandbox{path}",
        "%2F": f"/worlds/default/%2F_sandbox{path}",
        "%2f inside": f"/_sandbox%2f{below.lstrip('/')}",
        "/./": f"/./_sandbox{path}",
        "/./ inside": f"/_sandbox/.{path}",
        "/%2e/": f"/%2e/_sandbox{path}",
        "/x/..": f"/x/../_sandbox{path}",
        "/psu/..": f"/psu/../_sandbox{path}",
        "/psu/%2e%2e": f"/psu/%2e%2e/_sandbox{path}",
        "/accounts/..": f"/accounts/../_sandbox{path}",
        "..;": f"/x/..;/_sandbox{path}",
        ";": f"/_sandbox;a=b{path}",
        "; at the end": f"/_sandbox{path};a",
        "capitals": f"/_SANDBOX{path.upper()}",
        "a dot": f"/_sandbox.{path}",
        "a dot at the end": f"/_sandbox{path}.",
        "a slash at the end": f"/_sandbox{path}/",
        "a world": f"/worlds/default/_sandbox{path}",
        "an encoded world": f"/worlds/%64efault/_sandbox{path}",
        "two worlds": f"/worlds/default/worlds/default/_sandbox{path}",
        "an absolute URI": f"http://{address}/_sandbox{path}",
        "an absolute URI with two slashes": f"http://{address}//_sandbox{path}",
        "encoded letters": f"/%5fs%61ndbox{path}",
        "an encoded letter at the end": f"/_sandbox{letters}",
        "encoded twice": f"/%255fsandbox{path}",
        "a backslash": f"/\\_sandbox{path}",
        "an encoded backslash": f"/%5c_sandbox{path}",
        "NUL": f"/%00/_sandbox{path}",
        "a tab": f"/_sand\tbox{path}",
        "a query": f"/_sandbox{path}?/psu/",
        "a fragment": f"/_sandbox{path}#/psu/",
        "no slash": f"_sandbox{path}",
    }
