"""Some tests try what is made up at random, or each of many combinations. In each run of the tests they try a share of
it, which has each kind of it. `make fuzz` tries all.
"""

from hypothesis import settings

EXAMPLES = 100  # of each test of Hypothesis that does not say otherwise
LONG = "long"  # pytest --hypothesis-profile=long
FACTOR = 6  # of the examples of a long run


def register_profiles() -> None:
    """How long an example takes is the machine's affair: a benchmark is no test."""
    settings.register_profile("here", deadline=None, max_examples=EXAMPLES)
    settings.register_profile(LONG, deadline=None, max_examples=FACTOR * EXAMPLES)
    settings.load_profile("here")


def is_long() -> bool:
    return settings.get_current_profile_name() == LONG


def make_long(count: int) -> int:
    """Returns the number of examples in this run."""
    return FACTOR * count if is_long() else count
