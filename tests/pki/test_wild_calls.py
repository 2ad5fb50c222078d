"""Hostile headers and queries on every route of a server; `tests.pki.wild_calls` makes as many calls as one likes."""

from typing import Any

import pytest
from flask import Flask, Response

from tests.documented import RECORDER
from tests.pki import wild_calls


def test_no_call_however_wild_is_answered_by_a_fault_of_ours() -> None:
    """A share of `python -m tests.pki.wild_calls 28500 1`."""
    statuses = wild_calls.storm(250, seed=7)
    assert statuses.total() == 250
    assert set(statuses) >= {200, 400, 401, 403, 404, 405, 417}


def test_each_operation_takes_or_refuses_each_hostile_date_host_and_expectation() -> None:
    statuses = wild_calls.one_fault_each()
    assert statuses.total() > 500 and set(statuses) >= {200, 201, 400, 401, 417}


def test_a_fault_of_ours_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    aims_of = wild_calls.aims_of

    def broken(app: Flask) -> Any:
        def spoil(response: Response) -> Response:
            response.status_code = 500 if response.status_code == 404 else response.status_code
            return response

        app.after_request(spoil)
        return aims_of(app)

    monkeypatch.setattr(wild_calls, "aims_of", broken)
    with pytest.raises(AssertionError, match="seed 7, number"):
        wild_calls.storm(60, seed=7)
    RECORDER.faults.clear()
