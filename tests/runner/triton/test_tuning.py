"""Autotuners choose sooner, unless their author says how long they measure."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("triton")

from triton.backends.nvidia.driver import CudaDriver
from triton.runtime import autotuner

from harness.runner.triton.tuning import tune_briefly


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """What an autotuner with some options asks `do_bench` for, on the driver of an NVIDIA GPU."""
    monkeypatch.setattr(CudaDriver, "get_benchmarker", CudaDriver.get_benchmarker)  # put back
    tune_briefly()

    class Active:
        active = CudaDriver.__new__(CudaDriver)

    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(autotuner, "driver", Active)
    monkeypatch.setattr("triton.testing.do_bench", lambda *_, **named: asked.append(named))

    def kernel() -> None: ...

    def of(**options: object) -> list[dict[str, Any]]:
        tuner = autotuner.Autotuner(kernel, [], [], [], None, None, **options)
        tuner.do_bench(kernel, quantiles=(0.5,))
        return asked

    return of


def test_by_default_a_configuration_runs_for_25_ms(
    lengths: Callable[..., list[dict[str, Any]]],
) -> None:
    assert lengths() == [{"warmup": 5, "rep": 20, "quantiles": (0.5,)}]


def test_an_author_may_say_how_long(lengths: Callable[..., list[dict[str, Any]]]) -> None:
    with pytest.warns(DeprecationWarning):
        assert lengths(rep=50) == [{"warmup": 25, "rep": 50, "quantiles": (0.5,)}]
    own: list[object] = []
    lengths(do_bench=lambda launch, quantiles: own.append(quantiles))
    assert own == [(0.5,)]
