"""Writes the request and the reply of a call as text, with masks in the place of secrets."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_plus

import orjson

from sandbox.web.api.call_records import Content

MASK = "\u2022\u2022\u2022"
SECRET_HEADERS = {"SCA-Token": "SCA_TOKEN", "Cookie": "COOKIE", "X-Sandbox-Key": "SANDBOX_KEY"}
SCHEMES = ("Bearer", "Basic")
GIVEN = {"access_token", "refresh_token", "sca_token", "client_secret"}
SENT = GIVEN | {"code", "code_verifier"}  # a reply has a `code` too, of a fault in a file
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
WORDS = {word.title(): word for word in ("ID", "URI", "SCA", "PSU", "IP", "PaymentInformationID")}


@dataclass(frozen=True, slots=True)
class MessageText:
    """A request or a reply as text. `cut` says which part is missing, and is empty if nothing is missing."""

    headers: list[tuple[str, str]]
    body: str
    cut: str = ""


def write_address(path: str, content: Content) -> str:
    query = mask_secrets(content.query, SENT)
    return f"{path}?{query}" if query else path


def write_request(content: Content) -> MessageText:
    return MessageText(
        sorted((name, mask_value(name, value)) for name, value in list_headers(content)),
        write_body(content.sent, SENT),
        "; ".join(filter(None, (describe_missing_bytes(content.sent, content.length), content.cut))),
    )


def write_reply(content: Content) -> MessageText:
    body = content.reply or b""
    cut = "a fault rule cut it off" if content.reply is None else describe_missing_bytes(body, content.reply_length)
    return MessageText(list(content.reply_headers.items()), write_body(body, GIVEN), cut)


def list_headers(content: Content) -> list[tuple[str, str]]:
    """Returns the headers of the request in their usual spelling. For example, `HTTP_CLIENT_ID` becomes Client-ID."""
    headers = [("Content-Type", content.kind)] if content.kind else []
    for name, value in content.headers.items():
        words = name.removeprefix("HTTP_").title().split("_")
        headers.append(("-".join(WORDS.get(word, word) for word in words), value))
    return headers


def mask_value(name: str, value: str) -> str:
    if name == "Authorization":
        return f"{find_scheme(value)} {MASK}".lstrip()
    return MASK if name in SECRET_HEADERS else value


def find_scheme(value: str) -> str:
    """Returns the scheme of an Authorization header, such as `Bearer`. Returns an empty text for an unknown scheme,
    because the first word may then be the secret itself."""
    return next((scheme for scheme in SCHEMES if value.lower().startswith(f"{scheme.lower()} ")), "")


def describe_missing_bytes(stored_bytes: bytes, length: int) -> str:
    if len(stored_bytes) >= length:
        return ""
    return (
        f"the first {len(stored_bytes):,} of {length:,} bytes"
        if stored_bytes
        else f"{length:,} bytes, which are not kept"
    )


def mask_secrets(text: str, names: Iterable[str]) -> str:
    """Returns the text with a mask in the place of the values that have one of these names. Masks members of JSON and
    fields of a form in every text, because the Content-Type of a refused call is sometimes wrong."""
    pattern = "|".join(sorted(names))
    parts = re.sub(rf'("(?:{pattern})"\s*:\s*")(?:[^"\\]|\\.)*', rf"\g<1>{MASK}", text).split("&")
    for number, part in enumerate(parts):
        name, equals, _ = part.partition("=")
        if equals and unquote_plus(name).strip() in names:
            parts[number] = f"{name}={MASK}"
    return "&".join(parts)


def write_body(body: bytes, names: Iterable[str]) -> str:
    """Returns the body as text, with masks in the place of the values that have one of these names. JSON gets a line
    for each member, and its numbers keep their digits."""
    text = mask_secrets(body.decode(errors="replace"), names)
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return text
    return "".join(lay_out(TOKEN.findall(text)))


def lay_out(tokens: Iterable[str]) -> Iterable[str]:
    """Yields the tokens of a well-formed JSON text, with line breaks and blanks between them, so that each member has a
    line."""
    depth, before = 0, ""
    for token in tokens:
        opened, closes = before in ("{", "["), token in ("}", "]")
        depth += (token in ("{", "[")) - closes
        if before == "," or opened != closes:
            yield "\n" + "  " * (depth - (token in ("{", "[")))
        yield f"{token} " if token == ":" else token
        before = token
