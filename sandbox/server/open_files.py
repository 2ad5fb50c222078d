"""How many files the process may open, and how many connections fit into that."""

from contextlib import suppress
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

FILES_EACH = 2  # of a connection: its socket, and for some a body or a reply in a temporary file
FILES_SPARE = 128  # for the program itself


def raise_files(connections: int) -> None:
    """Lets the process open as many files as so many connections need, as far as it may."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    needed = FILES_EACH * connections + FILES_SPARE
    if soft != RLIM_INFINITY and soft < needed:
        most = needed if hard == RLIM_INFINITY else min(hard, needed)
        with suppress(ValueError, OSError):
            setrlimit(RLIMIT_NOFILE, (most, hard))


def fitting(connections: int) -> int:
    """So many, or as many as the process may open files for."""
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return connections if soft == RLIM_INFINITY else max(1, min(connections, (soft - FILES_SPARE) // FILES_EACH))
