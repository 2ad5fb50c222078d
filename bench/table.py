"""Figures: what was measured, beside its floor and what was aimed at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number. `ratio` is to the floor of the same run; `aim` says what it should be."""

    name: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    p50: float | None = None  # ms
    p99: float | None = None  # ms
    least: float | None = None  # the ratio, or without a floor the value, should be no less
    most: float | None = None  # and no more

    @property
    def judged(self) -> float:
        return self.value if self.ratio is None else self.ratio

    @property
    def aim(self) -> str:
        bounds = [f">= {self.least:g}"] if self.least is not None else []
        bounds += [f"<= {self.most:g}"] if self.most is not None else []
        return " ".join(bounds)

    @property
    def holds(self) -> bool | None:
        """Whether the aim is met; None where nothing was aimed at."""
        if not self.aim:
            return None
        return (self.least is None or self.judged >= self.least) and (self.most is None or self.judged <= self.most)


HEAD = ("figure", "value", "unit", "floor", "ratio", "p50 ms", "p99 ms", "aim", "")
VERDICTS = {True: "ok", False: "MISSED", None: ""}


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        number(figure.value),
        figure.unit,
        number(figure.floor),
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        number(figure.p50),
        number(figure.p99),
        figure.aim,
        VERDICTS[figure.holds],
    )


def printed(figures: list[Figure]) -> str:
    """The table; names and units to the left, numbers to the right."""
    return "\n".join(lines_of(HEAD, [cells(figure) for figure in figures], left=(0, 2, 7, 8)))


def lines_of(head: tuple[str, ...], rows: list[tuple[str, ...]], left: tuple[int, ...]) -> list[str]:
    """Columns under a head; those on the left begin together, the others end together."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        parts = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return [lines[0], "-" * len(lines[0]), *lines[1:]]
