"""Which entries of the boards have to be graded again, so that everything shown can be compared."""

from collections.abc import Collection, Iterable, Mapping

from harness.records.refs import DeviceRef, major
from harness.records.result import Result
from harness.text.names import key
from leaderboard.entry import INCONCLUSIVE

Key = tuple[str, ...]


def outdated(
    results: Iterable[Result],
    *,
    current: Mapping[str, str],
    harness: str,
    device: DeviceRef,
    problems: Collection[str] = (),
    everything: bool = False,
) -> list[Result]:
    """The newest accepted result of each solution that has none of the present kind.

    A solution is a file (by its hash) of an author for a problem in a data type. As on a board,
    the last word counts on each version of the problem and major version of the harness: one that
    is not accepted withdraws. A solution that was judged at the present ones, well or badly, is up
    to date.

    Args:
        results: any results, in whatever order.
        current: the present hash of each problem by slug; one that is not there is outdated.
        harness: the present version of the harness.
        device: only results of this device.
        problems: slugs; only these problems, all if empty.
        everything: all accepted ones, up to date or not.

    Returns:
        At most one result a solution, by problem and data type, the oldest first.
    """
    last: dict[tuple[Key, Key], Result] = {}
    by_age = sorted(results, key=lambda each: (each.created, each.id))
    own = {_solution(each) for each in by_age if not each.origin}
    for result in by_age:
        if result.origin and _solution(result) in own:
            continue
        if result.device != device or (problems and result.problem.slug not in problems):
            continue
        if result.verdict not in INCONCLUSIVE:
            last[_solution(result), _kind(result)] = result
    judged = {
        solution
        for solution, kind in last
        if not everything and kind == (current.get(solution[0]), major(harness))
    }
    chosen: dict[Key, Result] = {}
    for (solution, _), result in sorted(last.items(), key=lambda item: item[1].created):
        if result.accepted and solution not in judged:
            chosen[solution] = result
    return sorted(chosen.values(), key=lambda each: (each.problem.slug, each.dtype, each.created))


def _solution(result: Result) -> Key:
    return result.problem.slug, result.dtype, key(result.solution.author), result.solution.hash


def _kind(result: Result) -> Key:
    return result.problem.hash, result.environment.harness_major
