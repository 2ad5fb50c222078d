"""A body that ends before its length: the bank answers, and the referee does not stumble."""

from typing import Any

import pytest
from flask import Flask

from tests.tpp import SCT, headers


@pytest.mark.parametrize(
    "path, changes",
    [
        (f"/payments/{SCT}", {}),
        (f"/payments/{SCT}", {"accept": "odd"}),
        ("/token", {}),
        ("/_sandbox/psu/approve", {}),
    ],
)
def test_a_short_body_is_refused_in_the_banks_words(path: str, changes: dict[str, Any], app: Flask) -> None:
    sent = headers(**changes) | {"Content-Type": "application/json"}
    reply = app.test_client().post(path, data=b"{}", headers=sent, environ_overrides={"CONTENT_LENGTH": "100"})
    assert 400 <= reply.status_code < 500 and reply.get_json()["error_code"]
