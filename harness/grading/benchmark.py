"""Times of submissions that were right: all shapes, in turns with the baselines of the problem."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.device.memory import Device
from harness.device.monitor import GpuMonitor
from harness.device.roofline import Roofline
from harness.errors import MachineError
from harness.grading.live import so_far
from harness.grading.timing_ready import ReadyToTime
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import footprint
from harness.progress.progress import Progress
from harness.records.measurement import Measurement
from harness.session.fault import Fault
from harness.session.programs import source_program
from harness.session.session import Session
from harness.text.numbers import bytes_
from harness.timing.audit import IdleBaseline, below_sol_fault, busy_device_fault, find_busy_session
from harness.timing.budget import TimingBudget
from harness.timing.measure import Samples, measure_shape, with_baseline
from harness.timing.timed_program import BaselineError, TimedProgram, prepare_for_timing
from harness.timing.trusted import TrustedRunners

_PATIENCE_S = 120.0
"""Seconds for a further baseline, whose first call may compile: it is not on trial."""


class Timing:
    """Takes times on one device.

    What is worth keeping between submissions is kept: the ``trusted`` runners, and how fast the
    device is.
    """

    def __init__(self, device: Device, progress: Progress) -> None:
        self._device = device
        self._progress = progress
        self._ceilings = Roofline(device)
        self.trusted = TrustedRunners(device)

    def measure(
        self,
        ready: ReadyToTime,
        watch: GpuMonitor | None,
        budget: TimingBudget,
        *,
        all_baselines: bool,
    ) -> tuple[Measurement, ...] | Fault:
        """Time all benchmark shapes, in turns with the baseline; then again with further ones.

        What is to be said besides goes into the draft.

        Raises:
            MachineError: no time can be taken on this machine now.
        """
        draft = ready.draft
        task = draft.task

        def told(samples: Samples) -> None:
            self._progress.advance(note=lambda: so_far(*samples))
            if watch is not None:
                watch.read()

        capture = task.device.kind == "cuda"
        cases = benchmark_cases(task)
        self._progress.phase("baseline")
        blank = self.trusted.blank()
        usual = blank.usual if blank else IdleBaseline()
        trusted = TimedProgram(
            self.trusted.baseline(task), task, trusted=True, capture=capture, usual=usual
        )
        submission = prepare_for_timing(ready.session, ready.restart, task, cases[0], usual)
        if isinstance(submission, Fault):
            return submission
        if capture and not submission.capture:
            draft.notes.append("cannot be captured in a CUDA graph: timed as plain calls")

        def beside(
            baseline: TimedProgram, task: Task, over: str
        ) -> tuple[Measurement, ...] | Fault:
            measured: list[Measurement] = []
            for case in cases:
                self._progress.phase(f"time {case.spec}{over}", budget.max_blocks)
                outcome = measure_shape(task, case, submission, baseline, budget, blank, told)
                if isinstance(outcome, Measurement):
                    outcome = self._against_light(task, case, outcome, usual)
                if isinstance(outcome, Fault):
                    draft.output = submission.session.output()
                    if outcome.shared:
                        find_busy_session([submission.session], self._device, usual)
                    draft.fail_timed(case, outcome)
                    return outcome
                measured.append(outcome)
            return tuple(measured)

        try:
            measured = beside(trusted, task, "")
            trusted.release()
            if isinstance(measured, Fault) or not all_baselines:
                return measured
            for name in list(task.problem.baselines)[1:]:
                outcome = self._further(task, name, usual, beside)
                if isinstance(outcome, Fault):
                    return outcome
                if isinstance(outcome, str):
                    draft.notes.append(outcome)
                else:
                    measured = with_baseline(measured, name, outcome)
            return measured
        finally:
            submission.release()
            trusted.release()

    def _further(
        self,
        task: Task,
        name: str,
        usual: IdleBaseline,
        beside: Callable[[TimedProgram, Task, str], tuple[Measurement, ...] | Fault],
    ) -> tuple[Measurement, ...] | Fault | str:
        """Times in turns with another baseline, or a note that it does not run here.

        It has a process of its own, so that nothing it does lingers, and inputs that none had yet.
        """
        program = source_program(task.problem.baselines[name].read_bytes())
        fresh = replace(task, seed=f"{task.seed}/{name}")
        limits = replace(task.problem.limits, prepare_s=_PATIENCE_S, call_s=_PATIENCE_S)
        with Session(program, self._device, limits) as session:
            capture = task.device.kind == "cuda"
            baseline = TimedProgram(session, fresh, trusted=True, capture=capture, usual=usual)
            try:
                if (fault := session.load()) is not None:
                    return f"the baseline {name} does not run here: {fault.message}"
                return beside(baseline, fresh, f" beside {name}")
            except BaselineError as error:
                return f"the baseline {name} does not run here: {error.reason}"
            finally:
                baseline.release()

    def _against_light(
        self, task: Task, case: Case, measured: Measurement, usual: IdleBaseline
    ) -> Measurement | Fault:
        """``measured`` with the least time that the device needs, if it is not below that.

        That may have to be measured first, and is kept: nothing must slow the device down now.
        """
        if (fault := busy_device_fault(self._device.probe, usual)) is not None:
            return fault
        strict = self._ceilings.sol_time_s(task.problem, case, task.dtype, strict=True)
        if strict is not None:
            fault = below_sol_fault(measured.time_s.value, strict, case.spec)
            if fault is not None:
                return fault
        sol_time_s = self._ceilings.sol_time_s(task.problem, case, task.dtype, strict=False)
        return measured.model_copy(update={"sol_time_s": sol_time_s})


def benchmark_cases(task: Task) -> Sequence[Case]:
    """The timed shapes.

    Raises:
        MachineError: the device has not the memory for one of them.
    """
    problem, device = task.problem, task.device
    cases = problem.timed_cases(emulated=device.kind != "cuda")
    free = device.free_bytes()
    for case in cases:
        needed = footprint(problem, case, task.dtype)
        if needed > free:
            raise MachineError(
                f"{problem.slug} cannot be timed on {device.name}: {case.spec} in {task.dtype} "
                f"needs about {bytes_(needed)} of memory, and {bytes_(free)} are free"
            )
    return cases
