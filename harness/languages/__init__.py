"""The languages that submissions may be written in, listed once: the first to claim a file has it.

So a Triton kernel that is fed by CuPy is Triton, and what imports nothing known is PyTorch.
"""

from harness.languages import cuda, framework, ptx, pytorch, triton
from harness.languages.base import Language

LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        cuda.LANGUAGE,
        ptx.LANGUAGE,
        triton.LANGUAGE,
        *framework.LANGUAGES,
        pytorch.LANGUAGE,
    )
}
"""By name, in the order in which they are asked."""

__all__ = ["LANGUAGES", "Language"]
