"""The console of a bank with many payments: how long its pages take, and what an open page asks for each second."""

import shutil
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from uuid import uuid4

from flask import Flask
from werkzeug.test import Client

from bench.table import Figure
from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.server.server import serve_in_background
from sandbox.worlds.registry import WorldRegistry

HEADERS = {
    "Accept": "application/vnd.service.api+json; version=3",
    "Accept-Language": "fr",
    "Client-ID": "demo-tpp",
    "Redirect-URI": "http://127.0.0.1:9000/callback",
    "Code-Challenge-Method": "S256",
    "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
}
BODY = {
    "creditor_account": {"iban": "BE68539007547034"},
    "creditor_name": "Jan Peeters",
    "endtoend_identification": "INVOICE-2027-001",
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
}
# The address, what it is called, and how many ms it may take: the first paint of 300 ms leaves the browser half.
PAGES = (
    ("/_sandbox/", "console, its first page", 150),
    ("/_sandbox/console/payments?page=150", "console, a late page of payments", 150),
    ("/_sandbox/console/live", "console, what an open page asks for", 10),
)


PAINTED = """() => new Promise(done => {
  const look = () => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    paint ? done(paint.startTime) : setTimeout(look, 10);
  };
  look();
})"""
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def console(count: int = 10_000, rounds: int = 15) -> Iterator[Figure]:
    worlds = WorldRegistry(
        make_first_beginning(seed=1, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0), machine_time
    )
    app = assemble(worlds)
    http = Client(app)
    for _ in range(count):
        reply = http.post("/payments/sepa-credit-transfers", json=BODY, headers=HEADERS | {"Request-ID": str(uuid4())})
        assert reply.status_code == 201, reply.text
    for path, name, most in PAGES:
        times = []
        for _ in range(rounds):
            began = perf_counter()
            assert http.get(path).status_code == 200
            times.append((perf_counter() - began) * 1000)
        yield Figure(f"{name}, {count:,} payments", median(times), "ms", most=most)
    chromium = shutil.which("chromium")
    if chromium is not None:
        times = sorted(first_paints(app, chromium))
        yield Figure(f"console, first paint in a fresh Chromium, {count:,} payments", median(times), "ms", most=300)


def first_paints(app: Flask, chromium: str, rounds: int = 10) -> Iterator[float]:
    """Each in a browser that was just started and has nothing of ours."""
    from playwright.sync_api import sync_playwright

    with serve_in_background(app) as address, sync_playwright() as playwright:
        for _ in range(rounds):
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/_sandbox/")
            yield page.evaluate(PAINTED)
            browser.close()
