"""The compiler options that a submission may give for an extension of PyTorch.

Compilers run confined, but an option can make one load a program (``-fplugin``), read options from
a file, or write elsewhere: what is not known to be harmless is refused by name.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path


class RefusedFlag(ValueError):
    """An option that is not taken."""


_VALUE = r"[\w.+-]*"
_DEFINE = r"-[DU]\w+(?:=[^@\x00-\x1f\ud800-\udfff]*)?"
_CXX = re.compile(
    r"-O(?:[0-3sgz]|fast)?|-g[0-3]?|-w|-pthread|-pipe|-fPIC|-fpic|-shared|-pedantic(?:-errors)?|-v"
    rf"|-std=(?:c|gnu)\+\+{_VALUE}|-std={_VALUE}"
    rf"|-W(?!l,|a,|p,)[\w=+-]*|-m[a-z][\w.=+-]*|{_DEFINE}"
    r"|-f(?:no-[\w-]+|fast-math|unroll-(?:all-)?loops|openmp(?:-simd)?|permissive|rtti|exceptions"
    r"|visibility=\w+|visibility-inlines-hidden|lto|tree-[a-z-]+|inline-[a-z-]+|strict-[a-z-]+"
    r"|omit-frame-pointer|(?:finite|associative|reciprocal)-math(?:-only)?|unsafe-math-optimizations"
    r"|fp-contract=\w+|vect-cost-model=\w+|signed-\w+|unsigned-\w+|wrapv|trapping-math|math-errno"
    r"|max-errors=\d+|template-depth=\d+|constexpr-[a-z-]+=\d+|diagnostics-color(?:=\w+)?"
    r"|stack-protector(?:-\w+)?|prefetch-loop-arrays|concepts|coroutines|common|data-sections"
    r"|function-sections|split-loops|peel-loops|ipa-[a-z-]+|gcse[a-z-]*|rounding-math)"
)
_PTXAS = re.compile(
    r"-v|--verbose|-O[0-4]|-?-opt-level=?[0-4]?|-?-(?:dlcm|dscm|def-load-cache|def-store-cache)=\w+"
    r"|-?-(?:warn|allow)-[\w-]+(?:=\w+)?|-?-maxrregcount=\d+|-w|-?-fmad=\w+"
)
_NVCC = re.compile(
    rf"-O[0-3]|-?-optimize=[0-3]|-g|-G|-w|-v|-lineinfo|--generate-line-info|{_DEFINE}"
    r"|-?-std=c\+\+\w+|-?-use_fast_math|-?-(?:fmad|ftz|prec-div|prec-sqrt)=(?:true|false)"
    r"|-?-e(?:xpt|xtended|xtra)-[\w-]+|-?-default-stream=(?:legacy|null|per-thread)"
    r"|-?-maxrregcount=\d+|-?-(?:arch|gpu-architecture|gpu-code|code)=[\w,]+"
    r"|-?-(?:gencode|generate-code)=arch=\w+,code=\[?[\w,]+\]?|-?-(?:threads|split-compile)=\d+|-t=?\d+"
    r"|-?-(?:restrict|resource-usage|source-in-ptx|res-usage|disable-warnings|no-exceptions)"
    r"|-?-(?:diag-suppress|diag_suppress|diag-warn|display-error-number)(?:=[\w,-]+)?"
    r"|-?-(?:dlcm|dopt)=\w+|-?-(?:relocatable-device-code|rdc)=false|-?-x=cu|-m64|-?-Wno-[\w-]+"
    r"|-?-(?:expand|ptx)-warnings|--verbose|-fPIC|-?-cudart=(?:static|shared)"
)
_WITH_VALUE = {
    **dict.fromkeys(("-Xptxas", "--ptxas-options"), "ptxas"),
    **dict.fromkeys(("-Xcompiler", "--compiler-options"), "compiler"),
    **dict.fromkeys(
        ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code"), "="
    ),
    **dict.fromkeys(("-maxrregcount", "--maxrregcount", "-std", "--std", "--threads", "-t"), "="),
    **dict.fromkeys(("-diag-suppress", "--diag-suppress", "-default-stream"), "="),
    **dict.fromkeys(("-Xcudafe", "-Xnvlink"), "cudafe"),
    **dict.fromkeys(("-D", "-U"), ""),
    **dict.fromkeys(("-I", "-isystem", "--include-path"), "include"),
}
_CUDAFE = re.compile(r"--(?:diag_suppress|diag_warning|display_error_number)(?:=[\w,]+)?")
_LINK = re.compile(
    r"-l[\w.+-]+|-O[0-3]?|-g|-s|-pthread|-fopenmp|-fPIC|-shared|-Wl,--(?:no-)?as-needed"
    r"|-Wl,-z,(?:now|relro|noexecstack)|-Wl,-O[0-2]|-W[\w-]+|-march=[\w-]+"
)


def cxx_flags(flags: Sequence[str], known: Sequence[Path] = ()) -> tuple[str, ...]:
    """The options of the C++ compiler, with folders of headers only below those that are known.

    Raises:
        RefusedFlag: one is not taken.
    """
    return tuple(_each(flags, lambda flag: bool(_CXX.fullmatch(flag)), known))


def nvcc_flags(flags: Sequence[str], known: Sequence[Path] = ()) -> tuple[str, ...]:
    """The options of nvcc, those of its parts in the form ``-Xptxas=VALUE``. Raises as above."""
    return tuple(_each(flags, lambda flag: bool(_NVCC.fullmatch(flag)), known))


def link_flags(flags: Sequence[str], known: Sequence[Path] = ()) -> tuple[str, ...]:
    """The options of the linker: libraries by name, and little else. Raises as above."""
    taken = []
    for flag in _words(flags):
        folder = re.fullmatch(r"(?:-L|-Wl,-rpath[,=])(.+)", flag)
        if folder and _is_known(folder[1], known):
            if flag.startswith("-L"):
                taken.append(flag)
        elif _LINK.fullmatch(flag):
            taken.append(flag)
        else:
            raise RefusedFlag(_refusal("extra_ldflags", flag))
    return tuple(taken)


def check_folders(folders: Iterable[str], known: Sequence[Path]) -> None:
    """Refuse folders of headers that lie elsewhere than PyTorch's, Python's and CUDA's own.

    Raises:
        RefusedFlag: one does.
    """
    for folder in folders:
        if not _is_known(folder, known):
            raise RefusedFlag(_refusal("extra_include_paths", folder))


def _each(
    flags: Sequence[str], taken: Callable[[str], bool], known: Sequence[Path]
) -> Iterator[str]:
    """The options, each checked; those in two words become one."""
    words = iter(_words(flags))
    for flag in words:
        name, equals, value = flag.partition("=")
        kind = _WITH_VALUE.get(flag, _WITH_VALUE.get(name) if equals else None)
        if flag in _WITH_VALUE:
            value = next(words, "")
        if kind in ("ptxas", "compiler", "cudafe"):
            allowed = {"ptxas": _PTXAS, "compiler": _CXX, "cudafe": _CUDAFE}[kind]
            parts = [part.strip("'\"") for part in value.split(",")]
            if not all(allowed.fullmatch(part) for part in parts):
                raise RefusedFlag(_refusal(name, value))
            yield f"{name}={','.join(parts)}"
        elif kind == "include" or flag.startswith("-I"):
            folder = value or flag.removeprefix("-I")
            if not _is_known(folder, known):
                raise RefusedFlag(_refusal("option", f"{flag} {value}".strip()))
            yield f"-I{folder}"
        else:
            whole = flag if equals or flag not in _WITH_VALUE else f"{flag}{kind}{value}"
            if not taken(whole):
                raise RefusedFlag(_refusal("option", whole))
            yield whole


def _words(flags: Sequence[str]) -> list[str]:
    """The options; one string may hold several, as a shell would part them."""
    try:
        return [word for flag in flags for word in shlex.split(flag)]
    except ValueError as error:
        raise RefusedFlag(f"options cannot be parted: {error}") from error


def _is_known(folder: str, known: Sequence[Path]) -> bool:
    path = Path(folder)
    if not path.is_absolute() or ".." in path.parts or "\0" in folder:
        return False
    real = Path(os.path.realpath(path))
    return any(path.is_relative_to(each) or real.is_relative_to(each) for each in known)


def _refusal(where: str, what: str) -> str:
    return f"{where} {what[:200]!a} is not taken here (docs/how-to/writing-solutions.md)"
