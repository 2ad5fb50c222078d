"""What a world holds in memory, and gives back when it is unloaded."""

from dataclasses import dataclass
from typing import Any

from sandbox.bank.state import Bank
from sandbox.world.calls import Exchange, Recent
from sandbox.world.log.memory_log import MemoryLog
from sandbox.world.log.packed_log import PackedLog
from sandbox.world.log.release import release_bank
from sandbox.world.log.stored_log import StoredLog

Log = MemoryLog | StoredLog
Acts = MemoryLog | PackedLog  # of a world that another one goes on from


@dataclass(slots=True)
class Loaded:
    """The bank with its log, the last calls, and what other rooms keep of the world."""

    bank: Bank
    log: Log
    exchanges: Recent[Exchange]
    kept: dict[str, Any]  # gone when the world begins again

    def release(self) -> None:
        """Before it is dropped."""
        release_bank(self.bank)
        if isinstance(self.log, MemoryLog):
            self.log.release()
