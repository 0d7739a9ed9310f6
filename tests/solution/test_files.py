"""Which files of a folder are submissions."""

import os
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.solution.files import solution_files

DUMP = "# Problem: p\n# Model: m\n\ntext"


def laid(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [path.relative_to(folder).as_posix() for path in solution_files([folder])]


def test_beside_sources_only_what_has_a_header(tmp_path: Path) -> None:
    files = {"a/k.cu": "x", "b.py": "x", "notes.md": "```py\n```", "c.txt": DUMP, "d.json": "{}"}
    assert laid(tmp_path, files) == ["a/k.cu", "b.py", "c.txt"]


def test_a_folder_of_generations(tmp_path: Path) -> None:
    files = {"README.md": "x", "requirements.txt": "x", "0.txt": "raw", "1.md": DUMP}
    assert laid(tmp_path, files) == ["0.txt", "1.md"]


def test_documents_and_hidden_folders_are_no_generations(tmp_path: Path) -> None:
    files = {"a/notes.md": "x", "b/TODO.txt": "x", "CONTRIBUTING.md": "x", "a/0.txt": "raw"}
    hidden = {".venv/lib/k.py": "x", ".ipynb_checkpoints/1.txt": DUMP, "__pycache__/k.py": "x"}
    assert laid(tmp_path, files | hidden) == ["a/0.txt"]


def test_a_folder_may_lie_below_a_hidden_one(tmp_path: Path) -> None:
    folder = tmp_path / ".cache/run"
    folder.mkdir(parents=True)
    (folder / "k.cu").write_text("x")
    assert solution_files([folder]) == [folder / "k.cu"]


def test_a_named_file_is_taken(tmp_path: Path) -> None:
    assert solution_files([tmp_path / "README.md"]) == [tmp_path / "README.md"]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert laid(tmp_path, {"a.py": "x"}) == ["a.py"]


def test_a_folder_of_other_files_names_their_extensions(tmp_path: Path) -> None:
    for name in ("a.ipynb", "b.cpp", "c.cpp", "LICENSE"):
        (tmp_path / name).write_text("x")
    with pytest.raises(
        UsageError, match=r"in this folder.*; there are \.cpp, \.ipynb: harness check"
    ):
        solution_files([tmp_path])


def test_a_folder_without_submissions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no \.cu, \.ptx or \.py file in this folder, and no generation"
    ):
        solution_files([tmp_path])
