"""References of other formats on the judge's card: there, or on the processor where that fails."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from formats import flashinfer_problems, gpumode_problems, leetgpu_problems, tensara_problems
from formats.kernelbench_problems import HEAD, SCALED
from support.corpus import rest_in_corpus
from support.foreign import foreign, graded, grading, job, written

from harness.author.client import AuthorError
from harness.device.cpu import CpuDevice, HostArena
from harness.errors import UsageError
from harness.formats.card import Card
from harness.formats.client import ForeignProcess
from harness.formats.known import read_problem
from harness.formats.processes import PROBLEMS, Problems
from harness.judge.batch import Batch
from harness.judge.cases import CaseOutcome
from harness.judge.layout import lay_out
from harness.judge.replay import _small_tensors
from harness.judge.task import Task
from harness.problem.case import Case, CaseLimits
from harness.problem.terms import Streamed
from harness.records.cases import CaseResult
from harness.records.result import Verdict
from harness.session.fault import Fault

PLACES = """
class Model(nn.Module):
    def forward(self, x):
        return x * 0 + x.get_device() + torch.zeros(1).get_device()

def get_inputs():
    return [torch.full((4,), 10.0 + torch.zeros(1, device="cuda").get_device())]

def get_init_inputs():
    return []
"""


class WithCard(CpuDevice):
    """A machine with a card, or what is taken for one."""

    def nodes(self) -> tuple[str, ...]:
        return ("/dev/null",)

    def variables(self) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": ""}


def pretended(device: str) -> Card:
    """A card with the host's memory; torch knows its device, or fails."""
    return Card(("/dev/null",), {"CUDA_VISIBLE_DEVICES": ""}, HostArena, device)


@contextmanager
def process(folder: Path, card: Card | None, text: str = PLACES) -> Iterator[ForeignProcess]:
    made = ForeignProcess(read_problem(written(folder, "set/1_a.py", HEAD + text)), card)
    try:
        yield made
    finally:
        made.close()


def seen(one: ForeignProcess) -> tuple[list[float], list[float], bool]:
    """What is drawn and what is right, and whether the card's memory is used."""
    told = one.describe(small=False)
    case, on_card = told.cases["inputs=1"], told.on_card
    inputs = one.draw(case, small=False, seed=1, on_card=on_card)
    right = one.right(case, small=False, weights=0, inputs=inputs, on_card=on_card)
    return inputs["x"].tolist(), right["output"].tolist(), on_card


def test_a_card_that_fails_is_left_for_the_processor(tmp_path: Path) -> None:
    with process(tmp_path, pretended("cuda:0")) as broken:
        assert seen(broken) == ([9.0] * 4, [-2.0] * 4, False)


def test_a_card_takes_what_is_drawn_and_what_is_right(tmp_path: Path) -> None:
    with process(tmp_path, pretended("cpu")) as near:
        assert seen(near) == ([9.0] * 4, [-2.0] * 4, True)


def test_another_process_draws_the_same_before_it_has_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = PLACES.replace("torch.full((4,), 10.0 + ", "torch.rand(4) + (0 * ")
    drawn = []
    with process(tmp_path, pretended("cpu"), drawing) as near:
        case = near.describe(small=False).cases["inputs=1"]
        for _ in range(2):
            drawn.append(near.draw(case, small=False, seed=3, on_card=True)["x"])
            near.close()
        through = near.draw(case, small=False, seed=3, on_card=True, through_host=True)["x"]
        monkeypatch.setattr("harness.formats.client._PIECE_BYTES", 3 * 4)
        pieces = torch.empty(4)
        (spec,) = case.read
        near.draw_to(pieces, spec, case, small=False, seed=3)
    assert torch.equal(*drawn)
    assert torch.equal(drawn[0], through) and torch.equal(drawn[0], pieces)


WITH_TESTS = {
    "tensara": lambda folder: tensara_problems.checkout(folder, "add", tensara_problems.ADD),
    "host": lambda folder: tensara_problems.checkout(folder, "greatest", tensara_problems.GREATEST),
    "leetgpu": lambda folder: leetgpu_problems.checkout(folder, "1_s", leetgpu_problems.SCALE),
    "gpumode": lambda folder: gpumode_problems.checkout(folder, "sort", gpumode_problems.SORT),
    "flashinfer": lambda folder: flashinfer_problems.checkout(
        folder, "norm", flashinfer_problems.NORM, flashinfer_problems.NORM_WORK
    ),
}
"""Formats whose problems have several tests, and a checkout of one."""


@pytest.mark.parametrize("make", WITH_TESTS.values(), ids=WITH_TESTS)
@pytest.mark.parametrize("device", rest_in_corpus(["cpu", "cuda:0"]))
def test_other_formats_inputs_are_drawn_on_a_card_that_works(
    tmp_path: Path, make: Callable[[Path], Path], device: str
) -> None:
    one = ForeignProcess(read_problem(make(tmp_path)), pretended(device))
    with closing(one):
        told = one.describe(small=False)
        assert told.on_card == (device == "cpu")
        assert not any(claim.startswith("sizes:") for claim in told.claims)
        case = list(told.cases.values())[1]
        drawn = [one.draw(case, small=False, seed=s, on_card=told.on_card) for s in (3, 3, 4)]
        first, again, other = (
            torch.cat([x.double().flatten() for x in each.values()]) for each in drawn
        )
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        right = one.right(case, small=False, weights=0, inputs=drawn[0], on_card=told.on_card)
        assert all(bool(x.isfinite().all()) for x in right.values())
        assert {*right} == {spec.name for spec in case.compared}


def test_a_formats_own_check_looks_at_what_lies_on_the_card(tmp_path: Path) -> None:
    made = gpumode_problems.checkout(tmp_path, "property", gpumode_problems.PROPERTY)
    with closing(ForeignProcess(read_problem(made), pretended("cpu"))) as one:
        told = one.describe(small=False)
        case = next(iter(told.cases.values()))
        assert told.on_card and case.own
        inputs = one.draw(case, small=False, seed=3, on_card=True)
        right = one.right(case, small=False, weights=0, inputs=inputs, on_card=True)
        for factor, said in ((1.0, True), (1.5, False)):
            outputs = {
                spec.name: (factor * right[spec.name]).to(getattr(torch, spec.dtype))
                for spec in case.compared
            }
            given = {"small": False, "inputs": inputs, "outputs": outputs}
            assert one.check(case, on_card=True, **given) is said


LARGE = """
def generate_input(seed, size=0):
    return torch.randn(2048, 1024, device="cuda", generator=generator(seed))

def ref_kernel(data):
    return data * 2

check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
"""
LACKING = """
    if not torch.are_deterministic_algorithms_enabled():  # as they are on a card alone
        raise NotImplementedError("Could not run 'aten::rare' with arguments from the 'CPU'")
"""


@pytest.mark.corpus
@pytest.mark.parametrize("lacking", [False, True])
def test_what_no_processor_can_try_is_tried_on_the_card(tmp_path: Path, lacking: bool) -> None:
    text = gpumode_problems.HEAD + LARGE
    if lacking:
        text = text.replace("2048, 1024", "20, 10").replace("data):\n", "data):" + LACKING, 1)
    made = gpumode_problems.checkout(tmp_path, "double", text, '  - {"seed": 7}\n  - {"seed": 8}')
    why = "Could not run 'aten::rare'" if lacking else "too large for a processor"
    for card in (None, pretended("cuda:0")):
        without = ForeignProcess(read_problem(made), card)
        with closing(without), pytest.raises(AuthorError, match=why):
            without.describe(small=False)
    with closing(ForeignProcess(read_problem(made), pretended("cpu"))) as one:
        told = one.describe(small=False)
        assert told.on_card and [*told.cases][:2] == ["test=1", "test=2"]
        case = told.cases["test=2"]
        assert (case.rtol, case.atol, case.own) == (1e-3, 1e-3, False)
        assert "inputs: fixed" not in told.claims
        inputs = one.draw(case, small=False, seed=3, on_card=True)
        right = one.right(case, small=False, weights=0, inputs=inputs, on_card=True)
        ((name, drawn),) = inputs.items()
        assert torch.equal(right["output"], 2.0 * drawn.double()), name


REMEMBERS = """
class ModelNew(Model):
    known = {}

    def forward(self, *arguments):
        key = tuple(each.data_ptr() for each in arguments)
        if key not in self.known:
            self.known[key] = Model.forward(self, *arguments)
        return self.known[key]
"""


def right_and_stale(folder: Path) -> tuple[Path, Path]:
    """A submission that is right, and one that remembers its answers by addresses."""
    right = written(folder, "right.py", (HEAD + SCALED).replace("class Model", "class ModelNew"))
    return right, written(folder, "stale.py", HEAD + SCALED + REMEMBERS)


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Judges take the processor for a card."""
    made = classmethod(lambda _, machine: pretended("cpu") if machine.nodes() else None)
    monkeypatch.setattr(Card, "of", made)
    yield
    PROBLEMS.compute_on(CpuDevice())


@pytest.mark.corpus
def test_grades_with_all_tensors_on_the_card(
    near: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = foreign(written(tmp_path, "set/1_a.py", HEAD + SCALED))
    own = (HEAD + SCALED).replace("class Model", "class ModelNew")
    with grading() as grader:
        PROBLEMS.compute_on(WithCard())
        right = graded(grader, problem, written(tmp_path, "own.py", own))
        off = own.replace("return ", "return 1.01 * ")
        wrong = graded(grader, problem, written(tmp_path, "off.py", off))
        assert PROBLEMS.described(problem.source, small=True).on_card
    assert (right.verdict, right.message) == ("ACCEPTED", "")
    assert "weights: fixed for a grade" not in right.claims
    assert wrong.verdict == "WRONG_ANSWER"


BY_ROWS = (
    HEAD
    + "from harness.formats.process import model_file\nmodel_file.LARGE = 0\n"
    + SCALED.replace("batch_size = 512", "batch_size = 12")
)
"""Whether its rows depend on each other is looked at though they are few."""


@pytest.mark.corpus
def test_a_small_cards_memory_is_for_the_calls_alone(
    near: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PROBLEMS.compute_on(WithCard())
    asked: list[tuple[str, bool]] = []
    for name in ("draw", "draw_to", "right"):
        ask = getattr(ForeignProcess, name)

        def noted(
            self: ForeignProcess, *given: Any, name: str = name, ask: Any = ask, **named: Any
        ) -> Any:
            assert named.get("on_card", True) or name == "right"  # all is drawn there
            asked.append((name, named.get("on_card", True)))
            return ask(self, *given, **named)

        monkeypatch.setattr(ForeignProcess, name, noted)
    monkeypatch.setattr("harness.formats.plans._PIECE_BYTES", 200_000)
    monkeypatch.setattr("harness.formats.client._LARGE", 1)  # as what takes gigabytes is
    problem = foreign(written(tmp_path, "set/1_a.py", BY_ROWS))

    def cases(room: int | None) -> list[Case]:
        return problem.draw_cases("s", dtype="float32", room=CaseLimits(bytes=room))

    there, *_ = cases(None)
    alone, *_ = cases(problem.footprint(there) - 1)
    rows = problem.parse_case(there.spec + ",answers=rows")
    here, *_ = cases(min(problem.footprint(each) for each in (alone, rows)) - 1)
    assert alone.spec == there.spec + ",calls=1"
    assert here.spec == there.spec + ",answers=host"
    assert 1 <= problem.concrete(rows)[0].rows < 12
    assert (there.singly, alone.singly, rows.singly, here.singly) == (False, True, True, True)
    assert [problem.is_streamed(each) for each in (alone, rows, here)] == [False, True, True]
    assert all(problem.parse_case(each.spec) == each for each in (alone, rows, here))
    assert problem.footprints(emulated=False) == [problem.footprint(here)] * 2
    with pytest.raises(UsageError, match="checking its smallest case takes"):
        cases(problem.footprint(here) - 1)
    assert problem.within(there, problem.footprint(there)) == there
    assert problem.within(there, problem.footprint(rows)) == rows
    assert problem.within(there, problem.footprint(rows) - 1) == here
    assert problem.within(there, problem.footprint(here) - 1) is None
    assert problem.within(rows, problem.footprint(rows) - 1) is None

    task = Task(problem, problem.reference(), "float32", WithCard(), "s")
    ways = (
        (there, "draw", True),
        (alone, "draw", True),
        (rows, "draw_to", True),
        (here, "draw_to", False),
    )
    for case, drawn_by, right_there in ways:
        asked.clear()
        remembered: Any = {"x": SimpleNamespace(is_cuda=True, nbytes=1)}
        PROBLEMS._kept[("on the card",)] = remembered
        with closing(HostArena(lay_out(task, case, 2).size)) as arena:
            batch = Batch(task, case, arena, 2, portable=True)
            batch.fill("seed")
            assert (("on the card",) in PROBLEMS._kept) == (drawn_by == "draw")  # or made room
            for call in range(2):
                for name, want in batch.expectations(call).items():
                    batch.outputs(call)[name].copy_(want.expected)
            with monkeypatch.context() as patch:
                patch.setattr(Streamed, "_whole", None)  # there may be no room for it
                assert batch.check() is None
                batch.outputs(1)["output"][3, 5] += 1
                wrong = batch.check()
                fault = Fault(Verdict.WRONG_ANSWER, "")
                outcome = CaseOutcome(CaseResult(spec=case.spec, passed=False), fault, 1)
                assert _small_tensors(task, batch, outcome, fault) == ()
        assert wrong is not None
        assert (wrong.call, wrong.mismatch and wrong.mismatch.first.index) == (1, (3, 5))
        assert {*asked} == {(drawn_by, True), ("right", right_there)}


def test_rows_are_not_asked_for_where_they_depend_on_each_other(near: None, tmp_path: Path) -> None:
    PROBLEMS.compute_on(WithCard())
    problem = foreign(written(tmp_path, "set/1_a.py", HEAD + PLACES))
    with pytest.raises(UsageError, match="not had by rows here"):
        problem.parse_case("inputs=1,weights=7,answers=rows")
    assert problem.parse_case("inputs=1,weights=7,answers=host").singly


@pytest.mark.corpus
@pytest.mark.parametrize("plan", [",calls=1", ",answers=rows", ",answers=host"])
def test_calls_one_at_a_time_have_inputs_of_their_own(
    near: None, tmp_path: Path, plan: str
) -> None:
    problem = foreign(written(tmp_path, "set/1_a.py", BY_ROWS))
    right, stale = right_and_stale(tmp_path)
    with grading() as grader:
        PROBLEMS.compute_on(WithCard())
        (first, *_) = problem.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))
        case = first.spec + plan
        good = graded(grader, problem, right, case=case)
        bad = graded(grader, problem, stale, case=case)
    assert (good.verdict, good.message) == ("ACCEPTED", "")
    assert bad.verdict == "WRONG_ANSWER"


@pytest.mark.parametrize(("gib", "started"), [(40, 3), (8, 6)])
def test_what_is_described_ahead_is_described_once_where_there_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gib: int, started: int
) -> None:
    texts = (HEAD + PLACES + "#" * n for n in range(3))
    files = [written(tmp_path, f"set/{n}_a.py", text) for n, text in enumerate(texts, 1)]
    sources = [read_problem(file) for file in files]
    machine, problems, starts = CpuDevice(), Problems(), []
    monkeypatch.setattr(machine, "free_bytes", lambda: gib << 30)
    begin = ForeignProcess.load
    monkeypatch.setattr(
        ForeignProcess, "load", lambda self, sandbox: (starts.append(1), begin(self, sandbox))
    )
    problems.compute_on(machine)
    try:
        for source in sources:
            problems.described(source, small=True)
        for source in sources:
            (case, *_) = problems.described(source, small=True).cases.values()
            problems.drawn(source, case, small=True, seed=1)
    finally:
        problems.close()
    assert len(starts) == started


def test_no_reference_computes_on_the_card_while_times_are_taken(
    near: None, tmp_path: Path
) -> None:
    source = read_problem(written(tmp_path, "set/1_a.py", HEAD + PLACES))
    problems = Problems()
    problems.compute_on(WithCard())
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
        problems.compute_on(CpuDevice())
        assert problems.described(source, small=False) is not described
    finally:
        asking.join()
        problems.close()


@pytest.mark.gpu
def test_it_is_the_judges_card(tmp_path: Path) -> None:
    from harness.device.cuda import CudaDevice

    with process(tmp_path, Card.of(CudaDevice())) as there:
        assert seen(there) == ([10.0] * 4, [0.0] * 4, True)


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


SOLUTIONS = {
    "tensara": "def solution(a, b, c, n): c.copy_(a + b)",
    "leetgpu": "def solve(x, y, a, n): y.copy_(x * a)",
    "gpumode": gpumode_problems.ACCEPTED["sort"][1],
    "flashinfer": flashinfer_problems.ACCEPTED["norm"][2],
    "host": "def solution(x, dim, place, shape, ndim):\n"
    "    assert not shape.is_cuda and tuple(shape.tolist()) == x.shape\n"
    "    place.copy_(x.argmax(dim))",
    "host.cu": """
        __global__ void greatest(const float* x, int* place, int before, int length, int after) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= before * after) return;
          const float* first = x + i / after * length * after + i % after;
          int best = 0;
          for (int j = 1; j < length; j++) if (first[j * after] > first[best * after]) best = j;
          place[i] = best;
        }
        extern "C" void solution(const float* x, int dim, int* place, const int* shape, size_t n) {
          int before = 1, after = 1;
          for (size_t d = 0; d < n; d++) if (d < dim) before *= shape[d];
          for (size_t d = dim + 1; d < n; d++) after *= shape[d];
          greatest<<<(before * after + 63) / 64, 64>>>(x, place, before, shape[dim], after);
        }
    """,
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", SOLUTIONS)
def test_other_formats_are_graded_with_all_tensors_on_the_card(tmp_path: Path, name: str) -> None:
    from harness.device.cuda import CudaDevice
    from harness.grading.grader import Grader
    from harness.grading.job import Options
    from harness.progress.progress import NoProgress

    kind, _, suffix = name.partition(".")
    problem = foreign(WITH_TESTS[kind](tmp_path))
    file = written(tmp_path, f"mine.{suffix or 'py'}", SOLUTIONS[name])
    with Grader(CudaDevice(), NoProgress()) as grader:
        options = Options(timing=False, quick=True, shrink_s=0.0)
        result = grader.grade(job(problem, file), options)
    assert (result.verdict, result.message) == ("ACCEPTED", "")
    assert PROBLEMS.described(problem.source, small=False).on_card


@pytest.mark.gpu
@pytest.mark.parametrize("plan", ["", ",calls=1", ",answers=rows", ",answers=host"])
def test_whatever_lies_on_the_card_right_is_right_and_what_is_remembered_wrong(
    tmp_path: Path, plan: str
) -> None:
    from harness.device.cuda import CudaDevice
    from harness.grading.grader import Grader
    from harness.progress.progress import NoProgress

    problem = foreign(written(tmp_path, "set/1_a.py", BY_ROWS))
    right, stale = right_and_stale(tmp_path)
    with Grader(CudaDevice(), NoProgress()) as grader:
        (first, *_) = problem.draw_cases("s", dtype="float32", room=CaseLimits())
        good = graded(grader, problem, right, case=first.spec + plan)
        bad = graded(grader, problem, stale, case=first.spec + plan)
    assert (good.verdict, good.message) == ("ACCEPTED", "")
    assert bad.verdict == "WRONG_ANSWER" or not plan  # its first two calls have two addresses


CROWDED = """
from harness.formats.process.place import PLACE

class Model(nn.Module):
    def forward(self, x):
        on_card = torch.are_deterministic_algorithms_enabled()
        if on_card and WHERE:
            held = torch.zeros(1 << 29, device="cuda")
            raise torch.OutOfMemoryError
        return torch.softmax(x, dim=DIM)

def get_inputs():
    return [torch.rand(100, 4000)]

def get_init_inputs():
    return []
"""


@pytest.mark.gpu
@pytest.mark.timed  # by itself: what others take of the card's memory would count
@pytest.mark.parametrize(
    ("where", "dim", "on_card"),
    [
        ("x.dtype == torch.float64 and len(x) > 20", 1, True),
        ("x.dtype == torch.float64 and len(x) > 20", 0, False),
        ("True", 1, False),
        ("PLACE._describing and PLACE.draws and not PLACE.keeps_apart", 0, True),
    ],
    ids=["in parts", "float64 on the processor", "all on the processor", "answers apart"],
)
def test_a_card_without_room_has_all_its_memory_back(
    tmp_path: Path, where: str, dim: int, on_card: bool
) -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    text = CROWDED.replace("WHERE", where).replace("DIM", str(dim))
    with process(tmp_path, Card.of(device), text) as one:
        before = device.free_bytes()
        told = one.describe(small=False)
        assert told.on_card == on_card
        case = told.cases["inputs=1"]
        inputs = one.draw(case, small=False, seed=1, on_card=on_card)
        right = one.right(case, small=False, weights=0, inputs=inputs, on_card=on_card)["output"]
        exact = torch.softmax(inputs["x"].double(), dim=dim)
        torch.testing.assert_close(right, exact, rtol=1e-12, atol=1e-12)
        assert before - device.free_bytes() < 1 << 30  # its context; it held 2 GiB
