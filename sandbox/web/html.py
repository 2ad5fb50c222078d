"""How every page is made that a person sees: the bank's own screens, the console, the reference."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment_of(room: str) -> Environment:
    """Everything that goes into a page is escaped; a name that nobody gave is our own mistake."""
    return Environment(
        loader=PackageLoader(room), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
