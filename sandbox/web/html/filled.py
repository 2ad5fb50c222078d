"""Fills the form of a page with the values that were sent, after a refusal.

`fill_form` changes the finished page. The alternative is a value in each field of each template, which is easily
forgotten in a new form. `fill_form` replaces only the tags of the form's fields. All other characters of the page stay.
"""

from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from werkzeug.datastructures import MultiDict

Attributes = list[tuple[str, str | None]]
TECHNICAL = ("proof", "back")  # hidden fields that do not say what the form is about
FIELDS = ("input", "select", "textarea")
UNCHANGED = ("hidden", "password", "submit", "button")


class Tag(NamedTuple):
    """A start tag, its position in the page, and the text up to the next tag."""

    name: str
    attributes: Attributes
    begin: int
    end: int
    content_end: int
    content: str

    def get(self, name: str) -> str:
        return next((value or "" for key, value in self.attributes if key == name), "")

    def render(self, **changes: str | None) -> str:
        """Returns the tag with changed attributes. An attribute that is None is removed."""
        attributes = {name: value for name, value in self.attributes if name not in changes}
        attributes |= {name: value for name, value in changes.items() if value is not None}
        words = (name if value is None else f'{name}="{escape(value)}"' for name, value in attributes.items())
        return f"<{' '.join((self.name, *words))}>"


class Form(NamedTuple):
    """A form as a list of tags, which begins with the form's own tag. `around` are the `details` elements that contain
    the form."""

    tags: list[Tag]
    around: list[Tag]

    def is_of(self, address: str, typed: MultiDict[str, str]) -> bool:
        """Whether this is the form that the browser sent. Its target must be `address`, and its hidden fields must have
        the values in `typed`. Does not compare the hidden fields in TECHNICAL."""
        targets = [tag.get(name) for tag in self.tags for name in ("action", "formaction")]
        if unquote(address) not in [unquote(urlsplit(target).path) for target in targets if target]:
            return False
        hidden = (tag for tag in self.tags if tag.get("type") == "hidden" and tag.get("name") not in TECHNICAL)
        return all(typed.get(tag.get("name"), "") == tag.get("value") for tag in hidden)


class FormParser(HTMLParser):
    """Finds the forms of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page
        self._lines = list(accumulate((len(line) + 1 for line in page.split("\n")), initial=0))
        self._details: list[Tag] = []
        self._open: Form | None = None
        self.forms: list[Form] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, name: str, attributes: Attributes) -> None:
        begin = self._find_offset()
        end = begin + len(self.get_starttag_text() or "")
        content_end = self._page.find("<", end)
        tag = Tag(name, attributes, begin, end, content_end, self._page[end:content_end])
        if name == "details":
            self._details.append(tag)
        if name == "form":
            self._open = Form([], list(self._details))
            self.forms.append(self._open)
        if self._open is not None:
            self._open.tags.append(tag)

    def handle_endtag(self, name: str) -> None:
        if name == "details" and self._details:
            self._details.pop()
        if name == "form":
            self._open = None

    def _find_offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


def fill_form(page: str, address: str, typed: MultiDict[str, str], field: str = "", reason: str = "") -> str:
    """Returns the page with the sent values `typed` in the form that the browser sent to `address`. Puts `reason`
    before the refused field `field`. Opens the `details` elements that contain the form. Returns the page unchanged if
    the form is not on the page."""
    edits: dict[int, tuple[int, str]] = {}
    for form in FormParser(page).forms:
        if form.is_of(address, typed):
            edits |= {tag.begin: (tag.end, tag.render(open="")) for tag in form.around}
            edits |= {begin: (end, text) for begin, end, text in list_edits(form, typed, field, reason)}
    pieces, place = [], 0
    for begin, (end, text) in sorted(edits.items()):
        pieces += [page[place:begin], text]
        place = end
    return "".join([*pieces, page[place:]])


def list_edits(
    form: Form, typed: MultiDict[str, str], field: str = "", reason: str = ""
) -> Iterator[tuple[int, int, str]]:
    """Yields the changes of the page that put the sent values `typed` into a form, and `reason` before the refused
    field `field`. Each change has the beginning and the end of the old text, and the new text. Leaves a field as it is
    if it was not sent, but unchecks a checkbox or a radio button."""
    select = ""
    for tag in form.tags:
        name, field_error, more = tag.get("name"), "", dict[str, str]()
        if field and name == field and tag.get("type") not in UNCHANGED and tag.name in FIELDS:
            # Before the field, so that it is a part of the label; the style sheet shows it below.
            field_error, more = f'<span class="field-error">{escape(reason)}</span>', {"aria-invalid": "true"}
            yield tag.begin, tag.end, field_error + tag.render(**more)
        match tag.name:
            case "input" if tag.get("type") in ("checkbox", "radio"):
                is_on = tag.get("value") in typed.getlist(name)
                yield tag.begin, tag.end, field_error + tag.render(checked="" if is_on else None, **more)
            case "input" if name in typed and tag.get("type") not in UNCHANGED:
                yield tag.begin, tag.end, field_error + tag.render(value=typed.get(name, ""), **more)
            case "textarea" if name in typed:
                text = escape(typed.get(name, ""))
                # A browser drops a line break at the beginning of a textarea.
                yield tag.end, tag.content_end, f"\n{text}" if text.startswith(("\n", "\r")) else text
            case "select":
                select = name
            case "option" if select in typed:
                value = tag.get("value") if any(key == "value" for key, _ in tag.attributes) else tag.content.strip()
                is_on = value == typed.get(select, "")
                yield tag.begin, tag.end, tag.render(selected="" if is_on else None)
            case _:
                pass
