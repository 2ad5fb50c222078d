"""Floors of work without a server: the events of an agenda on a bare heap, the elements of a file in a bare pass."""

from datetime import timedelta
from heapq import heappop, heappush
from io import BytesIO
from time import process_time

from lxml import etree

from sandbox.bank.clock import Promise
from sandbox.banking.durations import read_instant
from sandbox.contract.moves import Trigger

MONTH = timedelta(days=30)


def heap_seconds(subjects: int, rounds: int) -> float:
    """Each subject's next event is added as its last one is taken; nothing happens at any."""
    first = read_instant("2027-01-02T06:00:00+01:00")
    heap: list[Promise] = []
    began = process_time()
    for number in range(subjects):
        heappush(heap, Promise(first + timedelta(days=number % 30), number, str(number), Trigger.OCCURRED))
    for number in range(subjects * rounds):
        promise = heappop(heap)
        heappush(heap, Promise(promise.at + MONTH, number, promise.subject_id, promise.trigger))
    return process_time() - began


def pass_seconds(content: bytes) -> float:
    """Every element is met once, with its text, and let go."""
    began = process_time()
    length = 0
    for _, element in etree.iterparse(BytesIO(content), events=("end",)):
        length += len(element.tag) + len(element.text or "")
        element.clear()
    assert length
    return process_time() - began
