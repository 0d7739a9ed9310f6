"""The constant that one batch costs on this machine, measured with a kernel of our own.

T(R) = c + R · t for a trusted kernel under the protocol of every submission; c is what two process
switches and the launch of a graph take, and what is subtracted from every batch. The kernel runs
≥ 10-20 µs, so that its end is awaited like any other's (a null kernel reads 7 µs too much). Like
every time of a batch, those of one length count by their lower quartile. The same batches tell how
long the judge's probes take on an idle device.
"""

from pathlib import Path

from harness.errors import MachineError
from harness.judge.audit import Usual
from harness.judge.constants import Constants
from harness.judge.measure import BaselineError, Contender
from harness.judge.memory import Device
from harness.judge.session import Fault, Session
from harness.judge.statistics import intercept, lower_quartile
from harness.judge.task import Task
from harness.problem.draws import benchmark_case
from harness.problem.load import load_problem
from harness.problem.model import Problem
from harness.problem.reference import Reference

_CALLS = (1, 2, 4, 8, 16, 24, 32)
_REPEATS = 13


def calibration_problem() -> Problem:
    """The problem whose baseline is the trusted kernel."""
    return load_problem(Path(__file__).with_name("calibration"))


def measure_constants(session: Session, problem: Problem, device: Device) -> Constants:
    """What a batch costs; the session has the trusted kernel loaded.

    Raises:
        MachineError: our own kernel does not run here.
    """
    sizes = problem.benchmarks if device.kind == "cuda" else problem.cpu_benchmarks
    case = benchmark_case(problem, sizes[0])
    task = Task(problem, Reference(problem), problem.dtypes[0], device, "calibration")
    contender = Contender(session, task, trusted=True, capture=device.kind == "cuda")
    points = []
    probes = []
    try:
        for calls in _CALLS:
            contender.setup(case, calls)
            times = []
            for repeat in range(_REPEATS):
                seconds = contender.time(f"calibration/{calls}/{repeat}")
                assert not isinstance(seconds, Fault), "a trusted one raises"
                if repeat:
                    probes.append(Usual(*session.probes))
                    times.append(seconds)
            points.append((float(calls), lower_quartile(times)))
    except BaselineError as error:
        raise MachineError(f"the calibration kernel fails: {error.reason}") from error
    finally:
        contender.release()
    return Constants(max(0.0, intercept(points)[0]), Usual.median(probes))
