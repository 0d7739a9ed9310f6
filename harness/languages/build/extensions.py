"""The extensions of PyTorch that a Python submission asks for: recorded, built, handed over.

What it asks for shows when it is imported, so that is done in a sandbox with a stand-in for
``torch.utils.cpp_extension``. The answer is untrusted: it decides what text the compilers get, and
nothing else.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from harness.device.cpu import CpuDevice
from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.extension import ExtensionBuild
from harness.languages.build.extension_calls import ExtensionCalls
from harness.languages.build.toolchain import find_host_compiler, nvcc_for
from harness.languages.build.torch_headers import installed_torch
from harness.problem.gradable import Gradable
from harness.problem.terms import Limits
from harness.records.build import Build
from harness.records.result import Verdict
from harness.session.build_session import BuildSession
from harness.session.programs import timed_program
from harness.solution.model import Artifact, BuildFailure, Extension, Target
from harness.wire.extensions import (
    MAX_EXTENSIONS,
    ExtensionRequest,
    read_requests,
    write_request,
)

ROUNDS = 3
"""How often extensions are built for one grade: as recorded, and as asked for by a runner."""

_MOST_BUILDS = 4
"""Of the problem's limit ``build_s``: when no further extension is begun."""
_REQUESTS = "requests"
_DEFAULT_ARCH = 90
_BLAMED = (Verdict.COMPILE_ERROR, Verdict.INVALID_SUBMISSION)
"""Failures that PyTorch would raise in the submission, which may go on without the extension."""


def with_extensions(artifact: Artifact, problem: Gradable, cache: Cache) -> Artifact | BuildFailure:
    """``artifact``, a Python file, with the extensions that it asks for.

    Raises:
        MachineError: no process can be started, or there is no C++ compiler.
    """
    requests = _recorded(artifact, problem, cache)
    return with_requests(replace(artifact, extensions=()), requests, problem.limits, cache)


def with_requests(
    artifact: Artifact, requests: Sequence[ExtensionRequest], limits: Limits, cache: Cache
) -> Artifact | BuildFailure:
    """``artifact`` with these extensions built, beside those that it has. Raises as above."""
    have = artifact.extensions or ()
    room = MAX_EXTENSIONS - len(have)
    known = {each.request.digest for each in have}
    fresh = [each for each in requests if each.digest not in known][:room]
    build, made = artifact.build, []
    for request in fresh:
        if build.seconds > _MOST_BUILDS * limits.build_s:
            message = f"its extensions took {build.seconds:.0f} s to compile, and there are more"
            return BuildFailure(verdict=Verdict.TIME_LIMIT, message=message, build=build)
        outcome = _built(request, artifact.target, limits, cache)
        build = _added(build, outcome)
        failure = outcome.failure
        if failure is not None and failure.verdict not in _BLAMED:
            return BuildFailure(verdict=failure.verdict, message=failure.message, build=build)
        made.append(_extension(request, outcome))
    return replace(artifact, build=build, extensions=(*have, *made))


def notes_on(extensions: Sequence[Extension], unbuilt: Sequence[ExtensionRequest]) -> list[str]:
    """What became of each, for a submission that went on; of those in ``unbuilt`` nothing did."""
    notes = [
        f"extension {each.name}: not built, for it is another one each time" for each in unbuilt
    ]
    return notes + [
        f"extension {each.request.name}: built"
        if each.library
        else f"extension {each.request.name}: {'not taken' if each.refused else 'did not compile'},"
        f" the submission went on without it ({each.error.splitlines()[-1]})"
        for each in extensions
    ]


def _built(request: ExtensionRequest, target: Target, limits: Limits, cache: Cache) -> BuildOutcome:
    nvcc = nvcc_for(target) if request.cuda else None
    calls = ExtensionCalls(request, target, installed_torch(), find_host_compiler(), nvcc)
    return ExtensionBuild(calls, limits.build_s, cache).outcome()


def _extension(request: ExtensionRequest, outcome: BuildOutcome) -> Extension:
    """What a runner gets."""
    failure = outcome.failure
    if failure is None:
        return Extension(request=request, library=outcome.files["library"])
    refused = failure.verdict is Verdict.INVALID_SUBMISSION
    said = f"extension {request.name!r}:" if refused else "Error building extension"
    name = "" if refused else f" {request.name!r}:"
    return Extension(request=request, error=f"{said}{name} {failure.message}", refused=refused)


def _added(build: Build, outcome: BuildOutcome) -> Build:
    """The record of a build that an extension's has been added to."""
    found = {
        "seconds": build.seconds + (0.0 if outcome.cached else outcome.seconds),
        "log": "\n".join(filter(None, (build.log, outcome.log))),
        "kernels": (*build.kernels, *outcome.kernels),
    }
    return build.model_copy(update=found)


def _recorded(artifact: Artifact, problem: Gradable, cache: Cache) -> tuple[ExtensionRequest, ...]:
    """What the submission asks for when it is imported, kept by all that this depends on."""
    timed = problem.timed_cases(emulated=True) or problem.timed_cases(emulated=False)
    values = timed[0].values if timed else {}
    construction = problem.construction(timed[0]) if timed else None
    arch = int((artifact.target.arch or "").removeprefix("sm_").rstrip("af") or _DEFAULT_ARCH)
    parts = {
        "kind": "recording",
        "source": artifact.source,
        "contract": repr(artifact.contract),
        "values": repr(values),
        "construction": repr(construction),
        "arch": str(arch),
        "device": artifact.target.kind,
        "torch": metadata.version("torch"),
        "python": sys.version,
    }
    unkept: tuple[ExtensionRequest, ...] = ()

    def record(folder: Path) -> BuildOutcome:
        nonlocal unkept
        with BuildSession(timed_program(artifact), CpuDevice(), problem.limits) as session:
            requests, fault = session.record(values, arch, construction)
        if fault is not None:  # it might get further another time
            unkept = requests
            return BuildOutcome(reusable=False)
        file, place = folder / _REQUESTS, 0
        with file.open("wb") as written:
            for request in requests:
                place = write_request(written.fileno(), place, request)
        return BuildOutcome(files={_REQUESTS: file})

    kept = cache.fetch(key_of(parts), record).files.get(_REQUESTS)
    if kept is None:
        return unkept
    with kept.open("rb") as file:
        return read_requests(file.fileno())
