"""What records say of a submission's file: who made it, and where it lies.

Without torch: whoever feeds several judges needs no more.
"""

import re

from harness.records.cases import CaseResult
from harness.records.refs import SolutionRef
from harness.records.result import Result
from harness.solution.model import Solution


def with_path(result: Result, name: str, path: str) -> Result:
    """``result`` with ``path`` in place of ``name``, a regular expression, wherever a line follows.

    A longer path that ends in ``name`` stays as it is.
    """

    def placed(text: str) -> str:
        return re.sub(rf"(?<![\w./-]){name}(?=:\d)", lambda _: path, text)

    def placed_case(case: CaseResult) -> CaseResult:
        return case.model_copy(update={"message": placed(case.message)})

    shrunk, build = result.shrunk, result.build
    return result.model_copy(
        update={
            "message": placed(result.message),
            "cases": tuple(map(placed_case, result.cases)),
            "shrunk": shrunk and shrunk.model_copy(update={"case": placed_case(shrunk.case)}),
            "build": build and build.model_copy(update={"log": placed(build.log)}),
        }
    )


def solution_ref(solution: Solution) -> SolutionRef:
    """The reference to a submission in records."""
    return SolutionRef(
        author=solution.author,
        name=solution.name,
        language=solution.language,
        hash=solution.hash,
        path=solution.display_path,
        generation=solution.generation,
    )
