"""What a runner inherits: nothing but what it is given."""

import sys
from pathlib import Path
from typing import Any

import pytest

from harness import cudacpu
from harness.sandbox import ROOT, scratch
from harness.sandbox.support import packages
from harness.sandbox.zygote import Zygote
from harness.session import start_runner as runners
from harness.session.programs import RunnerProgram, source_program

LIBRARY = RunnerProgram(kind="library", file=Path("/solution.so"))


def test_nothing_else_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "PYTHONPATH", "LD_PRELOAD", "HOME"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("CUDA_HOME", "/cuda")
    given = runners.runner_environment(LIBRARY)
    assert "secret" not in given.values()
    assert given["CUDA_HOME"] == "/cuda"


def test_a_sanitizer_is_preloaded_where_it_was_built_in() -> None:
    sanitizer, options = Path("/libasan.so"), cudacpu.ASAN_OPTIONS
    sanitized = RunnerProgram(kind="library", sanitizer=sanitizer)
    given = runners.runner_environment(sanitized)
    assert (given["LD_PRELOAD"], given["ASAN_OPTIONS"]) == (str(sanitizer), options)
    assert not {"LD_PRELOAD", "ASAN_OPTIONS"} & runners.runner_environment(LIBRARY).keys()


def test_libraries_and_wrapped_runners_have_no_zygote() -> None:
    assert runners.choose_zygote(LIBRARY) is None
    tool = RunnerProgram(kind="python", source=b"", wrapper=("/usr/bin/tool",))
    assert runners.choose_zygote(tool) is None


@pytest.mark.usefixtures("stand_in_for_torch")
def test_python_has_one_zygote_for_each_way_of_running_triton() -> None:
    compiled = source_program(b"x = 1")
    interpreted = RunnerProgram(kind="python", source=b"x = 1", interpret=True)
    assert runners.choose_zygote(compiled) is runners.choose_zygote(source_program(b"y = 2"))
    assert runners.choose_zygote(compiled) is not runners.choose_zygote(interpreted)


@pytest.mark.usefixtures("stand_in_for_torch")
def test_the_zygote_that_is_begun_early_is_the_one_of_baselines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Zygote] = []
    plain = runners.zygote

    def noted(*given: Any, **options: Any) -> Zygote:
        asked.append(plain(*given, **options))
        return asked[-1]

    monkeypatch.setattr(runners, "zygote", noted)
    runners.begin_zygote()
    assert runners.choose_zygote(source_program(b"x = 1")) is asked[0]
    assert len(asked) == 2


def test_packages_are_looked_for_in_absolute_folders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "relative", "/packages"])
    assert runners.search_path() == ["/packages"]


def test_where_python_was_started_is_not_shown_to_submissions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, scripts = tmp_path / "home", tmp_path / "scripts"
    home.mkdir()
    monkeypatch.chdir(home)
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", str(scripts / "contest.py"), raising=False)
    monkeypatch.setattr(sys, "path", [str(scripts), str(home), "/packages"])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert runners.search_path() == ["/packages"]
    monkeypatch.setenv("PYTHONPATH", f"/packages:{scripts}")
    assert runners.search_path() == [str(scripts), "/packages"]


def test_folders_that_hold_the_judge_or_its_temporary_files_are_not_shown() -> None:
    above = [str(place.parent) for place in (ROOT, scratch.home())]
    assert packages([*above, str(ROOT), "/", "/packages"]) == ("/packages",)
