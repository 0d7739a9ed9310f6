"""Everything that reads the words of others, on hostile words: only what is documented is raised.

A few seconds of what ``python -m tools.fuzzing`` does for hours, and inputs that failed before.
"""

import importlib.util
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.fuzzing.__main__ import main
from tools.fuzzing.targets import TARGETS, Target

ROOT = Path(__file__).parents[3]
EXAMPLES = 15


@st.composite
def mutants(draw: st.DrawFn, target: Target) -> bytes:
    """A seed of the target with words put in, bytes changed, and pieces left out."""
    data = bytearray(draw(st.sampled_from(target.seeds)))
    words = [word.encode("utf-8", "surrogateescape") for word in target.words]
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0 if words:
                data[place:place] = draw(st.sampled_from(words))
            case 1:
                data[place : place + draw(st.integers(1, 8))] = draw(st.binary(max_size=4))
            case 2:
                del data[place : place + draw(st.integers(1, 40))]
            case _:
                data[place:place] = data[: draw(st.integers(0, 40))]
    return bytes(data[: target.most])


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(each, marks=[pytest.mark.corpus] if each.name == "git-tree" else [])
        for each in TARGETS
    ],
    ids=lambda target: target.name,
)
def test_its_seeds(target: Target) -> None:
    for seed in target.seeds:
        assert len(seed) <= target.most
        target.run(seed)
    target.run(b"")


@pytest.mark.corpus
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_its_seeds_changed(target: Target, data: st.DataObject) -> None:
    target.run(data.draw(mutants(target)))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_any_bytes(target: Target) -> None:
    source = random.Random(target.name)
    for _ in range(EXAMPLES):
        target.run(source.randbytes(source.randrange(200)))


def _child(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tools.fuzzing", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="no atheris: see [fuzz]")
@pytest.mark.corpus
def test_the_command(tmp_path: Path) -> None:
    done = _child("expression", "wire", "--inputs", "300", "--keep", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["expression", "300", "0"],
        ["wire", "300", "0"],
    ]
    assert any((tmp_path / "expression" / "corpus").iterdir())


def test_a_target_that_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "wire" in capsys.readouterr().err
