"""The animated picture of the README: a payment from its call to settled money, drawn from a payment that was made.

It is an SVG with rules of CSS alone. So it is small and sharp at each size, and plays where no script runs. Readers
who want no motion see its last scene.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

WIDTH, HEIGHT = 860, 300
SECONDS = 2  # of a scene
LANES = {"TPP": 60, "Customer": 140, "Bank": 220}
LEFT, BOX = 104, 116
GAP = 4
WORDS = {
    "RCVD": ("Bank", "takes it"),
    "PATC": ("Bank", "has checked it"),
    "PDNG": ("Customer", "signs"),
    "ACSP": ("Bank", "money leaves"),
    "ACSC": ("Bank", "money arrives"),
}
STYLE = """
.p{fill:#fff}svg{font:14px system-ui,sans-serif;background:#fff}text{fill:#17242c}.q{fill:#52626d}
.b{fill:#fff;stroke:#7d8c96}
.n .b{stroke:#0d5566;stroke-width:2}.s{font-weight:700}.w .b{fill:#fdf1d6}.m .b{fill:#e4eef9}.g .b{fill:#e3f3ea}
line{stroke:#d8dfe4}.n{animation:come .4s both}@keyframes come{from{opacity:0}to{opacity:1}}
@media(prefers-color-scheme:dark){.p,svg{fill:#182126;background:#182126}text{fill:#e3eaee}.q{fill:#9db0bb}
.b{fill:#182126;stroke:#6b7d88}
.n .b{stroke:#6cc5d6}.w .b{fill:#392d13}.m .b{fill:#1b2f45}.g .b{fill:#17352a}line{stroke:#2b373e}}
@media(prefers-reduced-motion:reduce){.n{animation:none}}
"""
TONES = {"RCVD": "w", "PATC": "w", "PDNG": "m", "ACSP": "m", "ACSC": "g"}


class Scene(NamedTuple):
    lane: str
    title: str
    text: str
    at: str
    tone: str


def scenes_of(payment: Mapping[str, Any]) -> list[Scene]:
    """The call, and a scene for each status that the payment had. `payment` is what its control replies."""
    history = [row for row in payment["history"] if row["status"] in WORDS]
    first = history[0]["at"]
    order = payment["order"]["instructed_amount"]
    call = Scene("TPP", "POST", f"{order['amount']} {order['currency']}", clock_of(first), "")
    return [call] + [
        Scene(
            WORDS[row["status"]][0], row["status"], WORDS[row["status"]][1], clock_of(row["at"]), TONES[row["status"]]
        )
        for row in history
    ]


def clock_of(at: str) -> str:
    return at[11:19]


def animated(scenes: Sequence[Scene]) -> bytes:
    """The picture: the scenes come one after another, then it begins again."""
    whole = SECONDS * (len(scenes) + 1)
    step = (WIDTH - LEFT - BOX - 16) / (len(scenes) - 1)
    lines = "".join(
        f'<text class="q" x="16" y="{y + 5}">{lane}</text><line x1="{LEFT - 8}" x2="{WIDTH - 8}" y1="{y}" y2="{y}"/>'
        for lane, y in LANES.items()
    )
    drawn, rules = [], []
    for number, scene in enumerate(scenes):
        x, y = round(LEFT + number * step), LANES[scene.lane]
        share = round(100 * SECONDS * number / whole, 1)
        rules.append(f"@keyframes k{number}{{0%,{share}%{{opacity:0}}{share + GAP}%,100%{{opacity:1}}}}"
                     f".n{number}{{animation:k{number} {whole}s infinite both}}")  # fmt: skip
        drawn.append(
            f'<g class="n n{number} {scene.tone}">'
            f'<rect class="b" x="{x}" y="{y - 24}" width="{BOX}" height="48" rx="6"/>'
            f'<text class="s" x="{x + 8}" y="{y - 5}">{escape(scene.title)}</text>'
            f'<text class="q" x="{x + 8}" y="{y + 14}">{escape(scene.text)}</text>'
            f'<text class="q" x="{x}" y="{HEIGHT - 24}">{scene.at}</text></g>'
        )
    rest = "@media(prefers-reduced-motion:reduce){.n{animation:none!important}}"
    title = "A payment from its call to settled money, by the bank’s clock"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{title}"><title>{title}</title><style>{STYLE}{"".join(rules)}{rest}</style>'
        f'<rect class="p" width="{WIDTH}" height="{HEIGHT}"/>{lines}{"".join(drawn)}</svg>\n'
    ).encode()
