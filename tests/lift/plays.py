"""Plays of a script, with what they leave behind: a HAR of the calls, and the states of the world."""

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import httpx

from sandbox.client import Controls
from sandbox.machine import machine_time
from sandbox.player import runs
from sandbox.player.runs import Differing, ScenarioReport, Script, run_one
from sandbox.player.step_result import RecordingTransport
from tests.lift.recorder import Recorder

LISTS = ("payments", "standing-orders", "bulk-payments")
COMPARED = ("product", "status", "reason")


@dataclass(frozen=True)
class Play:
    report: ScenarioReport
    har: bytes
    states: list[tuple[Any, ...]]  # of all initiations
    balances: dict[str, Any]  # by IBAN


def play(script: Script, url: str) -> Play:
    recorders: list[Recorder] = []
    left: dict[str, Any] = {}

    def recording(line: httpx.BaseTransport) -> RecordingTransport:
        recorders.append(Recorder(line))
        return RecordingTransport(recorders[-1])

    def look(controls: Controls) -> None:
        rows = [row for name in LISTS for row in controls.listed(name)]
        left["states"] = [tuple(row.get(name) for name in COMPARED) for row in rows]
        left["balances"] = {row["iban"]: row["balances"] for row in controls.listed("accounts")}

    with patch.object(runs, "RecordingTransport", recording):
        report = run_one(script, url, machine_time, differing=Differing({}, look))
    return Play(report, recorders[0].har(), left["states"], left["balances"])
