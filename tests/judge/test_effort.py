"""How long to measure."""

from harness.judge.effort import CPU_EFFORT


def test_cpu_effort_is_small() -> None:
    assert CPU_EFFORT.max_blocks <= 5
    assert CPU_EFFORT.batch_s * CPU_EFFORT.max_blocks < 0.5
