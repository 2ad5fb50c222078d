"""The shop and its bank in one program. The bank's clock stands, and the shop's goes with it."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from flask import Flask

from sandbox.client import Controls
from sandbox.extensions.shop.app import create_app
from sandbox.extensions.shop.bank_client import BankClient
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import HERE
from tests.shop.guest import HOME, Guest

Calls = Callable[[], list[str]]


@pytest.fixture
def line(http: httpx.Client, controls: Controls) -> BankClient:
    def now() -> Any:
        return controls.clock.get().now

    return BankClient(HERE, "demo-tpp", "demo-secret", f"{HOME}/callback", now, lambda: now().timestamp(), http=http)


@pytest.fixture
def shop(line: BankClient) -> Flask:
    return create_app(line)


@pytest.fixture
def guest(shop: Flask, controls: Controls, worlds: WorldRegistry) -> Iterator[Guest]:
    """A visitor. No token, code or secret of the bank is on any page, in any header or cookie of the shop."""
    made = Guest(shop, controls)
    yield made
    texts, bank = "\n".join(made.texts), worlds.get("default").bank
    secrets = [*bank.access_tokens, *bank.refresh_tokens, *bank.sca_tokens, *bank.codes, "demo-secret"]
    assert [secret for secret in secrets if secret in texts] == []


@pytest.fixture
def calls(controls: Controls) -> Calls:
    """The operations that the bank was asked for so far."""
    return lambda: [row["operation"] for row in controls.listed("requests")]


@pytest.fixture
def findings(controls: Controls) -> Calls:
    """What the referee holds against the shop."""
    return lambda: [f"{row['rule']}: {row['what']}" for row in controls.call("GET", "/referee").body["findings"]]
