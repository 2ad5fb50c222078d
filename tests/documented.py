"""Holds every reply of the bank's interface and of its controls against their documents, whichever test asked for it.

Replies of the same form are looked into a few times and then taken as seen, so that the suite stays quick.
"""

from collections import Counter
from datetime import date
from functools import cache
from typing import Any

import orjson
from flask import Flask, Response, request, request_finished
from jsonschema import Draft202012Validator

from sandbox.contract.decisions import Pairs
from sandbox.contract.operations import OPERATIONS
from sandbox.web.api.call import Call
from sandbox.web.docs.amendments import AMENDMENTS, amend_document
from sandbox.web.docs.bank_document import describe_bank as bank_document
from sandbox.web.docs.bank_document import list_paths
from sandbox.web.docs.controls_document import describe_controls as controls_document
from sandbox.web.docs.responses import WIRE_TYPE

LOOKS = 3  # at replies of the same form; one where a bank differs
WORD = 10  # characters; a status, a scope
VENDOR = "service"
TODAY = date(2027, 3, 1)

Form = tuple[Any, ...]


@cache
def usual() -> bytes:
    return orjson.dumps(bank_document("http://127.0.0.1:8080", VENDOR, TODAY))


def shaping(variants: Pairs) -> Pairs:
    """Those that change more of the document than its introduction; copies of it are dear."""
    return tuple(pair for pair in variants if pair in AMENDMENTS)


@cache
def told(variants: Pairs) -> dict[str, Any]:
    """The document of a bank with these variants."""
    return amend_document(orjson.loads(usual()), variants)


@cache
def operations(variants: Pairs) -> dict[tuple[str, str], dict[str, Any]]:
    """What the document says about an operation and a product; a product that it leaves out has none."""
    return {
        (operation.name, product): told(variants)["paths"][address][operation.method.lower()]
        for operation in OPERATIONS
        for address, products in list_paths(operation)
        for product in products or ("",)
    }


@cache
def judge(variants: Pairs, name: str, product: str, status: int, version: int) -> Draft202012Validator | None:
    """The schema of a reply, ready to use; None where there is to be no body."""
    response = operations(variants)[name, product]["responses"][str(status)]
    if "content" not in response:
        return None
    media = f"application/vnd.{VENDOR}.api+json; version={version}"
    on_the_wire = response["content"][WIRE_TYPE]
    chosen = response["content"].get(media) or on_the_wire
    both = [chosen["schema"], on_the_wire["schema"]]
    return Draft202012Validator({"allOf": both, "components": told(variants)["components"]})


@cache
def controls() -> dict[str, Any]:
    return controls_document("http://127.0.0.1:8080")


@cache
def judge_of_control(endpoint: str, status: int) -> dict[str, Draft202012Validator] | None:
    """The schemas of a control's reply by media type; None where the document has no such control or status."""
    _, method, path = endpoint.split(" ", 2)
    address = f"/_sandbox{path}".replace("<", "{").replace(">", "}")
    responses = controls()["paths"].get(address, {}).get(method.lower(), {}).get("responses", {})
    response = responses.get(str(status)) or responses.get(f"{status // 100}XX")
    if response is None:
        return None
    components = controls()["components"]
    return {
        media: Draft202012Validator({**row["schema"], "components": components})
        for media, row in response.get("content", {}).items()
    }


def form_of(content: Any) -> Any:
    """Keys and kinds of value, without the values but for those of lists of words; of a list its first and last."""
    if isinstance(content, dict):
        return tuple((key, form_of(value)) for key, value in content.items())
    if isinstance(content, list):
        return tuple(form_of(row) for row in (content[:1] + content[-1:]))
    is_word = type(content) is str and len(content) < WORD and content.isalpha() and content.isupper()
    return content if is_word else type(content).__name__


def thinned(content: Any) -> Any:
    """Long lists by their first and last, for all are written by one line of code."""
    if isinstance(content, dict):
        return {key: thinned(value) for key, value in content.items()}
    return [thinned(row) for row in content[:1] + content[-1:]] if isinstance(content, list) else content


def media_of(call: Call, variants: dict[str, str]) -> str:
    """The Content-Type of replies, which an axis decides."""
    match variants.get("content_type_reply"):
        case "plain":
            return "application/json"
        case "vendor":
            version = call.version or call.operation.versions[0]
            return f"application/vnd.{call.decisions.vendor}.api+json; version={version}"
        case _:
            return "application/json;charset=utf-8"


class Recorder:
    """What was replied otherwise than documented."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.looked: Counter[Form] = Counter()
        self.held = 0

    def hear(self, sender: Flask, response: Response, **more: Any) -> None:
        call: Call | None = request.environ.get("sandbox.call")
        rule = request.url_rule
        if call is None and rule is not None and rule.endpoint.startswith("control "):
            found = self.fault_of_control(rule.endpoint, response)
            if found is not None:
                self.faults.append(f"{rule.endpoint} {response.status_code}: {found}")
        if call is None or "sandbox.fault" in request.environ:  # what a fault rule orders need not be documented
            return
        if response.status_code == 503 and call.world.is_unloaded:  # its store cannot be reached
            return
        if call.world.dropped:  # by another call, since this one was answered
            return
        found = self.fault_of(call, response)
        if found is not None:
            self.faults.append(f"{call.operation.name} {response.status_code}: {found}")

    def fault_of(self, call: Call, response: Response) -> str | None:
        name, product, status = call.operation.name, call.path.get("product", ""), response.status_code
        variants = call.world.bank.decisions.variants
        document = shaping(variants)
        if (name, product) not in operations(document):
            return None if status in (403, 404, 405, 406) else "the document has no such product"
        if str(status) not in operations(document)[name, product]["responses"]:
            return "the document has no such status"
        self.held += 1
        body = response.get_data()
        if status == 204:
            return "a body" if body else None
        if response.mimetype == "text/html":
            documented = operations(document)[name, product]["responses"][str(status)]["content"]
            return None if "text/html" in documented else "the document has no HTML here"
        if response.content_type != media_of(call, dict(variants)):
            return f"the Content-Type is {response.content_type}"
        content = orjson.loads(body)
        code = content.get("error_code") if isinstance(content, dict) else None
        form = (variants, name, product, status, call.version, code, form_of(content))
        self.looked[form] += 1
        if self.looked[form] > (1 if variants else LOOKS):
            return None
        return self.look(judge(document, name, product, status, call.version), content)

    def fault_of_control(self, endpoint: str, response: Response) -> str | None:
        status = response.status_code
        judges = judge_of_control(endpoint, status)
        if judges is None:
            return "the document has no such control or status"
        self.held += 1
        if not judges:
            return "a body" if status == 204 and response.get_data() else None
        if response.mimetype not in judges:
            return f"the Content-Type is {response.content_type}"
        if response.mimetype != "application/json":
            return None
        content = orjson.loads(response.get_data())
        form = (endpoint, status, form_of(content))
        self.looked[form] += 1
        return None if self.looked[form] > LOOKS else self.look(judges[response.mimetype], content)

    def look(self, schema: Draft202012Validator | None, content: Any) -> str | None:
        if schema is None:
            return "the document says there is no body"
        error = next(schema.iter_errors(thinned(content)), None)
        return None if error is None else f"{error.json_path}: {error.message[:300]}"


RECORDER = Recorder()
request_finished.connect(RECORDER.hear)
