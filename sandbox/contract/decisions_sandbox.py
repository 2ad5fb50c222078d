"""Decisions about the sandbox itself: its worlds, its referee, its memory (choice 10, 13)."""

from dataclasses import dataclass
from typing import Literal

from sandbox.contract.decision_rows import Topic, setting

OnOff = Literal["on", "off"]
ADDED = (r"[a-z0-9_]+ *: *\S.*", "company_invoices: required")
WAIVE = (r"[a-z0-9-]+ *: *\S.*", "paging-stopped: one page is all we show")


# fmt: off
@dataclass(frozen=True)
class SandboxDecisions:
    worlds: Literal["on_demand", "declared"] = setting(
        Topic.INTERFACE, "choice 10", "on_demand", "Whether a call to an unknown world makes it, or gets 404.",
    )
    # `bank-sandbox serve` sets it to `on` in the worlds that it begins.
    life: OnOff = setting(
        Topic.ACCOUNTS, "choice 13", "off",
        "Whether the customers' habits go on under the clock: salaries, rent, card payments.",
    )
    referee: OnOff = setting(
        Topic.REFEREE, "choice 10", "on", "Whether the referee watches the clients.",
    )
    referee_waives: tuple[str, ...] = setting(
        Topic.REFEREE, "choice 10", (), "Findings that are suppressed, each as rule: reason.", form=WAIVE,
    )
    requests_kept: int = setting(
        Topic.MEMORY, "choice 10", 10_000, "Calls in the list of calls; the oldest go first.",
    )
    acts_kept: int = setting(
        Topic.MEMORY, "choice 10", 400_000, "Acts in memory, from which a fork can begin; older ones are compacted.",
    )
    acts_bytes_max: int = setting(
        Topic.MEMORY, "choice 10", 256_000_000, "The same in bytes, of which files are most.",
    )
    remembered_max: int = setting(
        Topic.MEMORY, "choice 10", 100_000,
        "Entries in each register of Request-IDs, sessions, codes and replaced tokens.",
    )
    remembered_bytes_max: int = setting(
        Topic.MEMORY, "choice 10", 32_000_000, "Bytes of callers' texts in each of these registers.",
    )
    calls_bytes_max: int = setting(
        Topic.MEMORY, "choice 10", 16_000_000, "Bytes of the list of calls, and again of headers and bodies.",
    )
    contents_kept: int = setting(
        Topic.MEMORY, "choice 10", 200, "The last calls whose headers and bodies are kept; 0 is none.", least=0,
        most=10_000,
    )
    # Fewer events than one advance may meet would stop the bank itself.
    due_events_max: int = setting(
        Topic.MEMORY, "choice 10", 10_000_000, "Events that one move of the clock may meet before it is refused.",
        least=1_000_000,
    )
    screens_in_english: OnOff = setting(
        Topic.SIGNING, "service 4.0", "off",
        "Whether the bank's pages can be read in English too, for demos; the service has French and Dutch.",
    )
    extensions: tuple[str, ...] = setting(
        Topic.EXTENSIONS, "choice 10", (), "The settings that extensions add, each as name: value.", form=ADDED,
    )
