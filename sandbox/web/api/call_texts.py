"""A call word for word, as a person reads it: without its secrets."""

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
    """A request or a reply; `cut` says what is missing of the body."""

    headers: list[tuple[str, str]]
    body: str
    cut: str = ""


def address_of(path: str, content: Content) -> str:
    query = without_secrets(content.query, SENT)
    return f"{path}?{query}" if query else path


def request_of(content: Content) -> MessageText:
    return MessageText(
        sorted((name, masked(name, value)) for name, value in headers_of(content)),
        body_of(content.sent, SENT),
        "; ".join(filter(None, (missing(content.sent, content.length), content.cut))),
    )


def headers_of(content: Content) -> list[tuple[str, str]]:
    """Of the request, as they are usually spelled."""
    headers = [("Content-Type", content.kind)] if content.kind else []
    return headers + [(name_of(name), value) for name, value in content.headers.items()]


def reply_of(content: Content) -> MessageText:
    note = "a fault rule cut it off" if content.reply is None else missing(content.reply, content.reply_length)
    return MessageText(list(content.reply_headers.items()), body_of(content.reply or b"", GIVEN), note)


def name_of(name: str) -> str:
    """`HTTP_CLIENT_ID` is Client-ID; names of headers have no case."""
    return "-".join(WORDS.get(word, word) for word in name.removeprefix("HTTP_").title().split("_"))


def masked(name: str, value: str) -> str:
    if name == "Authorization":
        return f"{scheme_of(value)} {MASK}".lstrip()
    return MASK if name in SECRET_HEADERS else value


def scheme_of(value: str) -> str:
    """The scheme of an Authorization header, if it is a known one: any other first word may be the secret itself."""
    return next((scheme for scheme in SCHEMES if value.lower().startswith(f"{scheme.lower()} ")), "")


def missing(shown: bytes, length: int) -> str:
    if len(shown) >= length:
        return ""
    return f"the first {len(shown):,} of {length:,} bytes" if shown else f"{length:,} bytes, which are not kept"


def without_secrets(text: str, secret: Iterable[str]) -> str:
    """Of JSON or a form, whichever it calls itself: refused calls may have named it wrongly."""
    named = "|".join(sorted(secret))
    hidden = re.sub(rf'("(?:{named})"\s*:\s*")(?:[^"\\]|\\.)*', rf"\g<1>{MASK}", text)
    return "&".join(_field(part, secret) for part in hidden.split("&"))


def _field(part: str, secret: Iterable[str]) -> str:
    name, equals, _ = part.partition("=")
    return f"{name}={MASK}" if equals and unquote_plus(name).strip() in secret else part


def body_of(body: bytes, secret: Iterable[str]) -> str:
    """Without its secrets; JSON is laid out, with every number as it was written."""
    text = without_secrets(body.decode(errors="replace"), secret)
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return text
    return "".join(laid_out(TOKEN.findall(text)))


def laid_out(tokens: Iterable[str]) -> Iterable[str]:
    """JSON that is known to be well-formed, a line for each member."""
    depth, before = 0, ""
    for token in tokens:
        opened, closes = before in ("{", "["), token in ("}", "]")
        depth += (token in ("{", "[")) - closes
        if before == "," or opened != closes:
            yield "\n" + "  " * (depth - (token in ("{", "[")))
        yield f"{token} " if token == ":" else token
        before = token
