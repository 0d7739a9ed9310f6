"""The prelude: lines that are compiled in front of every CUDA submission.

They define ``VAR``, declare the entry point with the problem's parameters, so that the compiler
itself rejects wrong ones, and export a second function through which the runner learns about
launch errors that the submission did not look at.
"""

import re

from harness.problem.gradable import Gradable
from harness.problem.signature import c_prototype

VAR_TYPES = {
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "bool": "bool",
    "complex64": "cuFloatComplex",
    "complex128": "cuDoubleComplex",
}
"""Data type → what ``VAR`` stands for in C."""

HEADERS = {
    r"\b(__)?half\b": "cuda_fp16.h",
    r"\b(__)?nv_bfloat16\b": "cuda_bf16.h",
    r"\bcu(Float|Double)Complex\b": "cuComplex.h",
}
"""Pattern of a type → the CUDA header that defines it. Only those in use are included: the two
first cost half a second each."""

LAST_ERROR = """
extern "C" __attribute__((visibility("default")))
int harness_last_error(char* message, size_t capacity) {
  const cudaError_t error = cudaGetLastError();
  const char* text = cudaGetErrorString(error);
  size_t i = 0;
  if (capacity != 0) {
    for (; text[i] != 0 && i + 1 < capacity; ++i) message[i] = text[i];
    message[i] = 0;
  }
  return (int)error;
}
"""
"""Returns and clears the CUDA runtime's last error, and writes its text (at most ``capacity``
bytes, ended by NUL). It must be compiled in: the runtime is linked statically, so each library has
a last error of its own."""

ENTRY = """
extern "C" __attribute__((visibility("default"), used))
const void* const harness_entry = (const void*)&{entry};
"""
"""Refers to the entry point, so that linking fails where a file does not define it."""


def headers_of(text: str) -> list[str]:
    """The CUDA headers that define the types named in ``text``."""
    return [header for pattern, header in HEADERS.items() if re.search(pattern, text)]


def prelude(problem: Gradable, dtype: str, entry: str) -> str:
    """The text to compile before a submission for ``dtype``.

    ``entry`` gets C linkage and default visibility from this declaration even where the
    submission forgets ``extern "C"``.

    Raises:
        KeyError: ``dtype`` has no C type.
    """
    var = VAR_TYPES[dtype]
    declaration, refers = _declared(problem, entry)
    headers = ["stddef.h", "stdint.h", *headers_of(f"{var} {declaration}")]
    includes = "".join(f"#include <{header}>\n" for header in headers)
    return f"{includes}#define VAR {var}\n{declaration}{LAST_ERROR}{refers}"


def host_prelude(problem: Gradable, entry: str) -> str:
    """The prelude for the CPU, where :mod:`harness.cudacpu` supplies ``VAR`` and keeps errors."""
    return "".join(_declared(problem, entry))


def _declared(problem: Gradable, entry: str) -> tuple[str, str]:
    """A declaration of the entry point, and what makes linking fail without one.

    Of a foreign format by its symbol alone: there files differ in ``int`` and ``size_t``.
    """
    if problem.format:
        symbol = f'extern "C" const char harness_{entry} __asm__("{entry}");'
        return symbol, ENTRY.format(entry=f"harness_{entry}")
    return c_prototype(problem, entry), ENTRY.format(entry=entry)
