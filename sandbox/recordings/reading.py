"""Reads a file of recorded calls. Recognises its format."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sandbox.contract import kinds
from sandbox.recordings import har, hoverfly, mitmproxy_flows, sandbox_list, wiremock
from sandbox.recordings.recorded_calls import RecordedCall, RecordingError, find_bank_hosts

BYTES_MAX = 500_000_000
SHOWN_MAX = 3  # broken entries, hosts and members that a sentence names
TEXT_MAX = 60  # characters of a text that a sentence quotes


class RecordingFormat(NamedTuple):
    name: str
    shape: str  # a description of its shape, for error messages
    # Returns the entries of a file, given as a JSON value or as bytes. Returns None if the file has another format.
    find: Callable[[Any], list[Any] | None]
    read: Callable[[int, Any], RecordedCall]


FORMATS = (
    RecordingFormat("HAR", "log.entries", har.find_entries, har.read_entry),
    RecordingFormat("WireMock mappings", "mappings", wiremock.find_mappings, wiremock.read_mapping),
    RecordingFormat("WireMock journal", "requests", wiremock.find_journal, wiremock.read_logged_call),
    RecordingFormat("Hoverfly simulation", "data.pairs", hoverfly.find_entries, hoverfly.read_entry),
    RecordingFormat("list of calls of the sandbox", "requests", sandbox_list.find_entries, sandbox_list.read_entry),
)
FLOWS = RecordingFormat("mitmproxy flows", "tnetstrings", mitmproxy_flows.find_flows, mitmproxy_flows.read_entry)
EXPECTED = f"expected is {', '.join(f'{row.name} ({row.shape})' for row in FORMATS)} or {FLOWS.name}"


@dataclass(frozen=True)
class Recording:
    """The calls of one file that go to the bank, and counts of the entries that were left out."""

    format: str  # the name of the format
    calls: list[RecordedCall]  # the calls to the bank, in the order in which they began
    entries: int  # the number of entries in the file
    broken: dict[int, str] = field(default_factory=dict)  # why an entry could not be read, by its number
    foreign: Counter[str] = field(default_factory=Counter)  # calls to other hosts, by host
    elsewhere: int = 0  # calls to the bank's host with a path that no bank has

    @property
    def addresses(self) -> list[str]:
        """The addresses of the bank. The address with most calls is first."""
        return [address for address, _ in Counter(call.address for call in self.calls).most_common()]

    @property
    def notes(self) -> list[str]:
        """One sentence for each kind of entry that was left out."""
        rows = []
        if self.broken:
            examples = "; ".join(
                f"entry {number}: {reason}" for number, reason in list(self.broken.items())[:SHOWN_MAX]
            )
            rows.append(
                f"{_write_entries(len(self.broken))} of {self.entries} could not be read and are left out: {examples}"
            )
        if self.foreign:
            examples = ", ".join(
                f"{host or 'no host'} ({count})" for host, count in self.foreign.most_common(SHOWN_MAX)
            )
            more = ", ..." if len(self.foreign) > SHOWN_MAX else ""
            rows.append(f"{_write_entries(self.foreign.total())} to other hosts are left out: {examples}{more}")
        if self.elsewhere:
            rows.append(f"{_write_entries(self.elsewhere)} to paths that no bank has are left out")
        return rows


def _write_entries(count: int) -> str:
    return f"{count} entry" if count == 1 else f"{count} entries"


def read_recording(content: bytes, base: str = "") -> Recording:
    """Returns the calls in a file that go to the bank. These are the calls below the address `base`. If `base` is
    empty, they are recognised by headers and paths. Raises RecordingError if the file is too long, if its format is
    unknown, or if no call goes to a bank."""
    if len(content) > BYTES_MAX:
        raise RecordingError(f"it is {len(content):,} bytes long: expected are up to {BYTES_MAX:,}")
    format_, entries = find_format(content)
    calls, broken = [], dict[int, str]()
    for number, entry in enumerate(entries, 1):
        try:
            calls.append(format_.read(number, entry))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError) as fault:
            broken[number] = describe_fault(fault)
    recording = select_calls(calls, base)
    recording = replace(recording, format=format_.name, entries=len(entries), broken=broken)
    if not recording.calls:
        raise RecordingError(describe_lack(recording, base))
    return recording


def find_format(content: bytes) -> tuple[RecordingFormat, list[Any]]:
    """Returns the format of a file and its entries. Raises RecordingError if the format is unknown."""
    flows = FLOWS.find(content)
    if flows is not None:
        return FLOWS, flows
    if not content.strip():
        raise RecordingError(f"it is empty: {EXPECTED}")
    try:
        tree = json.loads(content)
    except RecursionError:
        raise RecordingError(f"its JSON is nested too deeply: {EXPECTED}") from None
    except ValueError as fault:
        begin = content[:20]
        raise RecordingError(f"it begins with {begin!a} and is no JSON ({fault}): {EXPECTED}") from None
    for format_ in FORMATS:
        entries = format_.find(tree)
        if entries is not None:
            return format_, entries
    raise RecordingError(f"{describe_content(tree)}: {EXPECTED}")


def describe_content(tree: Any) -> str:
    if isinstance(tree, dict):
        names = ", ".join(ascii(name[:TEXT_MAX]) for name in list(tree)[:SHOWN_MAX])
        return f"it is a JSON object with the members {names}" if names else "it is an empty JSON object"
    return f"it is a JSON {'list' if isinstance(tree, list) else 'value'} of another kind"


def describe_fault(fault: Exception) -> str:
    if isinstance(fault, KeyError):
        return f"it has no {fault.args[0]!a}"[:TEXT_MAX]
    if isinstance(fault, TypeError | AttributeError | LookupError):
        return f"a part of it has the wrong type ({fault})"
    return str(fault)


def select_calls(calls: list[RecordedCall], base: str) -> Recording:
    """Returns a recording with the calls that go to the bank, and with counts of all other calls. `base` is the address
    of the bank. If it is empty, the bank is recognised by headers and paths."""
    if base:
        calls = [replace(call, base=base) if is_below(call.url, base) else call for call in calls]
        hosts = {call.host for call in calls if call.base}
    else:
        hosts = find_bank_hosts([call for call in calls if call.path])
    to_bank = [call for call in calls if call.host in hosts and bool(call.base) == bool(base)]
    bank_calls = [call for call in to_bank if call.path]
    foreign = Counter(call.host for call in calls if call.host not in hosts)
    if all(call.began is not None for call in bank_calls):
        bank_calls.sort(key=lambda call: (call.began, call.number))  # browsers list calls as they ended
    elsewhere = len(calls) - foreign.total() - len(bank_calls)
    return Recording("", bank_calls, len(calls), foreign=foreign, elsewhere=elsewhere)


def is_below(url: str, base: str) -> bool:
    parts, root = urlsplit(url), urlsplit(base)
    path = root.path.rstrip("/")
    if not parts.netloc:
        return True  # the recording does not name the host
    same_place = (parts.scheme, parts.netloc.lower()) == (root.scheme, root.netloc.lower())
    return same_place and (parts.path == path or parts.path.startswith(f"{path}/"))


def describe_lack(recording: Recording, base: str) -> str:
    """Returns a sentence that says why no call goes to a bank, and which calls were expected."""
    example = f"POST /payments/{kinds.PAYMENT.products[0]}"
    direction = f"below {base}" if base else "to a bank"
    reason = f"none of its {recording.entries} calls goes {direction}" if recording.entries else "it has no calls"
    notes = "".join(f"; {note}" for note in recording.notes)
    return f"{reason}: expected are calls such as {example} or GET /accounts{notes}"
