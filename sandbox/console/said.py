"""A call word for word, as a person reads it: without its secrets, and as a line that asks the same again."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from sandbox.console.visits import Visit
from sandbox.wire.contents import Content
from sandbox.worlds import Exchange

MASK = "\u2022\u2022\u2022"
SECRET_HEADERS = {"SCA-Token": "SCA_TOKEN", "Cookie": "COOKIE", "X-Sandbox-Key": "SANDBOX_KEY"}
SECRET = "access_token|refresh_token|sca_token|client_secret"
IN_JSON = re.compile(rf'("(?:{SECRET})"\s*:\s*")(?:[^"\\]|\\.)*')
IN_FORM = re.compile(rf"((?:^|&)(?:{SECRET}|code|code_verifier)=)[^&]*")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
# What a client of HTTP adds by itself.
OF_ITSELF = ("Host", "User-Agent", "Accept-Encoding", "Connection", "Content-Length", "Request-ID")
FRESH_ID = """-H "Request-ID: $(python3 -c 'import uuid; print(uuid.uuid4())')\""""
FORM = "application/x-www-form-urlencoded"
WORDS = {
    "Id": "ID",
    "Uri": "URI",
    "Sca": "SCA",
    "Psu": "PSU",
    "Ip": "IP",
    "Paymentinformationid": "PaymentInformationID",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A request or a reply; `cut` says what is missing of the body."""

    headers: list[tuple[str, str]]
    body: str
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """Both of a call."""

    address: str
    request: Part
    reply: Part
    curl: str


def said_of(visit: Visit, call: Exchange, content: Content) -> Said:
    address = f"{call.path}?{content.query}" if content.query else call.path
    headers = [("Content-Type", content.kind)] if content.kind else []
    headers += [(name_of(name), value) for name, value in content.headers.items()]
    sent = body_of(content.sent, content.kind)
    reply = body_of(content.reply or b"", content.reply_headers.get("Content-Type", ""))
    told = "a fault rule cut it off" if content.reply is None else missing(content.reply, content.reply_length)
    return Said(
        address,
        Part(
            sorted((name, masked(name, value)) for name, value in headers), sent, missing(content.sent, content.length)
        ),
        Part([(name, value) for name, value in content.reply_headers.items()], reply, told),
        curl_of_call(visit, call.method, address, headers, content),
    )


def name_of(name: str) -> str:
    """`HTTP_CLIENT_ID` is Client-ID; names of headers have no case."""
    return "-".join(WORDS.get(word, word) for word in name.removeprefix("HTTP_").title().split("_"))


def masked(name: str, value: str) -> str:
    if name == "Authorization":
        return f"{value.partition(' ')[0][:20]} {MASK}"
    return MASK if name in SECRET_HEADERS else value


def missing(shown: bytes, length: int) -> str:
    if len(shown) >= length:
        return ""
    return f"the first {len(shown):,} of {length:,} bytes" if shown else f"{length:,} bytes, which are not kept"


def without_secrets(body: bytes, kind: str) -> str:
    text = body.decode(errors="replace")
    return (IN_FORM if kind.startswith(FORM) else IN_JSON).sub(rf"\g<1>{MASK}", text)


def body_of(body: bytes, kind: str) -> str:
    """Without its secrets; JSON is laid out, with every number as it was written."""
    text = without_secrets(body, kind)
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


def curl_of_call(visit: Visit, method: str, address: str, headers: list[tuple[str, str]], content: Content) -> str:
    """The same again, under an id of its own; secrets come from the shell."""
    words = ["curl -i"] + ([f"-X {shlex.quote(method)}"] if method != "GET" else [])
    words.append(shlex.quote(visit.bank_address + address))
    for name, value in headers:
        if name == "Authorization":
            words.append(f'-H "{name}: {shell_word(value)} $TOKEN"')
        elif name in SECRET_HEADERS:
            words.append(f'-H "{name}: ${SECRET_HEADERS[name]}"')
        elif name not in OF_ITSELF:
            words.append(f"-H {shlex.quote(f'{name}: {value}')}")
    words.append(FRESH_ID)
    if content.length:
        text = without_secrets(content.sent, content.kind)
        words.append(f"--data-binary {shlex.quote(text) if len(content.sent) == content.length else '@body'}")
    return " ".join(words)


def shell_word(value: str) -> str:
    """The scheme of an Authorization, with nothing in it that a shell would read."""
    return re.sub(r"[^A-Za-z0-9-]", "", value.partition(" ")[0])[:20]
