"""Masks recorded calls. Masked calls have no secret, name, IBAN or communication of the original. The commands `lift`
and `calibrate` can still use them.

Each text of a call is judged by its place: a header, a parameter, a field of JSON, a segment of a path. A text stays
only if its place and its form show that it is harmless: a word of the interface, a day, an amount. Every other text
becomes a pseudonym, even in a place that this module does not know. JSON is changed as text. It is not parsed and
written anew, because its layout and the form of its numbers must stay: banks may differ in them.
"""

import csv
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from io import StringIO
from itertools import zip_longest
from urllib.parse import SplitResult, quote, unquote, unquote_plus, urlsplit

from lxml import etree

from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import read_structured
from sandbox.bulkfiles.csv_reader import HEADER
from sandbox.contract import kinds
from sandbox.contract.decisions import AXES
from sandbox.contract.errors import Error
from sandbox.contract.field_rows import ChoiceKind
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.contract.languages import SCREENS
from sandbox.contract.moves import Status
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.reasons import Reason
from sandbox.recordings.masked_files import mask_xml
from sandbox.recordings.pseudonyms import SHAPE, Pseudonyms
from sandbox.recordings.recorded_calls import ROOTS, RecordedCall

# Forms of texts that stay in any place.
DAY = re.compile(
    r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-9.]{2,12})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
DECIMAL = re.compile(r"-?[0-9]{1,13}[.,][0-9]{1,5}")
BIRTH = re.compile("birth|born")  # fields with a day that says something about a person
# Forms of texts that stay in a field whose values are words of the interface, amounts or counts.
CODE = re.compile(r"[A-Z]{2,5}[0-9]{0,2}|[A-Z]{2,20}(?:_[A-Z]{1,20}){1,5}|[A-Z0-9]{2,8}(?:-[0-9]{3,6}){1,3}")
COUNT = re.compile(r"[0-9]{1,9}")
CODE_FIELDS = {
    "status", "reason", "error", "error_code", "errors.code", "bulks.code", "currency", "scope", "token_type",
    "grant_type", "communication_type", "frequency", "charge_bearer", "instruction_priority", "purpose_code", "country",
    "periodic_payment_type", "type", "account_type", "product", "response_type", "balance_type", "multicurrency",
    "credit_debit_indicator", "language",
}  # fmt: skip
COUNT_FIELDS = {"amount", "pagesize", "expires_in", "line", "number_of_transactions", "number_of_errors", "control_sum"}
COUNT_FIELDS |= {"minimal_amount", "maximal_amount", "refresh_expires_in", "balance", "status"}
NUMBER_MAX = 1_000_000  # a longer number of JSON may be that of an account
# The kind of content of each field. A field that is not listed is masked by the form of its text.
NAMES = {"creditor_name", "debtor_name", "name", "psu_name", "account_holder", "counterparty_info", "owner_name"}
TEXTS = {"communication", "remittance_info", "remittance_information_unstructured", "unstructured"}
TEXTS |= {"remittance_information_structured", "structured", "remittance_unstructured", "remittance_structured"}
BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")  # names a bank, and no person
BIC_FIELDS = {"bic", "creditor_bic", "counterparty_bic"}
REFERENCES = {"endtoend_identification", "payment_information_id", "paymentinformationid", "origin_reference"}
PROSE = {"error_description", "message", "title", "detail", "text", "description"}
CLIENTS = {"client_id", "client-id"}
SECRET_NUMBER = re.compile("pin|otp|code|password|secret|token|key|phone|iban|account", re.IGNORECASE)
PLAIN_KEY = re.compile(r"[a-z_]{1,40}")
INTEGER = re.compile(r"-?[0-9]+")
KEY = re.compile(r"[A-Za-z_@$][A-Za-z_.$:@-]{0,39}")
# Headers whose value says nothing of a person or a client.
KEPT_HEADERS = {
    "accept", "accept-encoding", "accept-language", "cache-control", "code-challenge-method", "connection",
    "content-language", "content-type", "date", "expires", "last-modified", "pragma", "retry-after", "server",
    "strict-transport-security", "transfer-encoding", "vary", "x-content-type-options", "x-frame-options",
}  # fmt: skip
PLAIN_VALUE = re.compile(r"[\w\s,;:=./*+()\"-]*", re.ASCII)
RUN = re.compile(r"[A-Za-z0-9]+")
RUN_MAX = 24  # the most successive letters or digits in such a value
HEADER_NAMES = (
    "Accept", "Accept-Language", "Authorization", "Client-ID", "Code-Challenge", "Code-Challenge-Method",
    "Content-Type", "Date", "Digest", "PaymentInformationID", "Redirect-URI", "Request-ID", "SCA-Token", "Signature",
)  # fmt: skip
DROPPED_HEADERS = {"content-encoding", "content-length"}  # they describe the bytes before masking
ATTRIBUTE = re.compile(
    r"/?|[0-9]{1,9}|lax|strict|none|[a-z]{3}, [0-9]{2}[ -][a-z]{3}[ -][0-9]{2,4} [0-9:]{8} gmt", re.IGNORECASE
)
SCHEMES = {"basic", "bearer", "dpop"}
DIGESTS = {"sha-256", "sha-512"}
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
PLAIN_SEGMENTS = {"callback", "psu", "sign", "consent", "api", "v1", "v2", "v3", "v4", "worlds", "default", ""}
IP = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.])")
MAIL = re.compile(r"[^\s@<>\"']+@[^\s@<>\"']+")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
JWS = re.compile(r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+")
QUOTED = re.compile(r'"([^"]*)"')
PROSE_WORD = re.compile(r"\w+(?:[-_.+@]\w+)*")
SHORT_NUMBER = re.compile("[0-9]{1,3}")
PLACEHOLDER = re.compile("<([a-z_]+)>")
CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
FORM = "application/x-www-form-urlencoded"


@cache
def list_vocabulary() -> frozenset[str]:
    """Returns the words of the interface: codes, products, names of operations, parameters and their values."""
    words = {row.value.error for row in Error} | {row.value.code for row in Error}
    words |= {status.value for status in Status} | {reason.value.code for reason in Reason}
    words |= {name for kind in kinds.KINDS.values() for name in kind.products}
    for row in OPERATIONS:
        words |= {part for part in row.path.split("/") if not part.startswith("<")} | set(row.query)
    for table in (PAYMENT, STANDING_ORDER, VERSION_1):
        for field in table.fields:
            words |= set(field.kind.words) if isinstance(field.kind, ChoiceKind) else set()
    words |= {"true", "false", "True", "False", "null", "S256", "plain", "Bearer", "bearer", "authorization_code"}
    words |= {"current-account", "savings-account", *SCREENS, "Y", "N"}
    words |= {"refresh_token", "AIS", "PIS", "CAF", "EXTERNAL", "INTERNAL", "FREETEXT", "STRUCTURED", "code", "EUR"}
    return frozenset(words | PLAIN_SEGMENTS | set(ROOTS))


@cache
def list_prose_words() -> frozenset[str]:
    """Returns in lower case the words in the texts of errors, axes and fields, and in the names of headers. Leaves out
    words with a digit. Masked sentences keep these words."""
    texts = [text for row in Error for text in (row.value.text, row.value.remedy)]
    for axis in AXES.values():
        texts += [axis.about, axis.brings, *(value.does for value in axis.values)]
    for table in (PAYMENT, STANDING_ORDER, VERSION_1):
        texts += [f"{field.path} {field.note}" for field in table.fields]
    words = {word.lower() for text in texts for word in PROSE_WORD.findall(text)}
    words |= {word.lower() for word in (*list_vocabulary(), *HEADER_NAMES)}
    words |= {name.replace("_", "-") for row in OPERATIONS for name in PLACEHOLDER.findall(row.path)}
    return frozenset(word for word in words if not any(sign.isdigit() for sign in word))


class Masker:
    """Masks the calls of one recording, one after the other."""

    def __init__(self, names: Pseudonyms, hosts: Collection[str] = (), base_path: str = "") -> None:
        """`hosts` are the hosts of the bank, and `base_path` is the path of its address. They are not masked."""
        self.names = names
        self._hosts = {host.lower() for host in hosts} | LOCAL_HOSTS
        self._base_path = base_path.rstrip("/")

    def mask(self, call: RecordedCall) -> RecordedCall:
        if call.headers.get("code-challenge"):
            self.names.challenge(call.headers["code-challenge"], call.headers.get("code-challenge-method", "S256"))
        url = self.mask_url(call.url)
        body = self.mask_body(call.body, call.headers.get("content-type", ""))
        reply = self.mask_body(call.reply_body, call.reply_headers.get("content-type", ""))
        return replace(
            call,
            url=url,
            headers=self.mask_headers(call.headers, call.body, body),
            body=body,
            reply_headers=self.mask_headers(call.reply_headers, call.reply_body, reply),
            reply_body=reply,
        )

    # Headers

    def mask_headers(self, headers: Mapping[str, str], body: str, masked: str) -> dict[str, str]:
        return {
            name if KEY.fullmatch(name) else self.names.secret(name): self.mask_header(name, value, body, masked)
            for name, value in headers.items()
            if name not in DROPPED_HEADERS
        }

    def mask_header(self, name: str, value: str, body: str, masked: str) -> str:
        if name in KEPT_HEADERS:
            return self.mask_unless_plain(value)
        match name:
            case "authorization" | "proxy-authorization":
                return self.mask_credentials(value)
            case "www-authenticate":
                return self.mask_unless_plain(QUOTED.sub(lambda match: f'"{self.mask_prose(match[1])}"', value))
            case "host":
                return self.host(value)
            case "cookie":
                return "; ".join(self.mask_cookie(part) for part in value.split(";"))
            case "set-cookie":
                return "\n".join(
                    "; ".join(self.mask_cookie(part) for part in row.split(";")) for row in value.split("\n")
                )
            case "digest" | "content-digest" | "repr-digest":
                return self.mask_digest(value, body, masked)
            case "signature" | "x-jws-signature":
                return self.mask_signature(value, body, masked)
        return self.mask_value(name, value)

    def mask_unless_plain(self, value: str) -> str:
        """Returns a header's value unchanged if it is in the vocabulary, or if each word is short and has only letters
        or only digits. Otherwise masks the value as a sentence."""
        runs = RUN.findall(value)
        is_plain = PLAIN_VALUE.fullmatch(value) and all(run.isalpha() or run.isdigit() for run in runs)
        is_plain = is_plain and all(len(run) <= RUN_MAX for run in runs)
        return value if is_plain or value in list_vocabulary() else self.mask_prose(value)

    def mask_credentials(self, value: str) -> str:
        scheme, blank, credentials = value.partition(" ")
        if scheme.lower() not in SCHEMES:
            return self.mask_value("token", value)
        if not credentials.strip():
            return value
        if scheme.lower() != "basic":
            return f"{scheme} {self.mask_value('token', credentials)}"
        try:
            user, colon, secret = b64decode(credentials.strip(), validate=True).decode().partition(":")
        except ValueError:
            return f"{scheme} {self.names.secret(credentials)}"
        masked = f"{self.names.client(user)}{colon}{self.names.secret(secret) if secret else ''}"
        return f"{scheme} {b64encode(masked.encode()).decode()}"

    def mask_cookie(self, part: str) -> str:
        name, equals, value = part.strip().partition("=")
        match name.lower():
            case "expires" | "path" | "max-age" | "samesite" if ATTRIBUTE.fullmatch(value):
                return part.strip()
            case "httponly" | "secure" | "partitioned" if not equals:
                return part.strip()
            case "domain":
                return f"{name}={self.host(value)}"
        if not equals:
            return self.names.secret(name) if name else ""
        return f"{self.mask_key(name)}={self.names.secret(value) if value else ''}"

    def mask_digest(self, value: str, body: str, masked: str) -> str:
        """Masks the digest in a header. `body` is the original body, and `masked` is the masked one. A digest of the
        body becomes the digest of the masked body, because an IBAN in a short body could be guessed from the body's
        digest. Any other value becomes the pseudonym of a secret."""
        right, other = (b64encode(sha256(text.encode()).digest()).decode() for text in (body, masked))
        name, equals, digest = value.partition("=")
        if not equals or name.lower() not in DIGESTS:
            return self.names.secret(value)
        return f"{name}={digest.replace(right, other) if digest.strip(':') == right else self.names.secret(digest)}"

    def mask_signature(self, value: str, body: str, masked: str) -> str:
        """Masks a signature. `body` is the original body, and `masked` is the masked one. A JWS keeps its three
        segments: the contents of the head and of the payload are masked, and the proof becomes the pseudonym of a
        secret. A payload that is the body becomes the masked body. An empty payload stays empty. Any other signature
        becomes the pseudonym of a secret as a whole."""
        if value.count(".") != 2:
            return self.names.secret(value)
        head, payload, proof = value.split(".")
        if payload:
            signs_body = decode_segment(payload) == body.encode()
            payload = encode_segment(masked.encode()) if signs_body else self.mask_jws_segment(payload)
        return f"{self.mask_jws_segment(head)}.{payload}.{self.names.secret(proof) if proof else ''}"

    def mask_jws_segment(self, text: str) -> str:
        """Masks a segment of a JWS. If the segment is a JSON object in Base64, masks the values in the object.
        Otherwise returns the pseudonym of a secret."""
        with suppress(ValueError, RecursionError):
            content = decode_segment(text).decode()
            if isinstance(json.loads(content), dict):
                return encode_segment(self.mask_json(content).encode())
        return self.names.secret(text) if text else ""

    # Addresses

    def mask_url(self, text: str) -> str:
        parts = urlsplit(text)
        fragment = self.mask_query(parts.fragment) if "=" in parts.fragment else self.mask_path_segment(parts.fragment)
        netloc = self.host(parts.netloc.rpartition("@")[2]) if parts.netloc else ""
        if "@" in parts.netloc:
            user, colon, secret = parts.netloc.rpartition("@")[0].partition(":")
            netloc = f"{self.names.client(user)}{colon}{self.names.secret(secret) if secret else ''}@{netloc}"
        scheme = parts.scheme if parts.scheme in ("http", "https", "") else self.names.secret(parts.scheme)
        return SplitResult(scheme, netloc, self.mask_path(parts.path), self.mask_query(parts.query), fragment).geturl()

    def host(self, netloc: str) -> str:
        host, _, port = netloc.rpartition(":") if netloc.rpartition(":")[2].isdigit() else (netloc, "", "")
        if netloc.lower() in self._hosts or host.lower() in self._hosts or not host:
            return netloc
        return self.names.numbered("host", host.lower(), "host-{}.example") + (f":{port}" if port else "")

    def mask_path(self, path: str) -> str:
        base = self._base_path if path == self._base_path or path.startswith(f"{self._base_path}/") else ""
        return base + "/".join(map(self.mask_path_segment, path[len(base) :].split("/")))

    def mask_path_segment(self, segment: str) -> str:
        text = unquote(segment)
        if text in list_vocabulary() or text in ROOTS:
            return segment
        return quote(self.mask_value("id", text), safe="")

    def mask_query(self, query: str) -> str:
        """Masks the parameters of an address or the fields of a form, and keeps their order."""
        return "&".join(map(self.mask_parameter, query.split("&"))) if query else ""

    def mask_parameter(self, part: str) -> str:
        raw, equals, value = part.partition("=")
        name = unquote_plus(raw)
        key = quote(self.mask_key(name), safe="")
        if not equals:
            return key
        text = unquote_plus(value)
        if text and name == "code_challenge":
            masked = self.names.challenge(text, "S256")
        elif text and name == "code_verifier":
            masked = self.names.verifier(text)
        else:
            masked = self.mask_value(name, text)
        return f"{raw if key == quote(name, safe='') else key}={value if masked == text else quote(masked, safe='')}"

    # Bodies

    def mask_body(self, text: str, media: str) -> str:
        media = media.partition(";")[0].strip().lower()
        if not text.strip():
            return text
        with suppress(ValueError, RecursionError):
            json.loads(text)
            return self.mask_json(text)
        if text.lstrip("\ufeff \r\n").startswith("<"):
            masked = mask_xml(text, self.names) if is_xml(text) else None
            return self.mask_markup(text) if masked is None else masked
        if media == FORM or (not media and "=" in text and "\n" not in text):
            return self.mask_query(text)
        if "csv" in media:
            with suppress(csv.Error):
                return self.mask_table(text)
        return self.mask_prose(text)

    def mask_markup(self, text: str) -> str:
        """Masks a page, or a file in which text may be anywhere. Tags without attributes stay. All other parts are
        masked as sentences."""
        return "".join(
            part if re.fullmatch(r"</?[a-z][a-z0-9]{0,9}>", part, re.IGNORECASE) else self.mask_prose(part)
            for part in re.split(r"(<[^<>]*>)", text)
        )

    def mask_table(self, text: str) -> str:
        """Masks a CSV file. The names of known columns stay, and a cell in such a column is masked as a field with this
        name. Other names and cells are masked as fields without a name. Raises csv.Error if the text is not CSV."""
        mark = text[: text.startswith("\ufeff")]
        delimiter = ";" if ";" in text.partition("\n")[0] else ","
        head, *rows = list(csv.reader(StringIO(text[len(mark) :], newline=""), delimiter=delimiter)) or [[]]
        columns = [name.strip() if name.strip() in HEADER else "" for name in head]
        written = StringIO()
        writer = csv.writer(written, delimiter=delimiter, lineterminator="\r\n" if "\r\n" in text else "\n")
        writer.writerow(
            [name if is_known else self.mask_value("", name) for name, is_known in zip(head, columns, strict=True)]
        )
        for row in rows:
            places = zip_longest(columns[: len(row)], row, fillvalue="")
            writer.writerow([self.mask_value(column, cell) for column, cell in places])
        return mark + (written.getvalue() if text.endswith("\n") else written.getvalue().rstrip("\r\n"))

    def mask_json(self, text: str) -> str:
        """Masks keys and values of well-formed JSON, and keeps everything between them."""
        return TOKEN.sub(JsonWalk(self.mask_key, self.mask_value, self.mask_number).replace, text)

    # Texts

    def mask_key(self, text: str) -> str:
        """Returns the masked name of a field, a parameter or a cookie. A name in lower case stays. A name that was
        masked as a value before gets the pseudonym of this value. Any other name stays if it has the form of a field
        name, else it is masked as a value."""
        if PLAIN_KEY.fullmatch(text):
            return text
        pseudonym = self.names.find(text)
        if pseudonym is not None:
            return pseudonym
        return text if KEY.fullmatch(text) else self.mask_value("", text)

    def mask_number(self, field: str, text: str) -> str:
        """Masks a JSON number if it is so long that it may be an account number, or if the name of its field says that
        it is a secret. Amounts and counts stay."""
        name = write_snake_case(field).rpartition(".")[2]
        if name in COUNT_FIELDS or not INTEGER.fullmatch(text):
            return text
        if abs(int(text)) < NUMBER_MAX and not SECRET_NUMBER.search(name):
            return text
        minus, figures = ("-", text[1:]) if text.startswith("-") else ("", text)
        masked = self.names.secret(figures)
        return minus + (f"1{masked[1:]}" if masked.startswith("0") else masked)

    def mask_value(self, field: str, text: str) -> str:
        """Returns the pseudonym of a field's text, or the text itself if it is known to be harmless."""
        name = write_snake_case(field)
        last = name.rpartition(".")[2]
        if not any(sign.isalnum() for sign in text) or self.is_harmless(name, last, text):
            return text
        pseudonym = self.names.find(text)
        if pseudonym is not None:
            return pseudonym
        if last in CLIENTS:
            return self.names.client(text)
        if last in PROSE:
            return self.mask_prose(text)
        by_form = self.mask_by_form(text)
        if by_form is not None:
            return by_form
        if last in REFERENCES:
            return self.names.reference(text)
        if last in NAMES:
            return self.names.name(text)
        return self.names.text(text) if last in TEXTS else self.names.secret(text)

    def is_harmless(self, name: str, last: str, text: str) -> bool:
        if BIRTH.search(last):
            return False
        if DAY.fullmatch(text) or DECIMAL.fullmatch(text) or text in ("true", "false", "True", "False"):
            return True
        if last in COUNT_FIELDS and COUNT.fullmatch(text):
            return True
        if last in BIC_FIELDS and BIC.fullmatch(text):
            return True
        parts = name.split(".")
        if not {last, ".".join(parts[-2:])} & CODE_FIELDS:
            return last == "id" and text in list_vocabulary()
        words = list_vocabulary()
        return all(word in words or word.upper() in words or CODE.fullmatch(word) for word in text.split())

    def mask_by_form(self, text: str) -> str | None:
        """Returns the pseudonym of a text that can be recognised by its form: an IBAN, a structured communication, a
        URL, a path, a JWS, an IP address or a mail address. Returns None for any other text."""
        compact = text.replace(" ", "").upper()
        if SHAPE.fullmatch(compact) and (is_iban(compact) or compact == text):
            return copy_spaces(text, self.names.iban(compact))
        if read_structured(text) is not None:
            return self.names.structured(text)
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) or re.match(r"/[A-Za-z]", text):
            with suppress(ValueError):
                return self.mask_url(text)
        if JWS.fullmatch(text):
            return ".".join(self.mask_jws_segment(part) if part else "" for part in text.split("."))
        if IP.fullmatch(text):
            return self.names.numbered("ip", text, "192.0.2.{}")
        if MAIL.fullmatch(text):
            return self.names.numbered("mail", text, "person-{}@mail.example")
        return None

    def mask_prose(self, text: str) -> str:
        """Masks the words of a sentence one by one. Words of the interface and of its texts, days and amounts stay. If
        nothing else is in the sentence, its short numbers stay too: they are limits and versions."""
        unknown = [word for word in PROSE_WORD.findall(text) if not self._is_known(word)]
        has_only_numbers = all(SHORT_NUMBER.fullmatch(word) for word in unknown)

        def other(match: re.Match[str]) -> str:
            word = match[0]
            if has_only_numbers or self._is_known(word):
                return word
            return self.names.find(word) or self.mask_by_form(word) or self.names.secret(word)

        return PROSE_WORD.sub(other, text)

    def _is_known(self, word: str) -> bool:
        """Whether a word of a sentence is a word of the interface or of its texts, a day, or an amount."""
        is_word = word.lower() in list_prose_words() or word in list_vocabulary()
        return is_word or self.is_harmless("", "", word)


class JsonWalk:
    """Replaces the tokens of a JSON text one by one, and tracks to which field each token belongs."""

    def __init__(
        self,
        key: Callable[[str], str],
        value: Callable[[str, str], str],
        number: Callable[[str, str], str],
    ) -> None:
        self._key, self._value, self._number = key, value, number
        self._fields: list[str] = [""]  # of the open objects and lists, and of the value that comes
        self._opened: list[str] = []
        self._is_key = False

    def replace(self, match: re.Match[str]) -> str:
        token = match[0]
        match token:
            case "{" | "[":
                self._opened.append(token)
                self._fields.append(self._fields[-1])
                self._is_key = token == "{"
            case "}" | "]":
                self._opened.pop()
                self._fields.pop()
                self._is_key = False
            case ",":
                self._is_key = self._opened[-1] == "{"
            case ":":
                self._is_key = False
            case _ if token.startswith('"'):
                return self._replace_text(json.loads(token) if "\\" in token else token[1:-1], token)
            case _ if token not in ("true", "false", "null"):
                return self._number(self._fields[-1], token)
        return token

    def _replace_text(self, text: str, token: str) -> str:
        if self._is_key:
            outer = self._fields[-2]
            self._fields[-1] = f"{outer.rpartition('.')[2]}.{text}" if outer else text
            masked = self._key(text)
        else:
            masked = self._value(self._fields[-1], text)
        return token if masked == text else json.dumps(masked, ensure_ascii=token.isascii())


def is_xml(text: str) -> bool:
    """Whether the text is well-formed XML."""
    try:
        etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError):
        return False
    return True


def write_snake_case(field: str) -> str:
    """Returns a field name in snake case: `paymentId` becomes `payment_id`."""
    return CAPITAL.sub(lambda match: f"_{match[0]}", field).lower()


def copy_spaces(text: str, other: str) -> str:
    signs = iter(other)
    return "".join(sign if sign == " " else next(signs, "") for sign in text)


def decode_segment(text: str) -> bytes:
    """Returns the bytes of a base64url segment of a JWS. Returns no bytes if the text is not base64url."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def encode_segment(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
