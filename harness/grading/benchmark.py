"""Benchmarks: times of an accepted submission on all timed shapes, in turns with the baselines."""

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from torch import OutOfMemoryError

from harness.device.base import Device, Exclusive, OutOfDeviceMemory
from harness.device.roofline import Roofline
from harness.errors import MachineError
from harness.formats.problem import Foreign
from harness.grading.result_builder import ResultBuilder, TimedFault
from harness.grading.weights import reference_task
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import footprint
from harness.progress.progress import Progress
from harness.records.measurement import Measurement
from harness.session.fault import Fault
from harness.session.programs import source_program
from harness.session.session import Session
from harness.text import numbers
from harness.timing.audit import (
    IdleBaseline,
    below_sol_fault,
    busy_device_fault,
    find_busy_session,
)
from harness.timing.baseline_by_itself import keep_times, time_by_itself
from harness.timing.budget import TimingBudget
from harness.timing.foreign import CannotBeTimed, foreign_budget, reference_session
from harness.timing.measure import measure_shape, with_baseline
from harness.timing.sizing import Samples
from harness.timing.statistics import ratio_interval, time_interval
from harness.timing.timed_program import (
    BaselineError,
    CallSize,
    KeptTimes,
    TimedProgram,
    prepare_for_timing,
)
from harness.timing.trusted import TrustedRunners

_PREPARE_S = 120.0
"""Seconds for a further baseline, whose first call may compile."""
_WARM_S = TimingBudget().warm_s
"""Seconds that a cold device is at work before times are taken that are kept, at any effort."""
_WARMED = 0.75
"""The part of a warm-up that is done where the device was warm a few seconds ago: checks are at
work on it between two measurements."""


Measured = tuple[Measurement, ...] | TimedFault


@dataclass(frozen=True, slots=True)
class ReadyToTime:
    """A submission that was right in all cases: ``session`` has the program that is timed.

    ``restart`` makes another session like it.
    """

    session: Session
    restart: Callable[[], Session | Fault]


class _Kept(NamedTuple):
    """Times of a problem's baseline by itself."""

    since: float
    """When they were taken, by :func:`time.monotonic`."""
    times: dict[str, KeptTimes]
    """By the spec of their case."""


class Benchmark:
    """Takes times on one device; has its trusted runners, and its roofline once measured."""

    def __init__(self, device: Device, progress: Progress) -> None:
        self.progress = progress
        self.roofline = Roofline(device)
        self.trusted = TrustedRunners(device)
        self._sizes: dict[tuple[str, str], dict[str, CallSize]] = {}
        self._kept: dict[tuple[str, str], _Kept] = {}

    def sizes(self, task: Task) -> dict[str, CallSize]:
        """What calls of a problem's baseline took in earlier grades, by the spec of their case."""
        return self._sizes.setdefault(_key(task), {})

    def keeps(self, task: Task, budget: TimingBudget) -> bool:
        """Whether all times of the baseline that the budget has kept are there, and not too old."""
        if not budget.baseline_kept_s or task.problem.format or not task.problem.baselines:
            return True
        kept = self._kept.get(_key(task))
        return kept is not None and time.monotonic() - kept.since < budget.baseline_kept_s

    def keep(self, task: Task, held: Exclusive, budget: TimingBudget) -> None:
        """Time the baseline by itself, for the measurements that come.

        The device is ``held``, and no submission may have a process. Shapes for which the device
        has no memory are timed in turns.

        Raises:
            MachineError: the baseline does not run here.
        """
        run = _Run(self, task, held, budget)
        session = self.trusted.baseline(task)
        baseline = run.trusted(session, reference_task(task), name="baseline")
        kept = _Kept(time.monotonic(), {})
        warm_s = 0.0 if held.warm else _WARM_S
        try:
            for case in run.cases:
                with suppress(OutOfDeviceMemory, OutOfMemoryError):
                    kept.times[case.spec] = run.kept_times(baseline, case, warm_s)
                    warm_s = 0.0
        finally:
            baseline.make_room()
        self._kept[_key(task)] = kept
        held.note_warm()

    def _kept_times(self, task: Task, budget: TimingBudget) -> dict[str, KeptTimes]:
        """Times of the baseline by itself, by the spec of their case."""
        kept = self._kept.get(_key(task)) if budget.baseline_kept_s else None
        return {} if kept is None else kept.times

    def measure(
        self, draft: ResultBuilder, ready: ReadyToTime, held: Exclusive, budget: TimingBudget
    ) -> Measured:
        """Times of all benchmark shapes, in turns with the baseline; then again with further ones.

        The device is ``held``; ``draft`` gets notes.

        Raises:
            MachineError: no time can be taken on this machine now.
            CannotBeTimed: nor of this one, whose problem is of another format.
        """
        task = draft.task
        run = _Run(self, task, held, budget)
        if not task.problem.format:
            return self._beside(draft, ready, run, self.trusted.baseline(task))
        try:
            with reference_session(task, run.cases) as session:
                return self._beside(draft, ready, run, session)
        except BaselineError as error:  # its author's doing, and no reason to judge nothing
            raise CannotBeTimed(f"its reference failed beside it: {error.reason}") from error
        except (OutOfDeviceMemory, OutOfMemoryError) as error:  # nor a reason to judge nothing
            raise CannotBeTimed(f"no memory for it and its reference: {error}") from error

    def _beside(
        self, draft: ResultBuilder, ready: ReadyToTime, run: "_Run", beside: Session
    ) -> Measured:
        """The measurement in turns with the first baseline, which the session ``beside`` has."""
        task, held = draft.task, run.held
        baseline = run.trusted(
            beside,
            reference_task(task),
            name="baseline",
            sizes=self.sizes(task),
            kept=self._kept_times(task, run.budget),
        )
        submission = prepare_for_timing(
            ready.session,
            ready.restart,
            task,
            run.cases[0],
            cpu=held.runner_cpu,
            idle=run.idle,
            monitor=held.monitor,
        )
        if isinstance(submission, Fault):
            return TimedFault(submission)
        submission.elapsed_s = _WARMED * run.budget.warm_s if held.warm else 0.0
        if task.device.captures_graphs and not submission.capture:
            draft.notes.append("cannot be captured in a CUDA graph: timed as plain calls")
        try:
            measured = run.beside(submission, baseline, task)
            baseline.make_room()
            if isinstance(measured, TimedFault):
                return measured
            further = list(task.problem.baselines)[1:] if draft.options.all_baselines else []
            for name in further:
                outcome = run.beside_further(submission, name)
                if isinstance(outcome, TimedFault):
                    return outcome
                if isinstance(outcome, str):
                    draft.notes.append(outcome)
                else:
                    measured = with_baseline(measured, name, outcome)
            if draft.options.rough:  # nothing more is timed
                return measured
            submission.session.close()
            submission.release()
            return run.baseline_by_itself(baseline, measured)
        finally:
            if submission.elapsed_s >= run.budget.warm_s:  # else it ended before that
                held.note_warm()
            submission.release()
            baseline.make_room()  # its runner takes part in the next grade, too


def _key(task: Task) -> tuple[str, str]:
    """What tells baselines apart: the problem's version and the data type."""
    return task.problem.hash, task.dtype


class _Run:
    """The measurement of one submission: what stays the same over its shapes and baselines."""

    def __init__(self, bench: Benchmark, task: Task, held: Exclusive, budget: TimingBudget) -> None:
        self.cases = benchmark_cases(task)
        self._progress = bench.progress
        self._progress.phase("baseline")
        self._overhead = bench.trusted.overhead(held.runner_cpu)
        self.idle = self._overhead.idle if self._overhead else IdleBaseline()
        self._roofline = bench.roofline
        self._task = task
        capture, cpu = task.device.captures_graphs, held.runner_cpu
        self.trusted = partial(
            TimedProgram,
            trusted=True,
            capture=capture,
            cpu=cpu,
            idle=self.idle,
            monitor=held.monitor,
        )
        self.held = held
        of_each = budget.for_shapes(len(self.cases))
        self.budget = foreign_budget(of_each) if task.problem.format else of_each

    def beside(
        self, submission: TimedProgram, baseline: TimedProgram, task: Task, over: str = ""
    ) -> Measured:
        """Times of all shapes in turns with one baseline."""
        measured: list[Measurement] = []
        after_block = on_block(self._progress, self.held)
        for case in self.cases:
            self._progress.phase(f"time {case.spec}{over}", self.budget.max_blocks)
            outcome = measure_shape(
                task, case, submission, baseline, self.budget, self._overhead, after_block
            )
            if isinstance(outcome, Measurement):
                outcome = self._against_roofline(task, case, outcome)
            if isinstance(outcome, Fault):
                output = submission.session.output()
                if outcome.shared:  # another program's doing is an error of the machine
                    suspects = [submission.session]
                    find_busy_session(suspects, task.device, self.idle, self.held.monitor)
                return TimedFault(outcome, case, output)
            measured.append(outcome)
        return tuple(measured)

    def beside_further(self, submission: TimedProgram, name: str) -> Measured | str:
        """Times in turns with another baseline, in its own process and on fresh inputs.

        Or a note that it does not run here.
        """
        task = replace(self._task, seed=f"{self._task.seed}/{name}")
        program = source_program(task.problem.baselines[name].read_bytes())
        limits = replace(task.problem.limits, prepare_s=_PREPARE_S, call_s=_PREPARE_S)
        with Session(program, task.device, limits) as session:
            baseline = self.trusted(session, task, name=name)
            try:
                if (fault := session.load()) is not None:
                    return f"the baseline {name} does not run here: {fault.message}"
                return self.beside(submission, baseline, task, f" beside {name}")
            except BaselineError as error:
                return f"the baseline {name} does not run here: {error.reason}"
            finally:
                baseline.release()

    def kept_times(self, baseline: TimedProgram, case: Case, warm_s: float) -> KeptTimes:
        """Times of the baseline on one shape, by itself, after ``warm_s`` of work."""
        self._progress.phase(f"time the baseline on {case.spec}")
        return keep_times(baseline, self._task, case, self.budget, self._overhead, warm_s)

    def baseline_by_itself(
        self, baseline: TimedProgram, measured: tuple[Measurement, ...]
    ) -> tuple[Measurement, ...]:
        """``measured``, a secret shape of it with the baseline's time without the submission.

        Raises:
            BaselineError: the baseline failed.
        """
        if self._overhead is None:
            return measured
        self._progress.phase("time the baseline by itself")
        chosen = secrets.randbelow(len(measured))
        again = time_by_itself(
            baseline,
            self._task,
            self.cases[chosen],
            measured[chosen],
            self.budget,
            self._overhead,
        )
        return (*measured[:chosen], again, *measured[chosen + 1 :])

    def _against_roofline(
        self, task: Task, case: Case, measured: Measurement
    ) -> Measurement | Fault:
        """``measured`` with the least time that the device needs; a fault if it is below that.

        The roofline may be measured first, and is kept: so the device must be idle.
        """
        if (fault := busy_device_fault(task.device.probe, self.idle)) is not None:
            return fault
        strict_s = self._roofline.sol_time_s(task.problem, case, task.dtype, strict=True)
        if strict_s is not None:
            fault = below_sol_fault(measured.time_s.value, strict_s, case.spec)
            if fault is not None:
                return fault
        sol_time_s = self._roofline.sol_time_s(task.problem, case, task.dtype, strict=False)
        return measured.model_copy(update={"sol_time_s": sol_time_s})


def on_block(progress: Progress, held: Exclusive) -> Callable[[Samples], None]:
    """A callback for each block: shows the times so far, and reads the device's monitor."""

    def after_block(samples: Samples) -> None:
        progress.advance(note=lambda: so_far(samples))
        if held.monitor is not None:
            held.monitor.read()

    return after_block


def so_far(samples: Samples) -> str:
    """``12.31 ± 0.04 µs, 1.31× ± 0.02``: time per call and speed-up, from the blocks so far."""
    times, baseline = samples
    time = numbers.seconds_interval(time_interval(times))
    return f"{time}, {numbers.ratio(ratio_interval(baseline, times))}"


def benchmark_cases(task: Task) -> Sequence[Case]:
    """The timed shapes; of a problem in another format those that the device has memory for.

    Raises:
        MachineError: the device has not the memory for one of a package's.
        CannotBeTimed: nor for any of a problem in another format.
    """
    problem, device = task.problem, task.device
    cases = problem.timed_cases(emulated=device.emulated)
    free = device.free_bytes()
    if isinstance(problem, Foreign):
        fitted = (problem.within(case, free) for case in cases)
        fit = [case for case in fitted if case is not None]
        if not fit:
            raise CannotBeTimed(f"{numbers.bytes_(free)} of memory are free on {device.name}")
        return fit
    for case in cases:
        needed = footprint(problem.tensors_of(case, task.dtype))
        if needed > free:
            raise MachineError(
                f"{problem.slug} cannot be timed on {device.name}: {case.spec} in {task.dtype} "
                f"needs about {numbers.bytes_(needed)} of memory, and {numbers.bytes_(free)} are "
                "free"
            )
    return cases
