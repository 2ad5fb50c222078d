"""Two runs held against each other: `python -m bench.compare OLD.json NEW.json`."""

import argparse
import json
from pathlib import Path
from typing import Any

from bench.table import lines_of, number

# Ratios are to a floor of the same run, so they bear another machine; plain values do not.
NOISE = 0.1  # a change below this share is not told apart from chance


def read(path: Path) -> tuple[str, dict[str, dict[str, Any]]]:
    content = json.loads(path.read_text())
    return content["machine"], {row["name"]: row for row in content["figures"]}


def judged(row: dict[str, Any]) -> float:
    """The ratio where there is one."""
    return float(row["value"] if row["ratio"] is None else row["ratio"])


def verdict(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Better or worse by more than noise, where it is known which way is better."""
    before, after = judged(old), judged(new)
    up = more_is_better(new)
    if up is None or before == 0 or abs(after - before) <= NOISE * abs(before):
        return ""
    return "better" if (after > before) is up else "WORSE"


def more_is_better(row: dict[str, Any]) -> bool | None:
    if row["least"] is not None or row["most"] is not None:
        return row["most"] is None
    return {"calls/s": True, "ms": False, "s": False, "KiB": False, "MB": False, "MiB": False}.get(row["unit"])


def cells(name: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> tuple[str, ...]:
    if old is None or new is None:
        there = new or old
        assert there is not None
        told = number(judged(there))
        return (name, told if old else "", told if new else "", "", "gone" if new is None else "new")
    before, after = judged(old), judged(new)
    change = f"{(after / before - 1) * 100:+.0f} %" if before else ""
    return (name, number(before), number(after), change, verdict(old, new))


def compared(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    names = list(new) + [name for name in old if name not in new]
    return [cells(name, old.get(name), new.get(name)) for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    asked = parser.parse_args()
    (there, old), (here, new) = read(asked.old), read(asked.new)
    rows = compared(old, new)
    print("\n".join(lines_of(("figure (its ratio where it has one)", "old", "new", "change", ""), rows, left=(0, 4))))
    if there != here:
        print(f"\nThe machines differ ({there}; {here}): only ratios can be compared.")
    return int(any(row[-1] == "WORSE" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
