"""Builds the kernels of this directory once a session, and calls them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cudacpu import ASAN_OPTIONS, asan_runtime, compile_command, translate
from harness.languages.build.prelude import VAR_TYPES, headers_of

KERNELS = Path(__file__).parent / "kernels"
Build = Callable[..., Path]


@dataclass(frozen=True)
class Error:
    code: int
    message: str


class Library:
    """A built submission. Arrays go by address, ints as int, floats as float."""

    def __init__(self, path: Path) -> None:
        self._dll = ctypes.CDLL(str(path))

    def configure(self, order: int = 0, seed: int = 0, workers: int = 2) -> None:
        self._dll.cudacpu_configure(order, ctypes.c_ulonglong(seed), workers)

    def call(self, name: str, *arguments: Any) -> int:
        def convert(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return ctypes.c_void_p(value.ctypes.data)
            return ctypes.c_float(value) if isinstance(value, float) else value

        return int(getattr(self._dll, name)(*map(convert, arguments)))

    def text(self, name: str) -> str:
        function = getattr(self._dll, name)
        function.restype = ctypes.c_char_p
        return bytes(function()).decode()

    def take_error(self) -> Error:
        message = ctypes.create_string_buffer(4096)
        code = self._dll.cudacpu_take_error(message, ctypes.c_size_t(4096))
        return Error(code, message.value.decode())


@pytest.fixture(scope="session")
def marked_line() -> Callable[[str, str], int]:
    """The line of tests/cudacpu/kernels/<kernel>.cu that ends with `// <marker>`."""

    def find(kernel: str, marker: str) -> int:
        text = (KERNELS / f"{kernel}.cu").read_text()
        (line,) = [i for i, t in enumerate(text.split("\n"), 1) if t.endswith(f"// {marker}")]
        return line

    return find


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    directory = tmp_path_factory.mktemp("cudacpu")
    built: dict[tuple[str, ...], Path] = {}

    def build_one(
        kernel: str, *, var: str = "float32", sanitize: bool = False, defines: tuple[str, ...] = ()
    ) -> Path:
        key = (kernel, var, str(sanitize), *defines)
        if key not in built:
            stem = "-".join(key)
            source, output = directory / f"{stem}.cpp", directory / f"{stem}.so"
            original = (KERNELS / f"{kernel}.cu").read_text()
            source.write_text(translate(original, f"{kernel}.cu"))
            type_ = VAR_TYPES[var]
            command = compile_command(
                source=source,
                output=output,
                var=type_,
                headers=headers_of(type_),
                sanitize=sanitize,
            )
            done = subprocess.run(
                [*command, *(f"-D{d}" for d in defines)], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            built[key] = output
        return built[key]

    return build_one


@pytest.fixture
def load(build: Build) -> Callable[..., Library]:
    def load_one(kernel: str, **options: Any) -> Library:
        library = Library(build(kernel, **options))
        library.configure()
        library.take_error()
        return library

    return load_one


_CALL_IN_AN_ARENA = """
import ctypes, mmap, sys
library, function, n = ctypes.CDLL(sys.argv[1]), sys.argv[2], int(sys.argv[3])
arena = mmap.mmap(-1, 3 << 16)
base = ctypes.addressof(ctypes.c_char.from_buffer(arena))
x, y = base + (1 << 15), base + (3 << 15)
# guard band, x, guard band, y (n floats too), guard band
bands = ((base, x - base), (x + 4 * n, y - x - 4 * n), (y + 4 * n, (3 << 16) - (y - base) - 4 * n))
for begin, size in bands:
    library.cudacpu_guard(ctypes.c_void_p(begin), ctypes.c_size_t(size))
library.cudacpu_configure(int(sys.argv[4]), ctypes.c_ulonglong(1), 2)
getattr(library, function)(ctypes.c_void_p(x), ctypes.c_void_p(y), int(sys.argv[5]))
for begin, size in bands:
    library.cudacpu_unguard(ctypes.c_void_p(begin), ctypes.c_size_t(size))
arena_is_whole = ctypes.string_at(base, 3 << 16)
message = ctypes.create_string_buffer(4096)
code = library.cudacpu_take_error(message, ctypes.c_size_t(4096))
if code:
    print(code, message.value.decode())
print("ran to the end")
"""


@pytest.fixture(scope="session")
def call_guarded() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Calls function(x, y, n) of a sanitized library, as the runner does, in its own process.

    x and y are n floats each, in one arena, with guard bands around them. ``passed`` is what the
    function gets as its n, where that is something else. What the error is, if any, is printed.
    """

    def call(
        library: Path, function: str, n: int, order: int = 0, passed: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "LD_PRELOAD": str(asan_runtime()),
            "ASAN_OPTIONS": ASAN_OPTIONS,
        }
        arguments = (
            str(library),
            function,
            str(n),
            str(order),
            str(n if passed is None else passed),
        )
        return subprocess.run(
            [sys.executable, "-c", _CALL_IN_AN_ARENA, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )

    return call
