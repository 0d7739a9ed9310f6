"""A judge's process that grades nothing: what it does with a file follows from its name.

``die…`` kills it, each time; ``die-once…`` the first time; ``die-on-1…`` on card 1 alone, and
another card waits until it has died twice; ``sick…``
is an error of the machine, ``wrong…`` one of the problem; ``silent…`` is never answered. On a card
that is called ``deaf`` it does not start, on ``absent`` there is no GPU. ``slow…`` takes a little;
``liar…`` gets the result of another file, ``twice…`` two; of ``ghost…`` it begins one that nobody
has asked for. ``FAKE_KIND`` is the kind of device.
"""

import os
import signal
import sys
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from harness.errors import Diagnostic, MachineError, NoDeviceError, ProblemError
from harness.grading.card_wire import (
    Begun,
    Broken,
    BuildAhead,
    Done,
    Phase,
    Ready,
    Setup,
    Steps,
    Unjudged,
)
from harness.grading.give_up import GiveUp
from harness.grading.job import Job
from harness.grading.solution_refs import solution_ref
from harness.records.refs import DeviceRef, SolutionRef
from harness.records.result import Result, Verdict
from harness.solution.model import Solution
from support.samples import result

DEVICE = DeviceRef(kind="cpu" if "FAKE_KIND" in os.environ else "cuda", name="Made-up 100")
CARD, PLACE = os.environ.get("FAKE_CARD", ""), Path(os.environ.get("FAKE_PLACE", "/nowhere"))


def main() -> None:
    link = Connection(int(sys.argv[1]))
    setup: Setup = link.recv()
    if CARD == "absent":
        link.send(Broken(NoDeviceError("no GPU"), final=True))
        return
    if CARD == "deaf":
        link.send(Broken(MachineError("no context"), final=False))
        return
    link.send(Ready(DEVICE))
    with (PLACE / "started").open("a") as file:
        file.write(f"{CARD} {os.getpid()}\n")
    while (order := link.recv()) is not None:
        if isinstance(order, BuildAhead):
            continue
        if isinstance(order.task, GiveUp):
            link.send(Begun(order.number))
            link.send(Done(order.number, _given_up(order.task)))
            continue
        path = order.task.job.path
        link.send(Begun(order.number + 1000 if path.startswith("ghost") else order.number))
        with (PLACE / "asked").open("a") as file:
            file.write(f"{CARD} {path}\n")
        if setup.shown:
            link.send(Phase(f"time {path}", 3))
            link.send(Steps(1, "so far"))
        if path.startswith("wrong"):
            mistakes = ProblemError([Diagnostic(Path("problem.md"), 3, "shape", "no")])
            link.send(Unjudged(order.number, mistakes, of_problem=True))
            continue
        _behave(path, link, order.number)
        job = replace(order.task.job, path="x.cu") if path.startswith("liar") else order.task.job
        for _ in range(2 if path.startswith("twice") else 1):
            link.send(Done(order.number, _graded(job)))


def _behave(path: str, link: Connection, number: int) -> None:
    once = PLACE / f"{path}.once"
    dies = path.startswith("die-on-1") and CARD == "1"
    if path.startswith("die-on-1"):
        _twice_on_1(dies)
    if path.startswith("die-once"):
        dies = not once.exists()
        once.touch()
    elif not path.startswith("die-on"):
        dies = path.startswith("die")
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    if path.startswith("sick"):
        link.send(Unjudged(number, MachineError(f"no memory for {path}"), of_problem=False))
        sys.exit(0)
    if path.startswith("silent"):
        time.sleep(600)
    if path.startswith("slow"):
        time.sleep(0.2)


def _twice_on_1(dies: bool) -> None:
    """Note a death of card 1, or wait for the second: a quick card would leave it no file."""
    deaths = PLACE / "deaths"
    with deaths.open("a") as file:
        file.write("x" if dies else "")
    while not dies and len(deaths.read_text()) < 2:
        time.sleep(0.01)


def _given_up(task: GiveUp) -> Result:
    graded = _graded(task.work.job)
    changed = {"verdict": Verdict.INTERNAL_ERROR, "message": task.message}
    return graded.model_copy(update={**changed, "score": None, "measurements": ()})


def _graded(job: Job) -> Result:
    solution = job.solution
    honest = isinstance(solution, Solution) and solution.display_path == job.path
    if isinstance(solution, Solution) and honest and solution.language == "cuda":
        about = solution_ref(solution)  # what the sample below is written in
    else:
        content = getattr(solution, "hash", job.path)
        about = SolutionRef(
            author="me", name=job.path, language="cuda", hash=content, path=job.path
        )
    return result(
        id=f"{CARD}-{Path(job.path).name}-{os.getpid()}",
        solution=about,
        problem=job.problem.slug,
        problem_hash=job.problem.hash,
        device=DEVICE,
    )


if __name__ == "__main__":
    main()
