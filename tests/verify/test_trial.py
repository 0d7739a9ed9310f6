"""Comparing tensors to the last bit."""

from contextlib import closing
from pathlib import Path

import pytest
import torch

from harness.device.base import Device
from harness.device.cpu import CpuDevice
from harness.judge.layout import lay_out
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.verify import trial
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import FLOAT32
from harness.verify.arithmetic.sums import Accumulator, Order
from harness.verify.trial import Answers, PackageTask, Trial, TrialMemory, same_bits

MACHINE = ArithmeticModel(working=FLOAT32, accumulator=Accumulator(FLOAT32, Order.SPLIT))


def imitated(device: Device) -> list[Answers]:
    """What a machine answers in the calls of a small product of matrices."""
    problem = load_problem(Path(__file__).parents[2] / "problems/gemm-multiply-leakyrelu")
    task = PackageTask(problem, Reference(problem), "float32", device, "a secret")
    case = whole_case(problem, {"m": 20, "n": 30, "k": 40, "alpha": 0.1})
    with closing(device.arena(lay_out(task, case, CALLS).size)) as arena:
        made = Trial(task, case, 0, arena, TrialMemory())
        return [made.evaluate(call, machine=MACHINE) for call in (*range(CALLS), *range(CALLS))]


def test_a_machine_answers_each_call_for_its_own_inputs() -> None:
    first, second, *again = (x["output_matrix"] for x in imitated(CpuDevice()))
    assert not torch.equal(first, second)
    assert all(map(torch.equal, again, (first, second)))


@pytest.mark.gpu
def test_little_work_is_done_on_the_processor_with_the_same_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from harness.device.cuda import CudaDevice

    near = imitated(CudaDevice())
    monkeypatch.setattr(trial, "LITTLE", 0.0)
    there = imitated(CudaDevice())
    for one, other in zip(near, there, strict=True):
        assert one["output_matrix"].is_cuda
        assert torch.equal(one["output_matrix"], other["output_matrix"])


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_part_of_a_larger_tensor_is_compared_like_any_other(rows: int, columns: int) -> None:
    whole = torch.arange(8.0, dtype=torch.float64).view(2, 4)
    part = whole[:rows, :columns]
    assert same_bits(part, part.contiguous())
    assert same_bits(part.mT, part.contiguous().mT)
    assert not same_bits(part, part + 1)


def test_the_sign_of_a_zero_and_conjugates_count() -> None:
    assert not same_bits(torch.tensor(0.0), torch.tensor(-0.0))
    z = torch.tensor([[1 + 2j, 3 - 1j]])[:, :1]
    assert same_bits(z.conj(), torch.tensor([[1 - 2j]]))
    assert not same_bits(z.conj(), z)
