"""Where CUDA libraries are found, by made-up toolkits and packages."""

from pathlib import Path

import pytest
from support.toolkits import add_headers, add_shared, libraries, toolkit

from harness.languages.build.libraries import LibraryNotFound
from harness.languages.build.library_table import included, undeclared


def test_in_the_toolkit_of_nvcc_first(tmp_path: Path) -> None:
    own = toolkit(tmp_path / "own")
    add_headers(own / "include", "cublas", "13.0.2")
    linked = add_shared(own / "lib64", "cublas", suffix=".so")
    lt = add_shared(own / "lib64", "cublasLt")
    other = toolkit(tmp_path / "local/cuda-13.1")
    add_headers(other / "include", "cublas", "13.1.0")
    add_shared(other / "lib64", "cublas")
    found = libraries(tmp_path, own / "bin/nvcc").find("cublas")
    assert (found.name, found.version, found.linked) == ("cublas", "13.0.2", linked)
    assert found.includes == (own / "include",)
    assert found.loaded == (linked, lt)
    assert found.folders == (own / "lib64",)


def test_in_other_toolkits_of_the_same_major_version(tmp_path: Path) -> None:
    for name, major in (("cuda-14.0", 14), ("cuda-13.1", 13), ("cuda-13.0", 13), ("cuda-12.9", 12)):
        root = toolkit(tmp_path / "local" / name, major)
        add_headers(root / "targets/x86_64-linux/include", "cufft", f"{major}.1.0")
        add_shared(root / "targets/x86_64-linux/lib", "cufft")
    here = libraries(tmp_path, tmp_path / "bin/nvcc").find("cufft")
    assert here.place.is_relative_to(tmp_path / "local/cuda-13.1")
    old = libraries(tmp_path, tmp_path / "bin/nvcc", "12.4.0").find("cufft")
    assert old.place.is_relative_to(tmp_path / "local/cuda-12.9")


def test_in_the_packages_of_pip(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages/nvidia/cu13"
    add_headers(packages / "include", "cublas")
    made = add_shared(packages / "lib", "cublas")
    found = libraries(tmp_path, tmp_path / "bin/nvcc").find("cublas")
    assert (found.linked, found.version) == (made, "13.1.2")


@pytest.mark.parametrize(("version", "fits"), [("12.8.93", True), ("13.0.88", False)])
def test_packages_in_folders_of_their_own_say_their_version(
    tmp_path: Path, version: str, fits: bool
) -> None:
    packages = tmp_path / "site-packages"
    for name in ("cublas", "cusparse", "cusolver"):
        add_headers(packages / "nvidia" / name / "include", name)
        add_shared(packages / "nvidia" / name / "lib", name)
        (packages / f"nvidia_{name}_cu12-1.0.dist-info").mkdir()
    here = libraries(tmp_path, tmp_path / "bin/nvcc", version)
    if not fits:
        with pytest.raises(LibraryNotFound, match=r"for CUDA 13 \(what .*nvidia/cusolver has"):
            here.find("cusolver")
        return
    found = here.find("cusolver")
    assert [path.parent.name for path in found.includes] == ["cusolver", "cublas", "cusparse"]
    assert {path.parent.parent.name for path in found.loaded} == {"cusolver", "cublas", "cusparse"}


def test_cudnn_with_its_parts_among_the_systems_files(tmp_path: Path) -> None:
    add_headers(tmp_path / "usr/include/x86_64-linux-gnu", "cudnn", "9.20.0")
    folder = tmp_path / "usr/lib/x86_64-linux-gnu"
    parts = [add_shared(folder, name, suffix=".so.9") for name in ("cudnn", "cudnn_ops")]
    found = libraries(tmp_path, tmp_path / "bin/nvcc").find("cudnn")
    assert (found.version, list(found.loaded)) == ("9.20.0", parts)


def test_cutlass_is_headers_of_a_clone_or_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "site-packages/cutlass_library/source"
    add_headers(package / "include", "cutlass", "4.2.0")
    (package / "tools/util/include").mkdir(parents=True)
    found = libraries(tmp_path, tmp_path / "bin/nvcc").find("cutlass")
    assert (found.version, found.linked, found.loaded) == ("4.2.0", None, ())
    assert found.includes == (package / "include", package / "tools/util/include")
    add_headers(tmp_path / "clone/include", "cutlass", "4.3.0")
    named = libraries(tmp_path, tmp_path / "bin/nvcc", CUTLASS_PATH=str(tmp_path / "clone"))
    assert named.find("cutlass").version == "4.3.0"


def test_another_file_has_another_fingerprint(tmp_path: Path) -> None:
    clone = tmp_path / "clone/include"
    add_headers(clone, "cutlass")
    here = libraries(tmp_path, tmp_path / "bin/nvcc", CUTLASS_PATH=str(tmp_path / "clone"))
    before = here.find("cutlass").fingerprint
    assert here.find("cutlass").fingerprint == before
    (clone / "cute").mkdir()
    (clone / "cute/tensor.hpp").write_text("// mine\n")
    assert here.find("cutlass").fingerprint != before


@pytest.mark.parametrize(
    ("name", "version", "remedy"),
    [
        ("cublasLt", "13.0.88", "pip install 'kernel-harness[cuda-libs]'"),
        ("cudnn", "12.8.93", "pip install nvidia-cudnn-cu12"),
        ("cutlass", "12.8.93", "pip install 'kernel-harness[cutlass]'"),
    ],
)
def test_what_is_missing_has_a_remedy(tmp_path: Path, name: str, version: str, remedy: str) -> None:
    with pytest.raises(LibraryNotFound) as missing:
        libraries(tmp_path, tmp_path / "bin/nvcc", version).find(name)
    assert str(missing.value) == f"{name} is not installed here: {remedy}"


def test_a_header_without_its_shared_object_is_not_a_library(tmp_path: Path) -> None:
    own = toolkit(tmp_path / "own")
    add_headers(own / "include", "cublas")
    with pytest.raises(LibraryNotFound):
        libraries(tmp_path, own / "bin/nvcc").find("cublas")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("<cublas_v2.h>", "cublas"),
        ('"cublasLt.h"', "cublasLt"),
        ("<curand_kernel.h>", "curand"),
        ("<cute/tensor.hpp>", "cutlass"),
        ("<nvtx3/nvtx3.hpp>", "nvtx"),
        ("<cub/cub.cuh>", None),
        ("<cuda_fp16.h>", None),
    ],
)
def test_whose_header_a_file_includes(header: str, name: str | None) -> None:
    assert list(included(f"int a;\n # include {header}\n")) == ([name] if name else [])


def test_the_line_that_is_missing() -> None:
    text = "#include <cublasLt.h>\n#include <cutlass/gemm/gemm.h>\n"
    complaint = "a.cu:2: fatal error: cutlass/gemm/gemm.h: No such file or directory"
    hint = "cutlass must be asked for: add the line // uses: cublas, cutlass"
    assert undeclared(text, ("cublas",), complaint) == hint
    assert undeclared(text, ("cutlass",), complaint) == ""
    linker = "undefined reference to `cublasLtCreate'"
    hint = "cublasLt must be asked for: add the line // uses: cublasLt"
    assert undeclared("", (), linker) == hint
    assert undeclared("", (), "undefined reference to `cublasSgemm_v2'").endswith("uses: cublas")
    assert undeclared(text, (), "a.cu:9: error: expected a ;") == ""
