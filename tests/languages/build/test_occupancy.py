"""Occupancy against values that NVIDIA's occupancy calculator gives, and what must always hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.languages.build.occupancy import BLOCKS, MULTIPROCESSORS, occupancy, with_occupancy
from harness.records.build import KernelResources

H100 = MULTIPROCESSORS["90"]
KIB = 1024


def test_the_limits_are_those_of_the_programming_guide() -> None:
    """Threads, blocks and KiB of shared memory per multiprocessor."""
    table = {
        "80": (2048, 32, 164),
        "86": (1536, 16, 100),
        "89": (1536, 24, 100),
        "90": (2048, 32, 228),
        "100": (2048, 32, 228),
        "120": (1536, 24, 100),
    }
    assert table == {
        name: (32 * held.warps, held.blocks, held.shared_bytes // KIB)
        for name, held in MULTIPROCESSORS.items()
    }


@pytest.mark.parametrize(
    ("arch", "registers", "shared", "threads", "fraction", "limit"),
    [
        ("90", 32, 0, 256, 1.0, "warps"),
        ("90", 33, 0, 256, 0.75, "registers"),  # 40 registers a thread are given: 48 warps
        ("90", 40, 0, 256, 0.75, "registers"),
        ("90", 64, 0, 256, 0.5, "registers"),
        ("90", 128, 0, 256, 0.25, "registers"),
        ("90", 168, 0, 384, 12 / 64, "registers"),  # a block of 12 warps, and no second one
        ("90", 255, 0, 256, 0.125, "registers"),
        ("90", 32, 0, 32, 0.5, "blocks"),  # 32 blocks of one warp
        ("90", 32, 48 * KIB, 256, 0.5, "shared memory"),  # 4 × 49 KiB of 228
        ("90", 32, 227 * KIB, 1024, 0.5, "shared memory"),
        ("80", 32, 48 * KIB, 256, 3 * 8 / 64, "shared memory"),  # 3 × 49 KiB of 164
        ("86", 32, 0, 1024, 32 / 48, "warps"),  # one block: two would need 64 warps
        ("86", 32, 0, 64, 32 / 48, "blocks"),  # 16 blocks of two
        ("89", 32, 0, 64, 1.0, "warps"),  # 24 blocks of two
        ("89", 40, 0, 256, 1.0, "warps"),
        ("100", 64, 0, 512, 0.5, "registers"),
        ("120", 64, 20 * KIB, 128, 4 * 4 / 48, "shared memory"),
    ],
)
def test_occupancy_of_known_kernels(
    arch: str, registers: int, shared: int, threads: int, fraction: float, limit: str
) -> None:
    found = occupancy(registers, shared, threads, MULTIPROCESSORS[arch])
    assert found is not None
    assert (found.threads, found.limit) == (threads, limit)
    assert found.fraction == pytest.approx(fraction)


@pytest.mark.parametrize(
    ("registers", "shared", "threads"),
    [(255, 0, 1024), (32, 228 * KIB, 32), (0, 0, 32), (256, 0, 32), (32, 0, 0), (32, 0, 1025)],
)
def test_a_block_that_does_not_fit_has_no_occupancy(
    registers: int, shared: int, threads: int
) -> None:
    assert occupancy(registers, shared, threads, H100) is None


REGISTERS = st.integers(1, 255)
SHARED = st.integers(0, 227 * KIB)
THREADS = st.integers(1, 1024)


@given(REGISTERS, SHARED, THREADS, st.sampled_from(sorted(MULTIPROCESSORS)))
def test_occupancy_never_exceeds_the_hardware(
    registers: int, shared: int, threads: int, arch: str
) -> None:
    held = MULTIPROCESSORS[arch]
    found = occupancy(registers, shared, threads, held)
    if found is None:
        return
    warps = round(found.fraction * held.warps)
    blocks = warps // -(-threads // 32)
    assert 1 <= blocks <= held.blocks
    assert warps <= held.warps
    assert 32 * warps * registers <= 65536
    assert blocks * (shared + KIB) <= held.shared_bytes


@given(REGISTERS, SHARED, THREADS)
def test_fewer_resources_never_lower_occupancy(registers: int, shared: int, threads: int) -> None:
    more = occupancy(registers, shared, threads, H100)
    less = occupancy(max(1, registers - 7), shared // 2, threads, H100)
    if more is not None:
        assert less is not None
        assert less.fraction >= more.fraction


def test_blocks_of_usual_sizes_where_the_size_is_not_known() -> None:
    (kernel,) = with_occupancy([KernelResources(name="k", registers=64)], "sm_90a")
    assert [each.threads for each in kernel.occupancy] == list(BLOCKS)
    (large,) = with_occupancy([KernelResources(name="k", registers=255)], "sm_90")
    assert [each.threads for each in large.occupancy] == [128, 256]


def test_a_known_block_size_is_the_only_one() -> None:
    known = KernelResources(name="k", registers=64, threads=192)
    (kernel,) = with_occupancy([known], "sm_100a")
    assert [each.threads for each in kernel.occupancy] == [192]


@pytest.mark.parametrize("arch", ["sm_75", "sm_130", "", "sm_"])
def test_an_unknown_card_gives_no_occupancy(arch: str) -> None:
    (said,) = with_occupancy([KernelResources(name="k", registers=64)], "sm_90")
    (kernel,) = with_occupancy([said], arch)
    assert kernel.occupancy == ()
