"""What of an entry is shown beside another one: a script of data alone, which a page asks for.

Pages may load no other files than scripts, from a disk least of all. The data are JSON: numbers and
text, shown as text.
"""

import json
from collections.abc import Sequence

from harness.records.measurement import Interval
from harness.records.result import Result
from harness.site.boards import Board
from harness.site.highlight import ROOM
from harness.text import names, numbers
from harness.text.plain import json_text, plain, plain_lines

MAX_SHAPES = 100


def side_script(
    stem: str,
    result: Result,
    board: Board,
    *,
    title: str,
    language: str,
    rank: str,
    source: str | None,
) -> str:
    """The text of the script of the entry whose files begin with ``stem``.

    Args:
        stem: letters, digits and ``-`` of ours.
        result: the entry's record.
        board: where it stands; entries of one board can be told apart by their speed-ups.
        title: of the problem.
        language: what it is written in, for people.
        rank: as it is shown.
        source: its code, None where there is none to show.
    """
    score = result.score
    entry = {
        "name": plain(result.solution.name),
        "author": names.shown(result.solution.author),
        "board": board.name,
        "where": plain(f"{title}, {board.dtype}, {board.device}"),
        "speedup": _ends(score.speedup) if score else None,
        "figures": _figures(result, language, rank),
        "shapes": [
            [plain(each.spec), numbers.seconds_interval(each.time_s), each.time_s.value]
            for each in result.measurements[:MAX_SHAPES]
        ],
        "code": None if source is None else plain_lines(source)[:ROOM],
    }
    return f"receiveEntry({json.dumps(stem)}, {json_text(json.dumps(entry))});\n"


def _figures(result: Result, language: str, rank: str) -> Sequence[tuple[str, str]]:
    score, environment = result.score, result.environment
    kernels = result.build.kernels if result.build else ()
    return [
        ("rank", rank),
        ("speed-up", numbers.ratio(score.speedup) if score else ""),
        ("time per call", numbers.seconds(score.time_s) if score else ""),
        ("of the speed of light", _percent(result.sol_fraction)),
        ("language", plain(language)),
        ("registers", ", ".join(str(each.registers) for each in kernels[:8])),
        ("graded", result.created.strftime("%Y-%m-%d")),
        ("harness", plain(environment.harness)),
        ("CUDA driver", plain(environment.driver)),
        ("CUDA compiler", plain(environment.toolkit)),
    ]


def _percent(part: float | None) -> str:
    return "" if part is None else f"{part * 100:.0f} %"


def _ends(interval: Interval) -> list[float] | None:
    """Value and ends, if their ratio to others' can be told."""
    ends = [interval.value, interval.low, interval.high]
    return ends if min(ends) > 0 and max(ends) < 1e18 else None
