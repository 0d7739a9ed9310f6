"""Folders of submissions: each file gets its verdict or its line, whatever the others are."""

import os
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.plain_languages import install_plain_languages

from harness import cli
from harness.commands import jobs
from harness.device import choose as device
from harness.errors import MachineError
from harness.grading import grader
from harness.grading.grader import Grader
from harness.languages import read
from harness.records.result import Result, Verdict
from harness.solution.model import BuildFailure, Invalid

PACKAGES = Path(__file__).parent / "support/packages"
HONEST = "def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"
DUMP = "Here it is:\n\n```python\n{}# {}\n```\n"


class Done(NamedTuple):
    status: int
    results: list[Result]
    err: str

    @property
    def verdicts(self) -> dict[str, str]:
        return {Path(each.solution.path).name: str(each.verdict) for each in self.results}

    @property
    def summary(self) -> str:
        return self.err.splitlines()[-1]


Run = Callable[..., Done]


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stand_in_for_torch: None,
) -> Run:
    """Runs a command, with results as JSON, in this process and in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("HARNESS_PROBLEMS", "packages")
    monkeypatch.setattr(device, "gpu_present", lambda: False)
    install_plain_languages(monkeypatch)
    shutil.copytree(PACKAGES / "shift", tmp_path / "packages/shift")

    def command(*arguments: object) -> Done:
        words = ["harness", *map(str, arguments), "--json", "-"]
        monkeypatch.setattr(sys, "argv", words)
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capfd.readouterr()
        return Done(status, list(map(Result.from_json, out.splitlines())), err)

    return command


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built: what could be is a compile error."""
    build = Grader.build

    def refuse(self: Grader, job: grader.Job, *rest: object, **options: object) -> object:
        if isinstance(job.solution, Invalid):
            return build(self, job, *rest, **options)  # type: ignore[arg-type]
        return BuildFailure(verdict=Verdict.COMPILE_ERROR, message="not built")

    monkeypatch.setattr(Grader, "build", refuse)


def package(name: str, text: Callable[[str], str] = str, reference: str | None = None) -> None:
    """A problem like ``shift`` in the current folder."""
    folder = Path("packages") / name
    shutil.copytree("packages/shift", folder)
    statement = folder / "problem.md"
    statement.write_text(text(statement.read_text().replace("slug: shift", f"slug: {name}")))
    if reference is not None:
        (folder / "reference.py").write_text(reference)


def write(problem: str, name: str, text: str | bytes = HONEST) -> Path:
    path = Path("solutions") / problem / "model" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    opened: list[socket.socket] = []
    yield opened
    for each in opened:
        each.close()


def odd_files(folder: Path, sockets: list[socket.socket]) -> int:
    """Write all that may lie among generations; returns how many there are."""
    contents = {
        "empty.txt": b"",
        "blank.txt": b" \n\n",
        "large.txt": b"x" * ((1 << 20) + 1),
        "latin.txt": b"caf\xe9",
        "wide.txt": "\ufeffdef solution(x): pass".encode("utf-16-le"),
        "big-endian.txt": "\ufeffdef".encode("utf-16-be"),
        "nul.txt": b"def solution\0",
        "prose.txt": b"I cannot.",
        "archive.txt": b"PK\x03\x04\x14\x00\x08\x00\xff",
        "compressed.txt": b"\x1f\x8b\x08\x00\xff",
        "nested.txt": "".join("`" * n + "markdown\n" for n in range(600, 2, -1)).encode(),
        "deep.txt": "".join(" " * n + "```md\n" for n in range(1000)).encode(),
        "control\x1b[31m.txt": HONEST.encode(),
        "two\nlines.txt": HONEST.encode(),
        "re\u202eversed.txt": HONEST.encode(),
        "a space.txt": HONEST.encode(),
        "-rf.txt": HONEST.encode(),
        "=cmd|x.txt": HONEST.encode(),
        "x" * 240 + ".txt": HONEST.encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    strange = os.fsencode(folder) + b"/\xff\xfe.txt"
    Path(os.fsdecode(strange)).write_bytes(HONEST.encode())
    (folder / "dangling.txt").symlink_to("nowhere.txt")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "outside.txt").symlink_to("/etc/passwd")
    (folder / "folder.txt").mkdir()
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.txt")
    sockets.append(socket.socket(socket.AF_UNIX))
    here = Path.cwd()
    os.chdir(folder)
    sockets[-1].bind("socket.txt")
    os.chdir(here)
    return len(contents) + 8


@pytest.mark.corpus
@pytest.mark.parametrize(("command", "files"), [("check", 1000), ("submit", 100)])
def test_a_thousand_generations_with_odd_ones(
    run: Run, quick: None, sockets: list[socket.socket], command: str, files: int
) -> None:
    folder = write("shift", "g0000.txt", DUMP.format(HONEST, 0)).parent
    odd = odd_files(folder, sockets)
    for number in range(1, files - odd):
        write("shift", f"g{number:04}.txt", DUMP.format(HONEST, number))
    done = run(command, "solutions")
    assert done.status == 1, done.err
    assert len(done.results) == files
    assert Counter(each.verdict for each in done.results) == {
        Verdict.COMPILE_ERROR: files - odd,
        Verdict.INVALID_SUBMISSION: odd,
    }
    assert {each.problem.slug for each in done.results} == {"shift"}
    assert done.summary == f"{files:,} files: {files - odd} COMPILE_ERROR, {odd} INVALID_SUBMISSION"
    assert "\x1b" not in done.err
    named = next(each for each in done.results if each.solution.path.endswith("empty.txt"))
    assert (named.solution.author, named.solution.name) == ("model", "empty")
    assert named.message.endswith("is empty")


def test_an_interrupted_folder_goes_on_with_the_rest(run: Run, quick: None) -> None:
    write("shift", "empty.txt", "")
    write("shift", "good.txt", DUMP.format(HONEST, 1))
    assert len(run("submit", "solutions").results) == 2
    write("shift", "late.txt", DUMP.format(HONEST, 2))
    done = run("submit", "solutions", "--resume")
    assert done.verdicts == {"late.txt": "COMPILE_ERROR"}
    assert done.summary == "3 files: 2 COMPILE_ERROR, 1 INVALID_SUBMISSION"


def test_files_for_which_no_problem_is_known(run: Run, quick: None) -> None:
    folder = Path("gen")
    folder.mkdir()
    header = "# Problem: {}\n# Model: m\n\n"
    (folder / "01.txt").write_text(header.format("shift") + DUMP.format(HONEST, 1))
    (folder / "02.txt").write_text(DUMP.format(HONEST, 2))
    (folder / "03.txt").write_text(header.format("shft") + DUMP.format(HONEST, 3))
    (folder / "04.txt").write_text(header.format("x" * 100_000) + DUMP.format(HONEST, 4))
    (folder / "05.txt").write_text("")
    (folder / "06.txt").write_text("# Model: m\n\n" + DUMP.format(HONEST, 6))
    (folder / "07.txt").write_text(header.format("shift") + "I cannot.")
    done = run("check", "gen")
    assert done.status == 2
    assert done.verdicts == {"01.txt": "COMPILE_ERROR", "07.txt": "INVALID_SUBMISSION"}
    lines = done.err.splitlines()
    assert [line.split(": ")[:2] for line in lines[:-1]] == [
        ["error", f"gen/{number}.txt"] for number in ("02", "03", "04", "05", "06")
    ]
    assert "which problem?" in lines[0]
    assert "did you mean shift?" in lines[1]
    assert len(lines[2]) < 400
    assert done.summary == (
        "7 files: 1 COMPILE_ERROR, 1 INVALID_SUBMISSION; 5 not judged: "
        "gen/02.txt, gen/03.txt, gen/04.txt, gen/05.txt, gen/06.txt"
    )


def test_nothing_that_can_be_judged(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        write("nothing", f"{number}.txt")
    monkeypatch.setattr("harness.grading.executor.open_executor", lambda _: 1 / 0)
    done = run("check", "solutions")
    assert (done.status, done.results) == (2, [])
    assert "no problem 'nothing' in packages (there are: shift)" in done.err
    assert done.summary.startswith("7 files: none judged; 7 not judged: solutions/nothing/model/0")
    assert done.summary.endswith(", 2 more")


def test_one_file_alone_is_told_as_an_error(run: Run) -> None:
    Path("mine.txt").write_text(DUMP.format(HONEST, 1))
    done = run("check", "mine.txt")
    assert (done.status, done.results) == (2, [])
    assert done.err.startswith("error: mine.txt: which problem? ")
    assert len(done.err.splitlines()) == 1
    # What its path names the problem of has a verdict, alone as among others.
    assert run("check", write("shift", "e.txt", "")).verdicts == {"e.txt": "INVALID_SUBMISSION"}


def test_a_file_that_vanishes(run: Run, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write("shift", f"{name}.txt", DUMP.format(HONEST, name)) for name in "abc"]
    reading = read.read_solution

    def gone(path: Path, **about: str | None) -> object:
        if path == paths[1]:
            path.unlink()
        return reading(path, **about)  # type: ignore[arg-type]

    monkeypatch.setattr(read, "read_solution", gone)
    done = run("check", "solutions")
    assert done.status == 2
    assert sorted(done.verdicts) == ["a.txt", "c.txt"]
    assert f"error: {paths[1]}: no such file" in done.err
    # A name that is none among others.
    done = run("check", paths[0], "typo.txt", paths[2])
    assert (done.status, sorted(done.verdicts)) == (2, ["a.txt", "c.txt"])


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("raise RuntimeError('no')\n", str),
        ("def reference(:\n", str),
        ("x = 1\n", str),
        ("def reference(x, s, n):\n    return x + t\n", str),
        (None, lambda text: text.replace("cases: 2", "cases: two\nkases: 3")),
        (None, lambda text: text.replace("dtypes: [float32, float16]\n", "")),
    ],
)
def test_a_broken_problem_ends_its_own_files_alone(
    run: Run, reference: str | None, text: Callable[[str], str]
) -> None:
    package("broken", text, reference)
    package("sound")
    for number in range(3):
        write("broken", f"b{number}.py", f"{HONEST}# {number}\n")
    write("broken", "empty.py", "")
    write("shift", "a.py")
    write("sound", "z.py")
    done = run("check", "solutions")
    assert done.status == 2
    good = {"a.py": "ACCEPTED", "z.py": "ACCEPTED"}
    assert done.verdicts in (good, good | {"empty.py": "INVALID_SUBMISSION"})
    told = [line for line in done.err.splitlines() if "solutions/broken/model/b" in line]
    assert len(told) == 4  # each once, and the summary
    assert len({line.split(": ", 2)[2] for line in told[:3]}) == 1, told
    assert "not judged: " in done.summary
    assert "Traceback" not in done.err


@pytest.mark.corpus
def test_a_baseline_that_fails(run: Run) -> None:
    package("broken")
    Path("packages/broken/baseline.py").write_text(
        "def solution(*_):\n    raise ValueError('no')\n"
    )
    write("broken", "b.py")
    for number in range(4):
        write("broken", f"c{number}.py", f"{HONEST}# {number}\n")
    write("shift", "a.py")
    done = run("submit", "solutions", "--functional-times")
    # It may be the machine's fault as well.
    assert (done.status, done.verdicts) == (3, {"a.py": "ACCEPTED"}), done.err
    assert "5 not judged" in done.summary
    assert done.err.count("the baseline failed: ValueError: no") == 5


def test_a_broken_problem_that_is_named_is_told_at_once(run: Run) -> None:
    package("broken", lambda text: text.replace("cases: 2", "cases: two"))
    paths = [write("shift", f"{number}.py") for number in range(2)]
    for named in ("broken", "nothing"):
        done = run("check", *paths, "--problem", named)
        assert (done.status, done.results) == (2, [])
        assert len([line for line in done.err.splitlines() if line.startswith("error")]) == 1


def test_options_that_no_file_can_meet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write("shift", f"{number}.py") for number in range(2)]
    monkeypatch.setattr("harness.grading.executor.open_executor", lambda _: 1 / 0)
    for options, told in (
        (["--dtype", "int9"], "error: --dtype int9: there is no such type (did you mean int8?)"),
        (["--dtype", "float64", "--problem", "shift"], "shift has float32, float16"),
        (["--case", "m=3"], "m"),
    ):
        done = run("check", *paths, *options)
        assert (done.status, done.results) == (2, []), options
        assert told in done.err
        assert "files: " not in done.err


def test_a_type_that_some_problems_have(run: Run, quick: None) -> None:
    package("single", lambda text: text.replace("[float32, float16]", "[float32]"))
    write("single", "s.py")
    write("shift", "a.py")
    done = run("check", "solutions", "--dtype", "float16")
    assert (done.status, done.verdicts) == (2, {"a.py": "COMPILE_ERROR"})
    assert "s.py: --dtype float16: single has float32" in done.err


class TestTheMachine:
    """Errors of the machine: one file's end that file, those of all end the run."""

    @pytest.fixture
    def fails_at(self, monkeypatch: pytest.MonkeyPatch) -> set[str]:
        names: set[str] = set()
        judge = Grader._judge

        def fail(self: Grader, artifact: object, draft: object, *rest: object) -> object:
            path = Path(draft.solution.path)  # type: ignore[attr-defined]
            if path.name in names:
                raise MachineError("the process does not answer")
            return judge(self, artifact, draft, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(Grader, "_judge", fail)
        return names

    def test_one_file(self, run: Run, quick: None, fails_at: set[str]) -> None:
        for name in "abcd":
            write("shift", f"{name}.py", f"{HONEST}# {name}\n")
        fails_at |= {"b.py", "c.py"}
        done = run("submit", "solutions")
        assert (done.status, sorted(done.verdicts)) == (3, ["a.py", "d.py"])
        assert "error: solutions/shift/model/b.py: the process does not answer" in done.err
        assert done.summary.startswith("4 files: 2 COMPILE_ERROR; 2 not judged: ")

    def test_all(self, run: Run, quick: None, fails_at: set[str]) -> None:
        for name in "abcdefg":
            write("shift", f"{name}.py", f"{HONEST}# {name}\n")
        fails_at |= {f"{name}.py" for name in "bcdefg"}
        done = run("submit", "solutions")
        assert (done.status, sorted(done.verdicts)) == (3, ["a.py"])
        assert done.summary == "error: the process does not answer"
        assert "7 files: 1 COMPILE_ERROR; 2 not judged: " in done.err


def test_files_are_read_as_they_are_needed(
    run: Run, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each problem once, however many files it has."""
    loads: list[str] = []
    found = jobs.Packages._load
    monkeypatch.setattr(
        jobs.Packages, "_load", lambda self, slug: loads.append(slug) or found(self, slug)
    )
    monkeypatch.setattr(jobs, "_BATCH", 10)
    for number in range(25):
        write("shift", f"{number:02}.txt", DUMP.format(HONEST, number))
        write("nothing", f"{number:02}.txt")
    read_at: list[int] = []
    grade_all = Grader.grade_all

    def note(self: Grader, batch: list[grader.Job], *rest: object) -> object:
        read_at.append(len(batch))
        return grade_all(self, batch, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Grader, "grade_all", note)
    done = run("check", "solutions")
    assert len(done.results) == 25
    assert read_at == [10, 10, 5]
    assert sorted(loads) == ["nothing", "shift"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.cpp", HONEST, "if it is CUDA C++, rename it to .cu"),
        ("a.CU", HONEST, "rename it to .cu"),
        ("a.ipynb", "{}", "save the code of a notebook as .py"),
        ("a.zip", b"PK\x03\x04\xff", "is a zip archive; unpack it and submit the folder"),
        ("a.py", b"\x1f\x8b\x08\xff", "is compressed; unpack it"),
        ("a.rs", HONEST, "a submission is one of"),
    ],
)
def test_what_is_said_of_other_files(run: Run, name: str, content: str | bytes, told: str) -> None:
    done = run("check", write("shift", name, content))
    assert done.status == 1
    assert told in done.results[0].message
