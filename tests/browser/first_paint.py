"""Prints the weight and the first paint of each page of a sandbox: `python -m tests.browser.first_paint`.

A page is opened five times with an empty cache, and the median counts. Weights are those of all files that the page
loads, in kB, with their pictures apart. The first line is that of one line of text: what the browser needs by itself.
"""

import sys
from statistics import median

from playwright.sync_api import Browser, Response, sync_playwright

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.server.server import serve_in_background
from sandbox.web.docs.site import REFERENCE, SLUGS
from sandbox.worlds.registry import WorldRegistry
from tests.browser.chromium import launch_chromium
from tests.conftest import MORNING

TIMES = 5
PAGES = ["/_sandbox/docs", *(f"/_sandbox/docs/{slug}" for slug in (*SLUGS, REFERENCE)), "/_sandbox/docs/try"]
PAINT = "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)"


def open_once(browser: Browser, address: str) -> tuple[float, float, float]:
    """Milliseconds until the first paint, and the kB of text and of pictures."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    replies: list[Response] = []

    def keep(reply: Response) -> None:
        replies.append(reply)

    page.on("response", keep)
    page.goto(address, wait_until="networkidle")
    sizes = {True: 0, False: 0}
    for reply in replies:
        if not reply.url.startswith("data:"):
            sizes["image/" in reply.headers.get("content-type", "")] += len(reply.body())
    (paint,) = page.evaluate(PAINT)
    context.close()
    return paint, sizes[False] / 1000, sizes[True] / 1000


def measure(browser: Browser, address: str) -> tuple[float, float, float]:
    paints, texts, pictures = zip(*(open_once(browser, address) for _ in range(TIMES)), strict=True)
    return median(paints), texts[-1], pictures[-1]


def main() -> None:
    app = assemble(WorldRegistry(make_first_beginning(seed=1, at=read_instant(MORNING), rate=0), machine_time))
    with serve_in_background(app) as address, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for path in ["/_sandbox/health", *(sys.argv[1:] or PAGES)]:
            paint, text, pictures = measure(browser, f"{address}{path}")
            sys.stdout.write(f"{paint:6.0f} ms {text:8.1f} kB {pictures:8.1f} kB of pictures  {path}\n")
        browser.close()


if __name__ == "__main__":
    main()
