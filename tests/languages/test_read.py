import os
import socket
from pathlib import Path

import pytest

from harness.languages.python import imported
from harness.languages.read import read_solution
from harness.solution.contents import MAX_BYTES
from harness.solution.model import Invalid, Solution

CUDA = 'extern "C" void solution() {}\n'


def write(path: Path, content: str | bytes = CUDA) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def accepted(path: Path, **given: str) -> Solution:
    solution = read_solution(path, **given)
    assert isinstance(solution, Solution), solution
    return solution


def refused(path: Path, **given: str) -> str:
    invalid = read_solution(path, **given)
    assert isinstance(invalid, Invalid), invalid
    assert invalid.message.isprintable()
    return invalid.message


def test_the_layout_names_problem_author_and_name(tmp_path: Path) -> None:
    solution = accepted(write(tmp_path / "solutions/gemm/ada/tiled.cu"))
    assert (solution.problem, solution.author, solution.name) == ("gemm", "ada", "tiled")
    assert solution.language == "cuda"
    assert len(solution.hash) == 64


def test_a_given_problem_and_author_go_first(tmp_path: Path) -> None:
    path = write(tmp_path / "solutions/gemm/ada/tiled.cu")
    solution = accepted(path, problem="softmax", author="bob")
    assert (solution.problem, solution.author) == ("softmax", "bob")


def test_outside_the_layout_nothing_is_inferred(tmp_path: Path) -> None:
    solution = accepted(write(tmp_path / "x.cu"))
    assert (solution.problem, solution.author) == (None, "anonymous")


def test_a_relative_path_inside_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "solutions/gemm/ada/tiled.cu")
    monkeypatch.chdir(tmp_path / "solutions/gemm/ada")
    solution = accepted(Path("tiled.cu"))
    assert (solution.problem, solution.author, solution.display_path) == ("gemm", "ada", "tiled.cu")


def test_a_problems_own_examples(tmp_path: Path) -> None:
    assert accepted(write(tmp_path / "problems/gemm/examples/accepted/a.cu")).problem == "gemm"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    solution = accepted(write(tmp_path / "a.cu", b"\xef\xbb\xbf" + CUDA.encode()))
    assert solution.text == CUDA
    assert solution.source.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"int a;\nint \xff;\n", "a.cu:2: byte 0xff is not UTF-8"),
        (b"\xff\xfei\0n\0t\0", "UTF-16"),
        (b"int a;\n\nint \0;\n", "a.cu:3: holds a NUL"),
        (b" " * MAX_BYTES + b"x", "larger than 1 MiB"),
    ],
)
def test_contents_that_are_no_source(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in refused(write(tmp_path / "a.cu", content))


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    accepted(write(tmp_path / "a.cu", b"/" * MAX_BYTES))


def test_only_plain_files_are_opened(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.cu")
    (tmp_path / "folder.cu").mkdir()
    (tmp_path / "link.cu").symlink_to(plain)
    (tmp_path / "dangling.cu").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.cu")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.cu"))
        assert "a socket" in refused(tmp_path / "socket.cu")
    assert "a directory" in refused(tmp_path / "folder.cu")
    assert "a pipe" in refused(tmp_path / "pipe.cu")
    assert "symbolic link" in refused(tmp_path / "link.cu")
    assert "symbolic link" in refused(tmp_path / "dangling.cu")
    assert "a device" in refused(Path("/dev/zero"))
    assert "cannot be read" in refused(plain / "below.cu")


def test_a_missing_file_and_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path / "tiled.cu")
    assert "no such file (did you mean" in refused(tmp_path / "tild.cu")
    assert refused(tmp_path / "nowhere" / "a.cu").endswith("no such file")


@pytest.mark.parametrize(
    "name", ["a\nb.cu", "a\x1b[31m.cu", "a\u202eb.cu", "a\udcff.cu", "a\x07.cu"]
)
def test_names_that_would_fool_a_terminal(tmp_path: Path, name: str) -> None:
    assert "cannot be shown" in refused(write(tmp_path / name))


@pytest.mark.parametrize("name", ["-O3.cu", ".hidden.cu", "a b.cu", "a;b.cu", "$(x).cu", "ä.cu"])
def test_names_that_cannot_be_recorded(tmp_path: Path, name: str) -> None:
    assert "rename it" in refused(write(tmp_path / name))


def test_authors_and_problems_that_cannot_be_recorded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.cu")
    assert "--author" in refused(path, author="<b>bold</b>")
    assert "--author" in refused(path, author="x" * 65)
    assert "--problem" in refused(path, problem="../etc")


def test_an_unknown_extension_is_refused(tmp_path: Path) -> None:
    assert "one of .cu, .md, .ptx, .py, .txt" in refused(write(tmp_path / "a.cpp"))
    assert "unknown extension" in refused(write(tmp_path / "a"))
    assert "add the extension of its language" in refused(write(tmp_path / "a"))
    assert "unknown extension" in refused(write(tmp_path / "a.rs"))


@pytest.mark.parametrize(
    ("name", "start", "said"),
    [
        ("a.cpp", b"", "unknown extension '.cpp'; if it is CUDA C++, rename it to .cu; a sub"),
        ("a.cuh", b"", "if it is CUDA C++, rename it to .cu"),
        ("a.CU", b"", "unknown extension '.CU'; rename it to .cu"),
        ("a.Py", b"", "rename it to .py"),
        ("a.ipynb", b"", "save the code of a notebook as .py"),
        ("a.jsonl", b"", "write the output of each sample to a .txt file"),
        ("a.cu", b"PK\x03\x04", "a.cu: is a zip archive; unpack it and submit the folder"),
        ("a.zip", b"PK", "'.zip'; unpack it and submit the folder"),
        ("a.tar.gz", b"", "'.gz'; unpack it and submit the folder"),
        ("a.so", b"", "'.so'; submit its source"),
        ("a.zip", b"PK\x03\x04\x97", "is a zip archive; unpack it and submit the folder"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it"),
        ("a.tar", b"a.cu".ljust(257, b"\0") + b"ustar", "is a tar archive; unpack it"),
        ("a.tgz", b"\x1f\x8b\x08", "is compressed; unpack it"),
        ("a.tar.xz", b"\xfd7zXZ\0", "is compressed; unpack it"),
        ("a.so", b"\x7fELF\x02\xd0", "is a compiled program; submit its source"),
        ("a.pdf", b"%PDF-1.7\n\xe2", "is a PDF; submit the code itself"),
    ],
)
def test_a_file_of_another_kind_is_told_what_to_do(
    tmp_path: Path, name: str, start: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(start + b"int a;\n")
    assert said in refused(path)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("import triton\n", "triton"),
        ("import torch, triton\n", "triton"),
        ("import triton.language as tl\n", "triton"),
        ("from triton import jit\n", "triton"),
        ("from triton import *\n", "triton"),
        ("if True:\n    import triton\n", "triton"),
        ("x = 1; import triton\n", "triton"),
        ("import torch\n", "pytorch"),
        ("# import triton\n", "pytorch"),
        ('"""\nimport triton\n"""\n', "pytorch"),
        ("from . import triton\n", "pytorch"),
        ("from torch import triton\n", "pytorch"),
        ("import torch as triton\n", "pytorch"),
        ("import tritonclient\n", "pytorch"),
        ("x = (\n", "pytorch"),
        ("import triton\ndef broken(:\n", "triton"),
        ("(" * 100_000 + "import", "pytorch"),
    ],
)
def test_a_python_files_language_comes_from_its_imports(
    tmp_path: Path, text: str, language: str
) -> None:
    assert accepted(write(tmp_path / "a.py", text)).language == language


def test_imports_are_read_from_tokens() -> None:
    text = "import os.path as p, sys\nfrom torch.nn import functional as f, init\n"
    found = {"os", "os.path", "sys", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init"}
    assert imported(text) == found


@pytest.mark.parametrize(
    ("header", "dtypes"),
    [
        ("// dtypes: float32, float16\n", ("float32", "float16")),
        ("\n/* a */\n  // dtype: bfloat16\n", ("bfloat16",)),
        ("// dtypes: float32 float32\n", ("float32",)),
        ("\n" * 20 + "// dtypes: float32\n", None),
        ("// the dtypes: float32\n", None),
    ],
)
def test_the_header_names_data_types(
    tmp_path: Path, header: str, dtypes: tuple[str, ...] | None
) -> None:
    assert accepted(write(tmp_path / "a.cu", header + CUDA)).dtypes == dtypes


def test_a_wrong_dtypes_header_is_refused(tmp_path: Path) -> None:
    message = refused(write(tmp_path / "a.cu", "\n// dtypes: float23\n" + CUDA))
    assert "a.cu:2: dtypes: unknown type 'float23' (did you mean float32?)" in message
    assert "names no type" in refused(write(tmp_path / "b.cu", "// dtypes:\n" + CUDA))


@pytest.mark.parametrize(
    ("header", "uses"),
    [
        ("", ()),
        ("// uses: cutlass, cublasLt\n", ("cublasLt", "cutlass")),
        ("// Uses: CUTE CUBLASLT cublaslt\n", ("cublasLt", "cutlass")),
        ("// uses: cufft\n// dtypes: float32\n// uses: nvtx\n", ("cufft", "nvtx")),
        ("// uses: cub, Thrust, curand\n", ("curand",)),
        ("\n" * 20 + "// uses: nothing such\n", ()),
        ("// what it uses: magic\n", ()),
    ],
)
def test_the_header_may_name_libraries(tmp_path: Path, header: str, uses: tuple[str, ...]) -> None:
    assert accepted(write(tmp_path / "a.cu", header + CUDA)).uses == uses


def test_an_unknown_library_is_refused_with_those_there_are(tmp_path: Path) -> None:
    message = refused(write(tmp_path / "a.cu", "\n// uses: cutlass, cublass\n" + CUDA))
    assert "a.cu:2: uses: unknown library 'cublass' (did you mean cublas?)" in message
    assert "there are cublas, cublasLt, cufft, curand, cusolver, cusparse, cudnn" in message
    assert "names no library" in refused(write(tmp_path / "b.cu", "// uses:\n" + CUDA))


def test_libraries_are_those_of_cuda_files_alone(tmp_path: Path) -> None:
    assert accepted(write(tmp_path / "a.py", "# uses: magic\nimport torch\n")).uses == ()
    text = "# A model's words\n\n```cuda\n// uses: cublas\n" + CUDA + "```\n"
    assert accepted(write(tmp_path / "a.md", text)).uses == ("cublas",)
