"""Threads of the product that a test waits for."""

import threading


def wait_for_threads(name: str) -> None:
    """Returns once all threads of this name have ended."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join()
