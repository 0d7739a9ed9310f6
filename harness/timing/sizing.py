"""How many calls the batches of a shape have: enough to drown the overhead, as memory allows."""

import math
from collections.abc import Sequence

from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import beside_arena
from harness.session.fault import Fault
from harness.timing.budget import TimingBudget
from harness.timing.statistics import Timed, net
from harness.timing.timed_program import TimedProgram

Samples = tuple[list[Timed], list[Timed]]
"""Per call and block: the submission's, and the baseline's in the same blocks."""

_GROWTH = 16
"""A batch that is being sized grows by at most this factor at a time."""
_BOLD = 8.0
"""A batch that is being sized may last so many times as long as it should in the end."""
_SHORTER, _LONGER = 0.9, 1.25
"""A batch may be so many times as long as it should be."""
_ABOUT_AS_LONG = 1.25
"""Programs get batches of as many calls if none's take so many times as long as another's."""
_CLEAR = 5.0
"""A batch that lasts so many times its overhead shows how long a call takes."""
_SIZE_ATTEMPTS = 2
_TOO_SHORT = 2.0
"""A batch that should have had more than so many times the calls is too short to count."""


def choose_calls(call_s: float, round_trip_s: float, max_calls: int, budget: TimingBudget) -> int:
    """Calls per batch: enough to drown the overhead, at most ``max_calls``, fewer if time is short.

    A call of ``call_s`` seconds takes ``round_trip_s`` with everything around it.
    """
    call_s = max(call_s, 1e-7)
    affordable = max(budget.max_block_s / max(round_trip_s, 1e-7), budget.min_batch_s / call_s)
    wanted = math.ceil(min(budget.batch_s / call_s, affordable))
    return max(1, min(wanted, max_calls, budget.max_calls))


def most_calls(
    programs: Sequence[TimedProgram], task: Task, case: Case, budget: TimingBudget
) -> int:
    """The most calls that a batch of each may have, once the last is forgotten: at least one.

    The memory that is free is shared, less what checking takes beside the arenas, and one call more
    that looks for overlap take.
    """
    held = sum(program.vacate() for program in programs)
    beside = beside_arena(task.problem.tensors_of(case, task.dtype), 1)
    per_call = lay_out(task, case, 1).size
    room = held + task.device.free_bytes() - beside - per_call
    fitting = int(budget.memory_share * room / per_call)
    return max(1, min(fitting, budget.max_calls))


def size_batch(
    program: TimedProgram,
    task: Task,
    case: Case,
    max_calls: int,
    budget: TimingBudget,
    overhead_s: float,
    like: TimedProgram | None = None,
) -> Fault | None:
    """Find out roughly how long a call takes, then set up a batch of the right length.

    What is known of the program from an earlier measurement is not tried again: where that is no
    longer so, :func:`too_short` shows it. Another is tried with one call, and where that is not
    surely slower with as many as the batch of ``like`` has, a program that does the same; or, once
    an earlier shape has shown how many times as long as that one's calls take, with what follows.
    """
    if (known := program.sizes.get(case.spec)) is not None:
        program.estimated_call_s, program.round_trip_s = known
        return program.setup(case, choose_calls(*known, max_calls, budget))
    calls = 1
    if like is not None and program.times_as_long is not None:
        guess_s = program.times_as_long * like.estimated_call_s
        calls = choose_calls(guess_s, 0.0, max_calls, budget)
    while True:
        if (fault := program.setup(case, calls)) is not None:
            return fault
        tried = _try_size(program, f"{task.seed}/size/{calls}", max_calls, budget, overhead_s)
        if isinstance(tried, Fault):
            return tried
        batch_s, wanted = tried
        if _SHORTER * wanted <= calls <= _LONGER * wanted:
            return None
        if wanted <= calls or batch_s > _CLEAR * overhead_s:
            return program.setup(case, wanted)
        grown = calls * _GROWTH
        if like is not None:
            slowest_s = max(program.estimated_call_s, overhead_s)
            grown = max(grown, min(like.calls, int(_BOLD * budget.batch_s / slowest_s)))
        calls = min(wanted, grown)


def _try_size(
    program: TimedProgram, seed: str, max_calls: int, budget: TimingBudget, overhead_s: float
) -> tuple[float, int] | Fault:
    """Seconds of the batch as it is laid out, and how many calls one of the right length has.

    The round trip takes longer the first time, when checks are recorded and libraries loaded: where
    that would make batches shorter it is measured twice.
    """
    round_trip_s = math.inf
    attempt = 0
    while True:
        batch_s = program.time(f"{seed}/{attempt}")
        if isinstance(batch_s, Fault):
            return batch_s
        attempt += 1
        program.estimated_call_s = max(batch_s - overhead_s, 1e-7) / program.calls
        round_trip_s = min(round_trip_s, program.round_trip_s)
        wanted = choose_calls(program.estimated_call_s, round_trip_s, max_calls, budget)
        unhurried = choose_calls(program.estimated_call_s, 0.0, max_calls, budget)
        if attempt == _SIZE_ATTEMPTS or wanted == unhurried:
            return batch_s, wanted


def even_out(calls: Sequence[int], call_s: Sequence[float]) -> list[int]:
    """As many calls in the batches of all programs whose calls take about as long, ``call_s``.

    One null batch serves all of them then, and what the host adds to each is the same in a ratio.
    The fewest: a submission has fewer than a baseline that does the same, since its outputs are
    checked and the baseline's are not.
    """
    about_as_long = max(call_s) <= _ABOUT_AS_LONG * min(call_s)
    return [min(calls)] * len(calls) if about_as_long else list(calls)


def too_short(
    programs: Sequence[TimedProgram], samples: Samples, max_calls: int, budget: TimingBudget
) -> list[tuple[TimedProgram, int]]:
    """Programs whose batches have far fewer calls than their times ask for, and how many."""
    times = [net(taken) for _, taken in zip(programs, samples, strict=False)]
    calls = [
        choose_calls(call_s, program.round_trip_s, max_calls, budget)
        for program, call_s in zip(programs, times, strict=True)
    ]
    wanted = zip(programs, even_out(calls, times), strict=True)
    return [(program, more) for program, more in wanted if more > _TOO_SHORT * program.calls]
