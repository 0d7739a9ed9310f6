"""Whose the memory is that is not there."""

import pytest

from harness.device.base import crowded_out
from harness.device.cpu import CpuDevice


@pytest.mark.parametrize(
    ("held", "mapped", "blamed"),
    [(54, 0, "54"), (54, 24, ""), (54, 10, "44"), (20, 0, ""), (60, 24, "36")],
)
def test_what_the_judge_let_go_of_is_not_the_submissions(
    monkeypatch: pytest.MonkeyPatch, held: int, mapped: int, blamed: str
) -> None:
    """A runner that maps the judge's buffers keeps them there until it ends."""
    free = [(70 - held) << 30, 70 << 30]
    monkeypatch.setattr(CpuDevice, "free_bytes", lambda _: free.pop(0))
    ended: list[int] = []
    said = crowded_out(CpuDevice(), lambda: ended.append(len(free)), mapped << 30)
    assert ended == [1]
    assert said.startswith(f"holds {blamed} GiB") if blamed else not said
