"""Reads the words of recorded replies as the default ones. A bank may spell statuses, reasons and errors otherwise
(axes of SPELLING_AXES), but a scenario has only the default words."""

from typing import Any

from sandbox.contract import kinds
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.extensions.lift.lift_state import LiftedSubject, LiftState, Step
from sandbox.recordings.recorded_calls import RecordedCall
from sandbox.scenarios.step_words import REFUSALS

SPELLING_AXES = ("status_spelling", "reason_codes", "error_words")
OTHER_PENDING = "PNDG"


def read_status(call: RecordedCall) -> str:
    status = str(call.reply_json.get("status"))
    return Status.PDNG if status == OTHER_PENDING else status


def read_reason(lift: LiftState, subject: LiftedSubject, call: RecordedCall) -> Any:
    """Returns the reason in a reply about the status of `subject`, or None if there is none. An ISO code of a
    cancellation stays if a control of the recording gave it."""
    reason = call.reply_json.get("reason")
    if read_status(call) != Status.CANC or not isinstance(reason, str) or is_given_by_control(lift, reason):
        return reason
    if is_time_out(call):
        return Reason.TIME_OUT.code
    if reason == Reason.PSU_REFUSED.value.iso_code:  # also the code of an order that is over
        has_run = call.path[0] == kinds.STANDING_ORDER.path and subject.is_approved
        return (Reason.CONTRACT_ENDED if has_run else Reason.PSU_REFUSED).code
    return reason


def is_time_out(call: RecordedCall) -> bool:
    """Whether the reply says that an initiation was cancelled because nobody signed in time."""
    reasons = (Reason.TIME_OUT.code, Reason.TIME_OUT.value.iso_code)
    return read_status(call) == Status.CANC and call.reply_json.get("reason") in reasons


def is_given_by_control(lift: LiftState, reason: str) -> bool:
    return any(call.path[0] == "_sandbox" and reason in call.body for call in lift.record)


def read_error(call: RecordedCall) -> Any:
    """Returns the error of a refusal, or the HTTP status if the reply names no error."""
    error = call.reply_json.get("error", call.status)
    return error.upper() if isinstance(error, str) and error.upper() in REFUSALS else error


def drop_spelling_axes(settings: Step) -> Step:
    """Returns the settings of a scenario without the axes that spell words otherwise."""
    variants = settings.get("variants")
    if not isinstance(variants, dict):
        return settings
    return settings | {"variants": {axis: value for axis, value in variants.items() if axis not in SPELLING_AXES}}
