import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness import cudacpu
from harness.records.build import Build
from harness.session.programs import checked_program, source_program, timed_program
from harness.solution.model import Artifact, Target

LIBRARY = Artifact(
    kind="library",
    target=Target(kind="cpu"),
    library=Path("/fast.so"),
    checked=Path("/checked.so"),
    source="",
    build=Build(seconds=1.0, cached=False, target="sm_90"),
)


def test_a_library_is_checked_with_the_sanitizer_and_timed_without() -> None:
    checked, timed = checked_program(LIBRARY), timed_program(LIBRARY)
    assert (checked.file, timed.file) == (Path("/checked.so"), Path("/fast.so"))
    assert checked.sanitizer == cudacpu.asan_runtime()
    assert timed.sanitizer is None


def test_without_a_sanitizer_there_is_one_build() -> None:
    plain = replace(LIBRARY, checked=None)
    assert checked_program(plain) == timed_program(plain)


def test_what_is_built_for_cases_alone_is_not_timed() -> None:
    untimed = replace(LIBRARY, library=None)
    assert checked_program(untimed).file == Path("/checked.so")
    with pytest.raises(ValueError, match="cases alone"):
        timed_program(untimed)


@pytest.mark.parametrize(("kind", "interpret"), [("cpu", True), ("cuda", False)])
def test_triton_is_interpreted_on_a_cpu_only(kind: str, interpret: bool) -> None:
    artifact = replace(
        LIBRARY, kind="python", target=Target(kind=kind), library=None, checked=None, source="é"
    )
    program = timed_program(artifact)
    assert (program.kind, program.source, program.interpret) == ("python", "é".encode(), interpret)


def test_opening_gives_a_descriptor_of_the_contents(tmp_path: Path) -> None:
    file = tmp_path / "solution.so"
    file.write_bytes(b"library")
    for program, content in (
        (source_program(b"x = 1"), b"x = 1"),
        (replace(source_program(b""), file=file), b"library"),
    ):
        with program.open() as (fd,):
            assert os.read(fd, 100) == content
            assert not os.get_inheritable(fd)
