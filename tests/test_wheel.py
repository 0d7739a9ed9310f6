"""What ``pip install`` gives: sdist and wheel from a clean tree, used outside of any checkout."""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("harness", "leaderboard", "problems", "tools", "pyproject.toml", "README.md", "LICENSE")
OTHERS = ("MANIFEST.in", "CHANGELOG.md", "constraints.txt")
SECONDS = 300

pytestmark = pytest.mark.corpus
pytest.importorskip("setuptools")


class Built(NamedTuple):
    sdist: Path
    wheel: Path


class Venv(NamedTuple):
    """A fresh environment with the wheel, in which packages of this one are found."""

    folder: Path

    def run(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A command of it, as if there were no checkout."""
        told = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "HARNESS"))}
        program, *rest = map(str, words)
        return subprocess.run(
            [str(self.folder / "bin" / program), *rest],
            cwd=cwd,
            env=told,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )


def python(words: Sequence[str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> list[str]:
    """The files of the sources, without what a build or a run leaves behind."""
    return [
        str(path.relative_to(ROOT))
        for name in (*SOURCES, *OTHERS)
        for path in (sorted((ROOT / name).rglob("*")) if (ROOT / name).is_dir() else [ROOT / name])
        if path.is_file() and "__pycache__" not in path.parts
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """An sdist, and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("built")
    tree = folder / "tree"
    for name in tracked():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((ROOT / name).read_bytes())
    backend = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    python(["-c", backend], tree)
    (sdist,) = folder.glob("*.tar.gz")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    python(["-m", "pip", "wheel", *options, str(sdist), "-w", str(folder)], folder)
    (wheel,) = folder.glob("*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="module")
def venv(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    python(["-m", "venv", "--without-pip", str(folder)], ROOT)
    packages = folder / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    here = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    (packages / "others.pth").write_text("\n".join(here))
    install = ("install", "--no-deps", "--no-index", "--quiet", str(built.wheel))
    python(["-m", "pip", "--python", str(folder / "bin/python"), *install], ROOT)
    return Venv(folder)


def test_the_sdist_holds_what_a_build_needs(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    needed = {name for name in tracked() if not name.startswith(("tools/", "leaderboard/boards/"))}
    assert needed <= inside
    assert not [name for name in inside if "__pycache__" in name]


def test_the_wheel_holds_every_file_of_the_packages_and_the_problems(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        inside = set(wheel.namelist())
    for name in tracked():
        if name.startswith("problems/"):
            assert f"harness/{name}" in inside
        elif name.startswith(("harness/", "leaderboard/")) and "/boards/" not in name:
            assert name in inside
    assert {name.partition("/")[0].partition("-")[0] for name in inside} == {
        "harness", "leaderboard", "kernel_harness",
    }  # fmt: skip
    assert "harness/problems/vector-add/reference.py" in inside
    assert not [name for name in inside if "__pycache__" in name]


SPY = """\
import os
from pathlib import Path

import torch

OURS = Path({harness!r})


def solution(x, y, out, n):
    seen = [str(p) for part in ("problems", "judge", "cli.py") for p in OURS.glob(part)]
    assert not seen, seen
    torch.add(x, y, out=out)
"""


def test_it_grades_outside_of_a_checkout(venv: Venv, tmp_path: Path) -> None:
    sample = ROOT / "solutions/vector-add/samples"
    (tmp_path / "mine.cu").write_bytes((sample / "naive.cu").read_bytes())
    (tmp_path / "mine.py").write_bytes((sample / "triton.py").read_bytes())
    asked = ("--problem", "vector-add", "--device", "cpu")
    for words in (
        ("harness", "check", "mine.cu", *asked),
        ("python", "-m", "harness", "check", "mine.py", *asked),
    ):
        done = venv.run(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("ACCEPTED  vector-add · anonymous/mine"), done.stdout


def test_a_submission_does_not_see_the_judge_s_own_files(venv: Venv, tmp_path: Path) -> None:
    shown = venv.run("python", "-c", "import harness; print(harness.__path__[0])", cwd=tmp_path)
    package = Path(shown.stdout.strip())
    assert package.is_relative_to(venv.folder)
    assert (package / "problems/vector-add/problem.md").is_file()
    (tmp_path / "spy.py").write_text(SPY.format(harness=str(package)))
    asked = ("--problem", "vector-add", "--device", "cpu", "--no-shrink")
    done = venv.run("harness", "check", "spy.py", *asked, cwd=tmp_path)
    if "not isolated" in done.stdout:
        pytest.skip("this machine allows no namespaces")
    assert done.returncode == 0, done.stdout + done.stderr
    sample = ROOT / "solutions/vector-add/samples/naive.cu"
    (tmp_path / "mine.cu").write_bytes(sample.read_bytes())
    confined = venv.run("harness", "check", "mine.cu", *asked, "--require-sandbox", cwd=tmp_path)
    here = subprocess.run(
        [sys.executable, "-c", "from harness.sandbox.selftest import breaches; print(breaches())"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (confined.returncode == 0) == (here.stdout.strip() in ("[]", "()")), confined.stderr


def test_all_of_it_works(venv: Venv, tmp_path: Path) -> None:
    script = (
        "import harness; from pathlib import Path\n"
        "result = harness.grade(Path('wrong.py'), 'vector-add', device='cpu', effort='verdict')\n"
        "print(result.verdict, result.effort)"
    )
    wrong = ROOT / "problems/vector-add/examples/wrong_answer/returns_an_input.py"
    (tmp_path / "wrong.py").write_bytes(wrong.read_bytes())
    shown = venv.run("python", "-c", script, cwd=tmp_path)
    assert shown.stdout == "WRONG_ANSWER verdict\n", shown.stderr
    for words, printed in (
        (("problems",), "vector-add"),
        (("problems", "show", "softmax"), "Softmax"),
        (("init", "softmax", "--language", "cuda", "--output", "softmax.cu"), "wrote softmax.cu"),
        (("leaderboard", "--store", "none.sqlite"), "no accepted results"),
        (("doctor",), "python"),
    ):
        done = venv.run("harness", *words, cwd=tmp_path)
        assert printed in done.stdout, done.stdout + done.stderr
