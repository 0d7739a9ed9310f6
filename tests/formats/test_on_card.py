"""References of other formats on the judge's card: there, or on the processor where that fails."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import foreign, job, written

from harness.formats.client import Card, ForeignProcess
from harness.formats.known import read_problem
from harness.formats.processes import Problems

PLACES = """
class Model(nn.Module):
    def forward(self, x):
        return x * 0 + x.get_device() + torch.zeros(1).get_device()

def get_inputs():
    return [torch.full((4,), float(torch.zeros(1, device="cuda").get_device()))]

def get_init_inputs():
    return []
"""


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[ForeignProcess]:
    """A process that is told of a card and has none."""
    source = read_problem(written(tmp_path, "set/1_a.py", HEAD + PLACES))
    made = ForeignProcess(source, Card(("/dev/null",), {"CUDA_VISIBLE_DEVICES": ""}))
    yield made
    made.close()


def test_a_card_that_fails_is_left_for_the_processor(broken: ForeignProcess) -> None:
    case = broken.describe(small=False).cases["inputs=1"]
    inputs = broken.draw(case, small=False, seed=1)
    right = broken.right(case, small=False, weights=0, inputs=inputs)
    assert [x.tolist() for x in right.values()] == [[-2.0] * 4]


def test_no_reference_computes_on_the_card_while_times_are_taken(tmp_path: Path) -> None:
    source = read_problem(written(tmp_path, "set/1_a.py", HEAD + PLACES))
    problems = Problems()
    problems.compute_on(("/dev/null",), {"CUDA_VISIBLE_DEVICES": ""})
    said = threading.Event()

    def ask() -> None:
        problems.described(source, small=False)
        said.set()

    asking = threading.Thread(target=ask)
    try:
        with problems.undisturbed():
            asking.start()
            assert not said.wait(0.5)
            described = problems.described(source, small=False)  # by who takes the times
        assert said.wait(60)
        assert described.cases
        problems.compute_on((), {})
        assert problems.described(source, small=False) is not described
    finally:
        asking.join()
        problems.close()


@pytest.mark.gpu
def test_it_is_the_judges_card_and_inputs_are_drawn_on_the_processor(tmp_path: Path) -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    source = read_problem(written(tmp_path, "set/1_a.py", HEAD + PLACES))
    process = ForeignProcess(source, Card(device.nodes(), device.variables()))
    try:
        case = process.describe(small=False).cases["inputs=1"]
        inputs = process.draw(case, small=False, seed=1)
        assert [x.tolist() for x in inputs.values()] == [[-1.0] * 4]
        right = process.right(case, small=False, weights=0, inputs=inputs)
        assert [x.tolist() for x in right.values()] == [[0.0] * 4]
    finally:
        process.close()


@pytest.mark.gpu
@pytest.mark.parametrize("timed", [False, pytest.param(True, marks=pytest.mark.timed)])
def test_a_reference_is_accepted_as_a_submission_with_weights_of_each_call(
    tmp_path: Path, timed: bool
) -> None:
    from harness.device.cuda import CudaDevice
    from harness.grading.grader import Grader
    from harness.grading.job import Options
    from harness.progress.progress import NoProgress

    problem = foreign(written(tmp_path, "set/1_a.py", HEAD + SCALED))
    file = written(tmp_path, "mine.py", (HEAD + SCALED).replace("class Model", "class ModelNew"))
    with Grader(CudaDevice(), NoProgress()) as grader:
        options = Options(timing=timed, quick=True, shrink_s=0.0)
        result = grader.grade(job(problem, file), options)
    assert (result.verdict, result.message) == ("ACCEPTED", "")
    assert "weights: fixed for a grade" not in result.claims
    assert not timed or result.score is not None
