"""The file of a result: stored, or still at its path."""

from hashlib import sha256
from pathlib import Path

import pytest
from support.samples import result

from harness.languages.read import code_of, read_solution, submitted_file
from harness.records.refs import SolutionRef
from harness.records.result import Result

CODE = b"\xef\xbb\xbfdef solution(x, y, n):\r\n    y[:] = x\n"
GENERATION = b"# Model: m\n<think>SECRET</think>\n```python\ndef solution(x): ...\n```\n"


def _of(path: Path | str, content: bytes) -> Result:
    about = SolutionRef(
        author="alice",
        name="mine",
        language="python",
        hash=sha256(content).hexdigest(),
        path=str(path),
    )
    return result(solution=about, language="python")


def test_the_stored_file_goes_first(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b"something else")
    assert submitted_file(_of(path, CODE), CODE) == CODE
    assert code_of(_of(path, CODE), CODE) == CODE.decode("utf-8-sig")
    assert code_of(_of("/nowhere/mine.py", CODE), CODE) == CODE.decode("utf-8-sig")


def test_the_file_at_the_path_is_taken_if_it_was_graded(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(CODE)
    assert submitted_file(_of(path, CODE), None) == CODE
    assert code_of(_of(path, CODE), None) == CODE.decode("utf-8-sig")
    path.write_bytes(CODE + b"#")
    assert submitted_file(_of(path, CODE), None) is None
    assert code_of(_of(path, CODE), None) is None


@pytest.mark.parametrize("path", ["", "gone.py", "nul\0.py", "/", "\udcff.py"])
def test_there_is_no_file_if_it_changed_or_is_gone(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert submitted_file(_of(path, CODE), None) is None
    assert code_of(_of(path, CODE), None) is None


def test_the_file_of_a_generation_is_all_of_it_and_its_code_a_part(tmp_path: Path) -> None:
    path = tmp_path / "sample.txt"
    path.write_bytes(GENERATION)
    for kept in (None, GENERATION):
        assert submitted_file(_of(path, GENERATION), kept) == GENERATION
        code = code_of(_of(path, GENERATION), kept)
        assert code is not None
        assert "def solution" in code
        assert "SECRET" not in code


def test_a_generation_without_code_is_a_file_without_code(tmp_path: Path) -> None:
    path = tmp_path / "sample.txt"
    path.write_bytes(b"# Model: m\n\nI cannot help with that.\n")
    content = path.read_bytes()
    assert submitted_file(_of(path, content), None) == content
    assert code_of(_of(path, content), content) is None


@pytest.mark.parametrize("content", [CODE, GENERATION, b"\xff\xfe", b"x\0", b"no code at all"])
@pytest.mark.parametrize("name", ["mine.py", "mine.cu", "sample.txt", "b c.py", "x.unknown"])
def test_given_contents_are_read_as_the_file_is(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert read_solution(path, submitted=content) == read_solution(path)
