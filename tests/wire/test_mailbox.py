"""The mailbox, and the sealed memory that it lies in."""

import fcntl
import mmap
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.device.base import sealed_memory
from harness.wire.mailbox import MAILBOX_BYTES, Mailbox


def test_what_one_side_writes_the_other_reads() -> None:
    fd = sealed_memory("mailbox", MAILBOX_BYTES)
    judge, runner = Mailbox(fd), Mailbox(fd)
    os.close(fd)
    assert (judge.go, judge.done) == (0, 0)
    judge.go = 7
    assert (runner.go, runner.done) == (7, 0)
    runner.done = 2**64 - 1
    assert (judge.go, judge.done) == (7, 2**64 - 1)
    judge.close()
    runner.close()


@given(st.binary(min_size=128, max_size=128))
def test_any_bytes_in_a_mailbox_are_two_numbers(data: bytes) -> None:
    fd = sealed_memory("mailbox", MAILBOX_BYTES)
    mailbox = Mailbox(fd)
    os.pwrite(fd, data, 0)
    os.close(fd)
    assert mailbox.go == int.from_bytes(data[:8], "little")
    assert 0 <= mailbox.done < 2**64
    mailbox.close()


class TestSealedMemory:
    def test_nobody_can_resize_it(self) -> None:
        fd = sealed_memory("arena", 3 * mmap.PAGESIZE)
        again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)  # as a runner might
        for size in (0, mmap.PAGESIZE, 100 * mmap.PAGESIZE):
            for descriptor in (fd, again):
                with pytest.raises(PermissionError):
                    os.ftruncate(descriptor, size)
        with pytest.raises(OSError):
            os.posix_fallocate(again, 0, 100 * mmap.PAGESIZE)
        assert os.fstat(fd).st_size == 3 * mmap.PAGESIZE
        os.close(fd)
        os.close(again)

    def test_nobody_can_seal_it_further(self) -> None:
        fd = sealed_memory("arena", mmap.PAGESIZE)
        with pytest.raises(PermissionError):
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        os.pwrite(fd, b"x", 0)
        os.close(fd)

    def test_it_is_not_inherited(self) -> None:
        fd = sealed_memory("arena", mmap.PAGESIZE)
        assert not os.get_inheritable(fd)
        os.close(fd)
