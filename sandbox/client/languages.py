"""Accept-Language: a language, or a list with regions and weights (service 4.0)."""


def languages_of(text: str) -> tuple[str, ...]:
    """The languages without their regions, by weight, highest first."""
    found: dict[str, float] = {}
    for part in text.split(","):
        tag, _, weight = part.partition(";")
        found.setdefault(tag.strip().partition("-")[0].lower(), _weight(weight.strip().removeprefix("q=")))
    return tuple(sorted((tag for tag in found if tag), key=lambda tag: -found[tag]))


def accept_language(text: str) -> str:
    """The header. Behind a language with a region stands the language, as a bank may know no regions."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    named = {part.partition(";")[0].lower() for part in parts}
    rows: list[str] = []
    for part in parts:
        tag, mark, weight = part.partition(";")
        bare = tag.partition("-")[0].lower()
        rows.append(part)
        if bare not in named:
            named.add(bare)
            rows.append(f"{bare}{mark}{weight}")
    return ", ".join(rows)


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
