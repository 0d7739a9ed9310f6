"""Files for judges that grade nothing (:mod:`support.fake_judge`), and what a display is told."""

from pathlib import Path

from harness.grading.job import Job, Options, Work
from harness.problem.package import Problem
from harness.progress.progress import Progress
from harness.solution.model import Invalid

ROOT = Path(__file__).parents[2]
FAKE = (
    f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}]; "
    "from support.fake_judge import main; main()"
)


class Shown(Progress):
    """What a display is told, by line."""

    def __init__(self, name: str = "", told: list[str] | None = None) -> None:
        self.name, self.told = name, [] if told is None else told

    shown = True

    def phase(self, name: str, total: int | None = None) -> None:
        self.told.append(f"{self.name}: {name} of {total}")

    def advance(self, n: int = 1, note: object = "") -> None:
        self.told.append(f"{self.name}: {n} {note}")

    def overall(self, done: int, total: int, note: str = "") -> None:
        self.told.append(f"{done}/{total}")

    def beside(self, name: str) -> Progress:
        return Shown(name, self.told)


def work(problem: Problem, *names: str) -> list[Work]:
    return [
        Work(Job(path=name, solution=Invalid("none"), problem=problem), Options(timing=False))
        for name in names
    ]
