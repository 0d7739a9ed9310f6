"""The languages that submissions may be written in: one module each, listed once."""

from harness.solution.languages import cuda, pytorch, triton
from harness.solution.languages.base import Language

LANGUAGES: dict[str, Language] = {
    language.name: language for language in (cuda.LANGUAGE, triton.LANGUAGE, pytorch.LANGUAGE)
}
"""By name."""

__all__ = ["LANGUAGES", "Language"]
