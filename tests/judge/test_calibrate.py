from typing import Any, cast

import pytest
import torch
from test_measure import FakeSession

from harness.errors import MachineError
from harness.judge.calibrate import calibration_problem, measure_constants
from harness.judge.constants import Constants
from harness.judge.memory import Device
from harness.judge.session import Session
from harness.problem.draws import Case
from harness.problem.reference import Reference


class Kernel(FakeSession):
    """The trusted kernel, by a clock that is made up."""

    def run(self, batch: Any, seed: str, *, stop: bool = True) -> Any:
        self.batches.append((batch.layout.calls, seed))
        return self.constant + self.per_call * batch.layout.calls


def overhead(session: FakeSession) -> float:
    return constants(session).batch_s


def constants(session: FakeSession) -> Constants:
    return measure_constants(cast(Session, session), calibration_problem(), Device())


def test_the_package_is_whole() -> None:
    problem = calibration_problem()
    assert problem.complete
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    expected = Reference(problem).expected(problem, Case(sizes={"n": 2}), {"x": x})
    assert expected["y"].tolist() == [2.0, -1.0]


def test_the_constant_is_where_the_line_meets_zero_calls() -> None:
    assert overhead(Kernel(20e-6, constant=8e-6)) == pytest.approx(8e-6)
    assert overhead(Kernel(20e-6)) == pytest.approx(0.0, abs=1e-12)


def test_it_is_never_negative() -> None:
    assert overhead(Kernel(20e-6, constant=-5e-6)) == 0.0


@pytest.mark.parametrize("point", ["map", "prepare"])
def test_a_kernel_of_ours_that_fails_is_the_machines_fault(point: str) -> None:
    with pytest.raises(MachineError, match="the calibration kernel fails: no luck"):
        overhead(Kernel(fails=point))
