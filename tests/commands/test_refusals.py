"""What can be refused without torch is refused before it is imported, which takes seconds."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import ROOT
from support.corpus import rest_in_corpus

from harness.device.present import gpu_present

PROGRAM = """
import sys
from harness.cli import main
try:
    main()
finally:
    print({"torch", "pydantic"} & set(sys.modules) or "light")
"""
KERNEL = "__global__ void f() {}\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    rest_in_corpus(
        [
            (
                ["check", "k.cpp"],
                2,
                "unknown extension '.cpp'; if it is CUDA C++, rename it to .cu",
            ),
            (
                ["check", "k.cpp", "--problem", "vector-add"],
                2,
                "if it is CUDA C++, rename it to .cu",
            ),
            (
                ["check", "k.ipynb", "--problem", "vector-add"],
                2,
                "save the code of a notebook as .py",
            ),
            (["check", "k.zip", "--problem", "vector-add"], 2, "unpack it and submit the folder"),
            (["check", "k.cu", "--problem", "vector-ad"], 2, "did you mean vector-add?"),
            (
                ["check", "k.cu", "--problem", "vector-add", "--case", "n=abc"],
                2,
                "n must be a whole",
            ),
            (["check", "k.cu", "--problem", "vector-add", "--dtype", "float3"], 2, "mean float32?"),
            (["check", "k.cu", "--problem", "vector-add", "--arch", "sm_1"], 2, "no GPU has that"),
            (["check", "k.cu", "--problem", "vector-add", "--device", "cuda"], 4, "--device cpu"),
            (["submit", "k.cu", "--problem", "vector-add", "--device", "cuda"], 4, "--device cpu"),
            (["compare", "k.cu", "k.cu", "--device", "cuda"], 4, "no NVIDIA GPU or driver here"),
            (["regrade", "--device", "cuda"], 4, "no NVIDIA GPU or driver here"),
            (["verify", "--device", "cuda", "vector-add"], 4, "no NVIDIA GPU or driver here"),
            (["check", "nowhere.cu"], 2, "no such file"),
            (["check", "."], 2, "which problem?"),
        ],
        always=5,
    ),
)
def test_torch_is_not_imported_for_a_refusal(
    tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    assert "torch" not in _refused(tmp_path, arguments, status, said)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["check", "k.cpp", "--problem", "vector-add"], 2, "if it is CUDA C++, rename it to .cu"),
        (["check", "k.zip", "--problem", "vector-add"], 2, "unpack it and submit the folder"),
        (["check", "k.cu", "--problem", "vector-ad"], 2, "did you mean vector-add?"),
        (["check", "k.cu", "--problem", "vector-add", "--arch", "sm_1"], 2, "no GPU has that"),
        (["check", "k.cu", "--problem", "vector-add", "--device", "cuda"], 4, "--device cpu"),
    ],
)
def test_what_arguments_alone_tell_needs_no_records_either(
    tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    assert _refused(tmp_path, arguments, status, said) == "light"


def _refused(tmp_path: Path, arguments: list[str], status: int, said: str) -> str:
    """What a refused command has imported of what takes long."""
    if "cuda" in arguments and gpu_present():
        pytest.skip("there is a GPU")
    for name in ("k.cpp", "k.cu", "k.ipynb", "k.zip"):
        (tmp_path / name).write_text(KERNEL)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HARNESS_STORE": str(tmp_path / "results.sqlite")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    return done.stdout.strip()
