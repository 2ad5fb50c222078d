"""Whatever is sent as a file: a refusal at once or a report, and nothing else (choice 7)."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.bulkfiles.report import FileReport, ValidationRules
from sandbox.bulkfiles.samples import SAMPLES, fill_sample
from sandbox.bulkfiles.stages import Kind, admit, read_file

TODAY = date(2027, 3, 1)
GOOD: dict[Kind, list[bytes]] = {
    "pain.001": [fill_sample(name, TODAY) for name in SAMPLES if name.endswith(".xml")],
    "csv": [fill_sample(name, TODAY) for name in SAMPLES if name.endswith(".csv")],
}


def is_told(kind: Kind, content: bytes) -> bool:
    """Read as the bank does: first what is refused at once, then all else."""
    try:
        admit(kind, content)
    except ValueError as refused:
        return bool(str(refused))
    return isinstance(read_file(kind, content, ValidationRules(TODAY)), FileReport)


@pytest.mark.parametrize("kind", ["pain.001", "csv"])
@settings(max_examples=150)
@given(content=st.binary(max_size=400))
def test_bytes_of_any_kind_are_told_apart(kind: Kind, content: bytes) -> None:
    assert is_told(kind, content)


@pytest.mark.parametrize("kind", ["pain.001", "csv"])
@settings(max_examples=150)
@given(drawn=st.data())
def test_a_sample_with_a_piece_replaced_is_told_too(kind: Kind, drawn: st.DataObject) -> None:
    content = drawn.draw(st.sampled_from(GOOD[kind]))
    begin = drawn.draw(st.integers(0, len(content)))
    end = drawn.draw(st.integers(begin, min(len(content), begin + 60)))
    piece = drawn.draw(
        st.one_of(st.binary(max_size=20), st.text(st.characters(codec="utf-8"), max_size=20).map(str.encode))
    )
    assert is_told(kind, content[:begin] + piece + content[end:])
