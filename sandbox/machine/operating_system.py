"""Functions that work differently on Windows than on Linux and macOS. Their callers need not know the operating
system."""

import os
import select
import signal
import socket
import subprocess
from contextlib import suppress
from importlib import import_module
from typing import Any


def _import_if_there(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        return None


fcntl, resource = map(_import_if_there, ("fcntl", "resource"))  # None on Windows
LOCKED_BYTE = 1 << 40  # behind the end of any file, as Windows lets nobody read a locked byte


def lock_file(descriptor: int, *, is_shared: bool = False) -> None:
    """Locks an open file for this process until it is closed. Several processes can hold a shared lock, except on
    Windows. Raises OSError if another process has locked the file."""
    if fcntl is not None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return
    msvcrt: Any = import_module("msvcrt")
    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def demand_open_files(count: int) -> None:
    """Raises the process's limit of open files to `count`, or to the highest limit that the system allows. Does nothing
    if the limit is high enough already, and on Windows."""
    if resource is None:
        return
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft_limit != resource.RLIM_INFINITY and soft_limit < count:
        most = count if hard_limit == resource.RLIM_INFINITY else min(hard_limit, count)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard_limit))


def open_files_max() -> int | None:
    """Returns how many files the process may open. Returns None if there is no limit, and on Windows."""
    if resource is None:
        return None
    soft_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft_limit == resource.RLIM_INFINITY else soft_limit


def has_hung_up(line: socket.socket) -> bool:
    """Whether the other end closed the connection. Also True if bytes that the other end sent before are still unread.
    Always False on Windows. Raises OSError or ValueError if the connection is closed at this end."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(line, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))


def kill_with_children(process: "subprocess.Popen[bytes]") -> None:
    """Kills a process and its children, and waits until the process has ended. The process must have been started in a
    session of its own, because its whole process group is killed. On Windows, kills only the process itself."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
