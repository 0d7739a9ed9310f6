"""What is refused by reading a file alone."""

import os
from pathlib import Path

import pytest

from harness.languages import LANGUAGES
from harness.solution.contents import FileError, as_text, read_bytes, refusal
from harness.solution.suffixes import GENERATIONS, KNOWN


def test_extensions_are_those_of_the_languages_and_of_generations() -> None:
    assert set(KNOWN) == {language.suffix for language in LANGUAGES.values()} | set(GENERATIONS)


@pytest.mark.parametrize("suffix", KNOWN)
def test_no_word_of_what_may_be_a_submission(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"k{suffix}"
    path.write_bytes(b"\xff not even text")
    assert refusal(path) is None
    assert refusal(tmp_path / f"missing{suffix}") is None
    assert refusal(tmp_path / "missing.cpp") is None  # whoever looks for it says so


def test_another_extension_is_refused_with_what_the_file_is(tmp_path: Path) -> None:
    text, archive, folder = tmp_path / "k.rs", tmp_path / "k.zip", tmp_path / "k.d"
    text.write_text("fn main() {}")
    archive.write_bytes(b"PK\x03\x04\x97")
    folder.mkdir()
    assert str(refusal(text)).startswith(f"{text}: unknown extension '.rs'; a submission is one of")
    assert refusal(archive) == f"{archive}: is a zip archive; unpack it and submit the folder"
    assert refusal(folder) == f"{folder}: is a directory; name the file in it"
    link = tmp_path / "l.cpp"
    link.symlink_to(text)
    assert refusal(link) == f"{link}: is a symbolic link; submit the file itself"


def test_a_name_that_cannot_be_shown_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a\u202e.cpp"
    path.write_text("x")
    said = refusal(path)
    assert said is not None
    assert said.isprintable()
    assert said.endswith("the path has characters that cannot be shown; rename it")


def test_only_plain_files_are_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "k.cu"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is a pipe"):
        read_bytes(pipe)
    (tmp_path / "naive.cu").write_text("x")
    with pytest.raises(FileError, match=r"no such file \(did you mean .*naive\.cu\?\)"):
        read_bytes(tmp_path / "naive2.cu")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"a\nb\xe9", "2: byte 0xe9 is not UTF-8; save it as UTF-8"),
        (b"a\n\n\0", "3: holds a NUL byte"),
        (b"\xff\xfea\0", " is UTF-16; save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_named_with_its_line(source: bytes, said: str) -> None:
    with pytest.raises(FileError) as refused:
        as_text(source)
    assert str(refused.value).startswith(said)


def test_a_byte_order_mark_is_no_text() -> None:
    assert as_text(b"\xef\xbb\xbfx") == "x"
