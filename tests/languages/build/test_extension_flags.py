"""Options of extensions: the harmless are taken, what loads, reads or writes files is refused."""

import shlex
from pathlib import Path

import pytest

from harness.languages.build.extension_flags import (
    RefusedFlag,
    check_folders,
    cxx_flags,
    link_flags,
    nvcc_flags,
)

KNOWN = (Path("/torch"), Path("/usr/local/cuda"))


@pytest.mark.parametrize(
    "flags",
    [
        ["-O3"],
        ["-O3 -march=native", "-ffast-math"],
        ["-std=c++17", "-fopenmp", "-Wall", "-Wno-unused-variable", "-w", "-fvisibility=hidden"],
        ["-DN=4", "-DNDEBUG", "-UFOO", '-DNAME="a b"'],
        ["-mavx2", "-mfma", "-funroll-loops", "-fno-strict-aliasing", "-g", "-pthread"],
    ],
)
def test_usual_options_of_a_host_compiler(flags: list[str]) -> None:
    assert cxx_flags(flags) == tuple(word for flag in flags for word in shlex.split(flag))


@pytest.mark.parametrize(
    ("flags", "taken"),
    [
        (["-O3", "--use_fast_math"], ("-O3", "--use_fast_math")),
        (["-arch=sm_90a"], ("-arch=sm_90a",)),
        (["-arch", "sm_90"], ("-arch=sm_90",)),
        (
            ["-gencode=arch=compute_90a,code=sm_90a"],
            ("-gencode=arch=compute_90a,code=sm_90a",),
        ),
        (["-gencode", "arch=compute_80,code=sm_80"], ("-gencode=arch=compute_80,code=sm_80",)),
        (["-Xptxas", "-v,-O3"], ("-Xptxas=-v,-O3",)),
        (["--ptxas-options=-v"], ("--ptxas-options=-v",)),
        (["-Xcompiler", "-fopenmp,-O3"], ("-Xcompiler=-fopenmp,-O3",)),
        (["--expt-relaxed-constexpr", "--expt-extended-lambda", "-lineinfo"], None),
        (["-U__CUDA_NO_HALF_OPERATORS__", "-D", "N=3", "--maxrregcount=64", "-std=c++17"], None),
        (["--extended-lambda -diag-suppress=177", "--fmad=false", "--threads", "4"], None),
    ],
)
def test_usual_options_of_nvcc(flags: list[str], taken: tuple[str, ...] | None) -> None:
    found = nvcc_flags(flags)
    assert taken is None or found == taken


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=/tmp/x.so",
        "-fplugin-arg-x-y",
        "-fmodule-mapper=|sh",
        "-fdump-tree-all=/tmp/x",
        "-fprofile-use=/x",
        "-specs=/tmp/x",
        "-wrapper",
        "-B/tmp",
        "@/tmp/options",
        "-o",
        "-ofile",
        "-include",
        "-imacros",
        "-I/home",
        "-I",
        "-isystem",
        "-x",
        "-S",
        "-E",
        "-save-temps",
        "-MD",
        "-MF/tmp/x",
        "-Wl,-T,x",
        "-Wa,--MD=x",
        "-Wp,-MD,x",
        "-DX=@/etc/passwd",
        "main.cpp",
        "-DX=a\0b",
        "-DX=\ud800",
        "/etc/passwd",
        "'unclosed",
        "-fuse-ld=/tmp/x",
        "-dumpdir",
        "--param",
        "-fpch-preprocess",
        "-iplugindir=/tmp",
        "-T/tmp/x",
    ],
)
def test_what_could_reach_elsewhere_is_refused_everywhere(flag: str) -> None:
    for check in (cxx_flags, nvcc_flags, link_flags):
        with pytest.raises(RefusedFlag):
            check([flag], KNOWN)
    for given in (["-Xcompiler", f"-O2,{flag}"], [f"--compiler-options={flag}"]):
        with pytest.raises(RefusedFlag):
            nvcc_flags(given, KNOWN)


@pytest.mark.parametrize(
    "flag",
    [
        *("--compiler-bindir=/tmp", "-ccbin=/tmp/x", "-ccbin", "--options-file=/tmp/x", "-optf"),
        *("--output-file=x", "--keep", "--keep-dir=/tmp", "-dlto", "--run", "-Xlinker=-T", "-ptx"),
        *("--pre-include=/etc/passwd", "-Xnvlink=-o", "-Xcudafe=--x", "-Xptxas=-o,/tmp/x"),
        *("-Xptxas=--options-file,/tmp/x", "--generate-dependencies", "-rdc=true", "-dc"),
        *("-Xarchive=x", "--drive-prefix=x", "--libdevice-directory=/tmp", "-ldir=/tmp"),
    ],
)
def test_what_nvcc_would_do_elsewhere_is_refused(flag: str) -> None:
    with pytest.raises(RefusedFlag):
        nvcc_flags([flag, "x"])


def test_folders_of_pytorch_and_cuda_are_taken_and_others_refused() -> None:
    given = ["-I/torch/include", "-isystem", "/usr/local/cuda/include"]
    assert cxx_flags(given, KNOWN) == ("-I/torch/include", "-I/usr/local/cuda/include")
    check_folders(["/torch/include/torch/csrc/api/include"], KNOWN)
    for folder in ("/home/me", "include", ".", "/torch/../home", "/torchlight"):
        with pytest.raises(RefusedFlag, match="extra_include_paths"):
            check_folders([folder], KNOWN)


def test_libraries_go_by_name() -> None:
    assert link_flags(["-lcublas", "-lcuda -lm"]) == ("-lcublas", "-lcuda", "-lm")
    assert link_flags(["-L/usr/local/cuda/lib64", "-Wl,-rpath,/torch/lib"], KNOWN) == (
        "-L/usr/local/cuda/lib64",
    )
    for flag in ("-L/home/me", "-l:x.so", "-l/tmp/x", "/tmp/x.a", "x.o", "-Wl,-rpath,/home", "-e"):
        with pytest.raises(RefusedFlag, match="extra_ldflags"):
            link_flags([flag], KNOWN)
