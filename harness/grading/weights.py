"""Weights of a submission's module, where its format makes it under a seed as the reference's.

A grade first gives each call weights of its own, if the module's can be matched with the
reference's (:mod:`harness.formats.weights`). The format promises no more than the seed's: a module
that keeps copies of what it was made with is wrong then, or fails, and is graded with those.
"""

from collections.abc import Sequence
from dataclasses import replace

from harness.formats.problem import Foreign
from harness.formats.weights import matched_weights, own_weights
from harness.grading.case_selection import case_bytes
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.runner.entry.weights import digest
from harness.session.fault import Fault
from harness.session.session import Session

MAYBE_OF_WEIGHTS = (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)
"""What a module may get with other weights than it was made with, and be right with those."""

KEPT = (
    "weights: those of its seed, since it is wrong or fails where each call has its own: it relies "
    "on what it was made with"
)
"""The note on a module that is right with the weights that it was made with alone."""


def weighed_tasks(session: Session, task: Task, cases: Sequence[Case]) -> list[Task] | Fault:
    """The task as the loaded submission is to be tried, which is given with the weights of a seed.

    First with weights of each call's own, if its module's are the reference's. A fault if making it
    takes too long; others show again when it is called.

    Raises:
        ProblemError: the reference's module cannot be made.
    """
    problem = task.problem
    if not isinstance(problem, Foreign):
        return [task]
    construction = problem.construction(cases[0])
    reference = problem.module_weights(cases[0])
    if construction is None or not reference:
        return [task]
    told = session.weights(construction)
    if isinstance(told, Fault):
        return told if told.verdict is Verdict.TIME_LIMIT else [task]
    digests = {name: digest(x) for name, x in problem.made_weights(cases[0]).items()}
    fresh = replace(problem, weights=matched_weights(reference, digests, told))
    room = case_bytes(problem, task.device)
    if not fresh.weights or any(fresh.footprint(case) > room for case in cases):
        return [task]
    return [with_problem(task, fresh), task]


def has_own_weights(task: Task) -> bool:
    """Whether each call has weights of its own."""
    return isinstance(task.problem, Foreign) and bool(task.problem.weights)


def fixed_task(task: Task) -> Task:
    """The task with the weights of a case's seed."""
    problem = task.problem
    if not isinstance(problem, Foreign) or not problem.weights:
        return task
    return with_problem(task, replace(problem, weights=()))


def reference_task(task: Task) -> Task:
    """The task in which the reference is timed: its weights are a call's own where others are."""
    problem = task.problem
    if not isinstance(problem, Foreign) or not problem.weights:
        return task
    own = own_weights([each.weight for each in problem.weights])
    return with_problem(task, replace(problem, weights=own))


def with_problem(task: Task, problem: Foreign) -> Task:
    """The task with this problem, and its answers."""
    return replace(task, problem=problem, reference=problem.reference())
