"""Made-up toolkits and packages with CUDA libraries: a header, and a shared object by gcc."""

import subprocess
from pathlib import Path

from harness.languages.build.libraries import Libraries
from harness.languages.build.toolchain import Nvcc

HEADERS = {
    "cublas": ("cublas_v2.h", "cublas_api.h", "CUBLAS_VER_"),
    "cufft": ("cufft.h", "cufft.h", "CUFFT_VER_"),
    "cusparse": ("cusparse.h", "cusparse.h", "CUSPARSE_VER_"),
    "cusolver": ("cusolverDn.h", "cusolver_common.h", "CUSOLVER_VER_"),
    "cudnn": ("cudnn.h", "cudnn_version.h", "CUDNN_"),
    "cutlass": ("cutlass/cutlass.h", "cutlass/version.h", "CUTLASS_"),
}


def add_headers(include: Path, name: str, version: str = "13.1.2") -> Path:
    """The headers of a library in a folder, which declare one function."""
    header, versioned, prefix = HEADERS[name]
    for each in (header, versioned):
        (include / each).parent.mkdir(parents=True, exist_ok=True)
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True)
    defines = "".join(f"#define {prefix}{part} {number}\n" for part, number in numbers)
    (include / versioned).write_text(defines)
    with (include / header).open("a") as file:
        file.write(f'#pragma once\nextern "C" float {name}Answer(void);\n')
    return include


def add_shared(folder: Path, name: str, *, calls: str = "", suffix: str = ".so.13") -> Path:
    """``lib<name>.so.13`` with ``<name>Answer``, 42 plus what that of ``calls`` in it answers."""
    folder.mkdir(parents=True, exist_ok=True)
    other = f"float {calls}Answer(void);\n" if calls else ""
    more = f" + {calls}Answer()" if calls else ""
    source = folder / f"{name}.c"
    source.write_text(f"{other}float {name}Answer(void) {{ return 42.0f{more}; }}\n")
    made = folder / f"lib{name}{suffix}"
    linked = [f"-L{folder}", f"-l:lib{calls}{suffix}"] if calls else []
    options = ["-shared", "-fPIC", f"-Wl,-soname,{made.name}"]
    subprocess.run(["gcc", *options, str(source), *linked, "-o", str(made)], check=True)
    source.unlink()
    return made


def toolkit(root: Path, major: int = 13) -> Path:
    """An empty toolkit of this version."""
    (root / "include").mkdir(parents=True)
    (root / "include/cuda.h").write_text(f"#define CUDA_VERSION {major}000\n")
    return root


def libraries(
    tmp_path: Path, nvcc: Path, version: str = "13.0.88", **environment: str
) -> Libraries:
    """Where they are looked for: beside ``nvcc`` and below ``tmp_path`` alone."""
    return Libraries(
        nvcc=Nvcc(path=nvcc, version=version, arguments=()),
        environment=environment,
        site_packages=(tmp_path / "site-packages",),
        usr_local=tmp_path / "local",
        system=tmp_path / "usr",
    )
