"""What the reference client sends and gets lifts to the same steps, whether it is masked or not."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import httpx
import pytest

from sandbox.extensions.lift.lifting import lift_file
from sandbox.extensions.record.proxy import make_own_pseudonyms
from sandbox.recordings import RecordedCall
from sandbox.recordings.har import write_entry
from sandbox.recordings.masking import Masker
from sandbox.recordings.recorded_calls import read_headers
from sandbox.scenarios import load
from sandbox.testing import Start
from sandbox.testing.start import world_of
from tests.vary.flows import FLOWS
from tests.vary.line import Way, bank_here, same_chance
from tests.vary.steps import patiently
from tests.vary.trying import Stage

BEGAN = datetime(2027, 3, 1, 8, tzinfo=UTC)

SAME = re.compile(r'"(?:refused|status|reason|product|amount|currency|scope|frequency|pagesize)": [^,}]+')


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with bank_here() as (bank, way):
        yield Stage(bank, way)


def record(stage: Stage, name: str) -> list[RecordedCall]:
    calls: list[RecordedCall] = []
    passed = Way._pass

    def noted(way: Way, request: httpx.Request) -> httpx.Response:
        reply = passed(way, request)
        if "/_sandbox/" not in request.url.path:
            began = BEGAN + timedelta(seconds=len(calls))
            headers, reply_headers = (read_headers(part.headers.multi_items()) for part in (request, reply))
            sent = request.content.decode()
            call = RecordedCall(
                len(calls) + 1, request.method, str(request.url), headers, sent, reply.status_code, reply_headers,
                reply.text, began, began,
            )  # fmt: skip
            calls.append(call)
        return reply

    stage.way.patient = True
    with patch.object(Way, "_pass", noted), world_of(stage.bank, "w", Start()) as bank, same_chance():
        patiently(FLOWS[name], bank)
    return calls


def lifted(calls: list[RecordedCall]) -> tuple[list[tuple[str, list[str]]], int]:
    """The words of the steps with what masking may not change, and how many calls were not explained."""
    har = json.dumps({"log": {"entries": [write_entry(call) for call in calls]}}).encode()
    text, unexplained = lift_file(har, "A flow")
    steps = text.partition("steps:")[2].splitlines()
    return [(line.partition(":")[0], SAME.findall(line)) for line in steps if line[:1] == " "], len(unexplained)


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_lifts_to_the_same_steps_when_it_is_masked(stage: Stage, name: str) -> None:
    calls = record(stage, name)
    masker = Masker(make_own_pseudonyms(load("default").fixtures), [calls[0].host], "/worlds/w")
    masked = [masker.mask(call) for call in calls]
    assert lifted(masked) == lifted(calls)
    assert [call.headers["request-id"] for call in masked] != [call.headers["request-id"] for call in calls]
