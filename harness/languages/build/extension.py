"""Build an extension of PyTorch that a Python submission asks for, with its compilers confined.

What PyTorch's own build takes a minute for is mostly its headers, seen by three passes. Here each
source is compiled with slim ones first (:mod:`.torch_headers`), all sources side by side, and with
PyTorch's own where that does not do. Without a GPU sources of CUDA are compiled, and not linked.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.languages.build import ptxas
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.compiler import CompilerCall
from harness.languages.build.diagnostics import capped
from harness.languages.build.extension_calls import LIBRARY, ExtensionCalls
from harness.languages.build.extension_flags import RefusedFlag
from harness.languages.build.toolchain import find_demangler
from harness.records.result import Verdict
from harness.sandbox.pause_gate import side_by_side

PATIENCE = 2
"""Of the problem's limit ``build_s``: PyTorch's headers are not the submission's fault."""

_OUR_FAULT = re.compile(
    r"is not a (?:class )?member|has no (?:suitable )?member|was not declared|has not been declared"
    r"|undefined|incomplete|does not name|is not a (?:class|type|template)|No such file"
    r"|no (?:matching|suitable|instance)|cannot convert"
)
"""Words of complaints that another header may be the cure of."""
_BOUND = re.compile(r"wrap_pybind_function\((\w+)\)")
_UNDECLARED = re.compile(r"error: \W(\w+)\W was not declared in this scope")
_ABSENT = re.compile(r"fatal error: ([\w./+-]+): No such file or directory")


class ExtensionBuild(NamedTuple):
    """An extension to build."""

    calls: ExtensionCalls
    """The calls of its compilers."""
    build_s: float
    """The problem's limit of a build, in seconds."""
    cache: Cache
    """The build cache."""

    def outcome(self) -> BuildOutcome:
        """The library, as the file ``library``, or why there is none.

        A failure ``INVALID_SUBMISSION`` was refused, ``COMPILE_ERROR`` is a compiler's complaint.
        ``NOT_EXECUTABLE_HERE``: it needs a GPU, or a header, that is not here.
        """
        if self._needs_card and self.calls.nvcc is None:
            return BuildOutcome(failure=self._no_card("not compiled: there is no nvcc either"))
        try:
            compiling, linking = self.calls.compiling(), self.calls.linking()
        except RefusedFlag as refused:
            failure = BuildError(verdict=Verdict.INVALID_SUBMISSION, message=str(refused))
            return BuildOutcome(failure=failure)
        parts = {
            "kind": "extension",
            "request": self.calls.request.digest,
            "compiling": repr(compiling),
            "linking": repr(linking),
            "torch": self.calls.torch.version,
            "device": self.calls.target.kind,
        }
        return self.cache.fetch(key_of(parts), partial(self._build, compiling, linking))

    @property
    def _needs_card(self) -> bool:
        return self.calls.request.cuda and self.calls.target.emulated

    def _no_card(self, how: str) -> BuildError:
        message = (
            f"extension {self.calls.request.name!r} has CUDA code, which needs an NVIDIA GPU, and "
            f"there is none here (harness doctor); {how}"
        )
        return BuildError(verdict=Verdict.NOT_EXECUTABLE_HERE, message=message)

    def _build(
        self,
        compiling: Mapping[str, Sequence[CompilerCall]],
        linking: CompilerCall,
        folder: Path,
    ) -> BuildOutcome:
        """The outcome of all calls, in ``folder``."""
        works = {name: partial(self._compile, each, folder) for name, each in compiling.items()}
        first = [name for name, (call, *_) in compiling.items() if undeclared(_text_of(call))]
        done: list[BuildOutcome] = []
        seconds = 0.0
        for names in (first, [name for name in works if name not in first]):
            if names and all(each.failure is None for each in done):
                found = side_by_side(*(works[name] for name in names))
                done += found
                seconds += max(each.seconds for each in found)
        kernels = tuple(kernel for each in done for kernel in each.kernels)
        log = capped("\n".join(filter(None, (each.log for each in done))))
        compiled: dict[str, object] = {
            "log": log,
            "seconds": seconds,
            "kernels": ptxas.demangled(kernels, find_demangler()),
        }
        failed = [each for each in done if each.failure is not None]
        if failed:
            worst = min(failed, key=lambda each: each.reusable)  # a limit before a complaint
            if not self._needs_card or (absent := _ABSENT.search(worst.log)) is None:
                return worst.model_copy(update=compiled)
            failure = self._no_card(f"not compiled: {absent[1]} is not here either")
            return BuildOutcome(failure=failure, reusable=False).model_copy(update=compiled)
        if self._needs_card:
            target, nvcc = self.calls.target, self.calls.nvcc
            assert nvcc is not None
            failure = self._no_card(f"it compiles for {target.arch} with nvcc {nvcc.version}")
            return BuildOutcome(failure=failure).model_copy(update=compiled)
        linked = linking.build(folder, self.build_s)
        whole = compiled | {
            "log": "\n".join(filter(None, (log, linked.log))),
            "seconds": seconds + linked.seconds,
            "files": {"library": folder / LIBRARY} if linked.failure is None else {},
        }
        return linked.model_copy(update=whole)

    def _compile(self, ladder: Sequence[CompilerCall], folder: Path) -> BuildOutcome:
        """The outcome for one source: that of the first call that does, or of the last."""
        spent = 0.0
        for number, call in enumerate(ladder):
            own = folder / f"{call.source}.{number}"
            for name in call.inputs:
                (own / name).parent.mkdir(parents=True, exist_ok=True)
            outcome = call.build(own, PATIENCE * self.build_s)
            spent += outcome.seconds
            if outcome.failure is None:
                (own / f"{call.source}.o").rename(folder / f"{call.source}.o")
                break
            if outcome.failure.verdict is not Verdict.COMPILE_ERROR:
                break
            if not _may_be_cured(outcome.log, _text_of(call), self.calls.torch.include):
                break
        return outcome.model_copy(update={"seconds": spent})


def _text_of(call: CompilerCall) -> str:
    return call.inputs[call.source].decode()


def undeclared(text: str) -> set[str]:
    """The functions that a source of `load_inline` binds and does not name otherwise.

    It cannot be compiled then, but for a header of the submission's: so it is tried before a source
    of CUDA, which takes long.
    """
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("m.def("))
    return {name for name in _BOUND.findall(text) if not re.search(rf"\b{name}\b", rest)}


def _may_be_cured(log: str, text: str, headers: Path) -> bool:
    """Whether PyTorch's own headers may be the cure of all that is complained of in a source.

    They are not where a function is bound that is declared nowhere, as functions of a CUDA source
    often are: no header has it, unless ATen has one of that name.
    """
    errors = [line for line in log.splitlines() if "error:" in line]
    names = [found[1] for each in errors if (found := _UNDECLARED.search(each))]
    if errors and len(names) == len(errors):
        bound = set(_BOUND.findall(text))
        if any(each in bound and not _of_aten(each, headers) for each in names):
            return False
    return bool(_OUR_FAULT.search(log))


def _of_aten(name: str, headers: Path) -> bool:
    return (headers / "ATen" / "ops" / f"{name}.h").is_file()
