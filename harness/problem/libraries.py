"""The CUDA libraries that a CUDA C++ file may say it uses, and a problem may allow, by name."""

from collections.abc import Collection, Iterable

from harness.text.plain import quoted
from harness.text.suggest import nearest

LIBRARIES = (
    *("cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse"),
    *("cudnn", "cutlass", "nvtx"),
)
"""All of them, as they are spelled in records."""

_ALIASES = {"cute": "cutlass"}
_ALWAYS = frozenset({"cub", "thrust", "cccl", "libcudacxx", "libcu++", "cudart"})
"""Parts of every CUDA compiler: to name one changes nothing."""


class UnknownLibrary(ValueError):
    """A name that is no library's; the message says which there are."""


def library_names(words: Iterable[str]) -> tuple[str, ...]:
    """The libraries named by ``words``, each once, in the order of :data:`LIBRARIES`.

    Letter case does not count; what comes with every compiler is left out.

    Raises:
        UnknownLibrary: a word names none.
    """
    spelled = {name.lower(): name for name in LIBRARIES} | _ALIASES
    found = set()
    for word in words:
        name = spelled.get(word.lower())
        if name is None and word.lower() not in _ALWAYS:
            close = nearest(word, spelled)
            hint = f" (did you mean {spelled[close]}?)" if close else ""
            known = ", ".join(LIBRARIES)
            raise UnknownLibrary(f"unknown library {quoted(word)}{hint}; there are {known}")
        found.add(name)
    return tuple(name for name in LIBRARIES if name in found)


def allowed_in_words(allowed: Collection[str] | None) -> str:
    """What a problem allows, for its statement: ``none``, ``cublas, cutlass`` or ``any``."""
    return "any" if allowed is None else ", ".join(allowed) or "none"
