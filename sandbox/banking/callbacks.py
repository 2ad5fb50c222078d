"""Addresses with a query: the callback keeps its own, and gets what the bank adds (choice 5)."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def with_query(uri: str, **added: str | None) -> str:
    """The address with more parameters behind its own; those that are None are left out."""
    parts = urlsplit(uri)
    more = urlencode({name: value for name, value in added.items() if value is not None})
    query = f"{parts.query}&{more}" if parts.query and more else parts.query or more
    return urlunsplit(parts._replace(query=query))


def state_of(address: str) -> str | None:
    """The state that the TPP appended to an address; the last one counts."""
    return dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)).get("state")


def end_of(address: str) -> str:
    """The last part of an address's path: its token."""
    return urlsplit(address).path.rpartition("/")[2]
