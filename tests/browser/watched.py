"""A page of the browser under a test's eyes."""

from dataclasses import dataclass, field
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# A test that types before the page has drawn is faster than a person.
FOCUS_TAKEN = "Autofocus processing was blocked"
FORM_REFUSED = "the server responded with a status of 422"  # a form with a fault, which is no fault of the page
LOOKS = 3  # a page that brings itself up to date fades for a moment, and is then looked at again
SETTLES_MS = 400
GRAVE = ("serious", "critical")
VIOLATIONS = """async (options) => (await axe.run(document, options)).violations.map(
    (rule) => ({ id: rule.id, impact: rule.impact, html: rule.nodes[0].html }))"""
# Elements that hide a part of what they hold. Fields scroll by themselves, and code that is unfolded may be long.
CLIPPED = """() => [...document.querySelectorAll("main *, header *")].filter((one) =>
    one.getBoundingClientRect().width && one.scrollWidth > one.clientWidth + 1 &&
    getComputedStyle(one).overflowX !== "visible" &&
    !one.matches("input, textarea, select, .visually-hidden, .visually-hidden *, svg, svg *, pre")
  ).map((one) => [one.tagName, one.className, one.scrollWidth, one.clientWidth, one.textContent.slice(0, 60)])"""


@dataclass
class Watched:
    """A page, what it asked for, and what it complained of."""

    page: Page
    asked: list[str] = field(default_factory=list, init=False)
    complaints: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(30_000)  # the machine may be busy
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def demand_fits(self) -> None:
        """Nothing stands outside the screen."""
        self.page.wait_for_load_state()
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), self.page.url

    def resize(self, size: tuple[int, int], scheme: Literal["light", "dark"]) -> None:
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")

    def demand_unclipped(self) -> None:
        """No text is cut, and no table must be moved to be read."""
        assert self.page.evaluate(CLIPPED) == [], self.page.url

    def demand_usable(self, options: dict[str, object] | None = None) -> None:
        """By all: names, roles, order, contrast."""
        for _ in range(LOOKS):
            if not self.page.evaluate("'axe' in window"):
                self.page.evaluate(Axe().axe_script)
            found = self.page.evaluate(VIOLATIONS, {"resultTypes": ["violations"]} | (options or {}))
            grave = [(rule["id"], rule["html"]) for rule in found if rule["impact"] in GRAVE]
            if not grave:
                return
            self.page.wait_for_timeout(SETTLES_MS)
        raise AssertionError(f"{self.page.url}: {grave}")

    def demand_nobody_but(self, *homes: str) -> None:
        """Nobody else was asked, and the browser had nothing to complain of."""
        assert [url for url in self.asked if not url.startswith(homes)] == []
        harmless = (FORM_REFUSED, FOCUS_TAKEN)
        assert [text for text in self.complaints if not any(known in text for known in harmless)] == []
