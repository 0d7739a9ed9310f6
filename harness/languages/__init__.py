"""The languages that submissions may be written in, and how each reads and builds a file.

In goes a file, or a :class:`~harness.solution.model.Solution` and a target. Out comes the Solution
(:mod:`~harness.languages.read`), or what a runner needs of it, an
:class:`~harness.solution.model.Artifact`, or a failure with its verdict.
"""

from harness.languages import cuda, ptx, python, triton
from harness.languages.base import Language

LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (cuda.LANGUAGE, ptx.LANGUAGE, triton.LANGUAGE, *python.LANGUAGES)
}
"""By name. A file is in the first language that claims it: a Triton kernel that is fed by CuPy is
Triton, and a file that imports nothing known is PyTorch."""

__all__ = ["LANGUAGES", "Language"]
