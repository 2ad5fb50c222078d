"""The qcStatements of a PSD2 certificate (ETSI TS 119 495, EN 319 412-5), written and read."""

from dataclasses import dataclass

from asn1crypto.core import Any, IA5String, ObjectIdentifier, PrintableString, Sequence, SequenceOf, UTF8String

EXTENSION = "1.3.6.1.5.5.7.1.3"
COMPLIANCE = "0.4.0.1862.1.1"
TYPE = "0.4.0.1862.1.6"
PSD2 = "0.4.0.19495.2"
DISCLOSURE = "0.4.0.1862.1.5"

QWAC = "QWAC"  # for TLS
QSEAL = "QSealC"  # for signatures
TYPES = {"0.4.0.1862.1.6.2": QSEAL, "0.4.0.1862.1.6.3": QWAC}
ROLES = {
    "0.4.0.19495.1.1": "PSP_AS",
    "0.4.0.19495.1.2": "PSP_PI",
    "0.4.0.19495.1.3": "PSP_AI",
    "0.4.0.19495.1.4": "PSP_IC",
}
ROLE_OF = {"PIS": "PSP_PI", "AIS": "PSP_AI"}  # what a call needs, as certificates name it


class Role(Sequence):  # type: ignore[misc]
    _fields = [("oid", ObjectIdentifier), ("name", UTF8String)]


class Roles(SequenceOf):  # type: ignore[misc]
    _child_spec = Role


class Psd2Type(Sequence):  # type: ignore[misc]
    _fields = [("roles", Roles), ("authority_name", UTF8String), ("authority_id", UTF8String)]


class Types(SequenceOf):  # type: ignore[misc]
    _child_spec = ObjectIdentifier


class Place(Sequence):  # type: ignore[misc]
    _fields = [("url", IA5String), ("language", PrintableString)]


class Places(SequenceOf):  # type: ignore[misc]
    _child_spec = Place


class Statement(Sequence):  # type: ignore[misc]
    _fields = [("id", ObjectIdentifier), ("content", Any, {"optional": True})]


class Statements(SequenceOf):  # type: ignore[misc]
    _child_spec = Statement


@dataclass(frozen=True, slots=True)
class Qualified:
    """What the statements of a certificate say."""

    kind: str | None = None  # QWAC or QSealC
    roles: tuple[str, ...] = ()
    authority_name: str = ""
    authority_id: str = ""
    disclosure: str = ""  # where the issuer says what it stands for; written, and not read


def write(statements: Qualified) -> bytes:
    """The extension's content, DER."""
    oid_of_role = {name: oid for oid, name in ROLES.items()}
    kind = next(oid for oid, name in TYPES.items() if name == statements.kind)
    psd2 = Psd2Type(
        {
            "roles": [{"oid": oid_of_role[name], "name": name} for name in statements.roles],
            "authority_name": statements.authority_name,
            "authority_id": statements.authority_id,
        }
    )
    rows = [{"id": COMPLIANCE}, {"id": TYPE, "content": Types([kind])}, {"id": PSD2, "content": psd2}]
    if statements.disclosure:
        rows.append({"id": DISCLOSURE, "content": Places([{"url": statements.disclosure, "language": "en"}])})
    return bytes(Statements(rows).dump())


def read(content: bytes) -> Qualified:
    """What the extension says; a ValueError where it cannot be read."""
    kind: str | None = None
    roles: tuple[str, ...] = ()
    name = identifier = ""
    try:
        for row in Statements.load(content, strict=True):
            oid = row["id"].dotted
            if oid == TYPE:
                kinds = [TYPES[item.dotted] for item in row["content"].parse(Types) if item.dotted in TYPES]
                kind = kinds[0] if kinds else None
            elif oid == PSD2:
                psd2 = row["content"].parse(Psd2Type)
                roles = tuple(ROLES.get(role["oid"].dotted, role["oid"].dotted) for role in psd2["roles"])
                name, identifier = psd2["authority_name"].native, psd2["authority_id"].native
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError("its qcStatements cannot be read") from error
    return Qualified(kind, roles, name, identifier)
