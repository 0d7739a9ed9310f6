from pathlib import Path

import pytest

from harness.languages.build.toolchain import (
    HostCompilerNotFound,
    NvccNotFound,
    find_host_compiler,
    find_nvcc,
    find_tool,
)


def fake_nvcc(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    path = folder / "nvcc"
    major = version.rpartition(".")[0]
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {major}, V{version}'\n")
    path.chmod(0o755)
    return path


def pip_layout(site_packages: Path, version: str = "13.0.88") -> Path:
    path = fake_nvcc(site_packages / "nvidia/cu13/bin", version)
    libraries = site_packages / "nvidia/cu13/lib"
    libraries.mkdir()
    (libraries / "libcudart_static.a").touch()
    return path


def test_the_pip_packages_need_their_library_folder(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    path = pip_layout(site)
    found = find_nvcc({}, site_packages=[site], usr_local=tmp_path / "none")
    assert (found.path, found.version) == (path, "13.0.88")
    assert found.arguments == (f"-L{site}/nvidia/cu13/lib",)


def test_a_toolkit_needs_none(tmp_path: Path) -> None:
    fake_nvcc(tmp_path / "cuda-12.8/bin", "12.8.1")
    path = fake_nvcc(tmp_path / "cuda-13.0/bin", "13.0.88")
    fake_nvcc(tmp_path / "cuda-9.2/bin", "9.2.1")
    found = find_nvcc({}, site_packages=[], usr_local=tmp_path)
    assert found.path == path
    assert found.arguments == ()


def test_the_order(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    pip_layout(site, "1.0.0")
    fake_nvcc(tmp_path / "cuda-13.0/bin", "2.0.0")
    fake_nvcc(tmp_path / "path", "3.0.0")
    fake_nvcc(tmp_path / "home/bin", "4.0.0")
    named = fake_nvcc(tmp_path / "named", "5.0.0")
    environment: dict[str, str] = {}
    for version, key, value in (
        ("2.0.0", "", ""),
        ("3.0.0", "PATH", tmp_path / "path"),
        ("4.0.0", "CUDA_HOME", tmp_path / "home"),
        ("5.0.0", "HARNESS_NVCC", named),
    ):
        if key:
            environment[key] = str(value)
        found = find_nvcc(environment, site_packages=[site], usr_local=tmp_path)
        assert found.version == version


def test_one_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    broken = fake_nvcc(tmp_path / "path", "3.0.0")
    broken.write_text("#!/bin/sh\nexit 1\n")
    good = fake_nvcc(tmp_path / "cuda-13.0/bin", "13.0.1")
    assert find_nvcc({"PATH": str(broken.parent)}, usr_local=tmp_path).path == good


def test_a_named_one_that_does_not_run_is_not_passed_over(tmp_path: Path) -> None:
    fake_nvcc(tmp_path / "cuda-13.0/bin", "13.0.1")
    with pytest.raises(NvccNotFound, match="HARNESS_NVCC"):
        find_nvcc({"HARNESS_NVCC": str(tmp_path / "none")}, usr_local=tmp_path)


def test_none_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NvccNotFound, match=r"pip install .*nvcc,nvvm,crt,cudart,cccl"):
        find_nvcc({"PATH": str(tmp_path)}, site_packages=[], usr_local=tmp_path)


def test_no_host_compiler_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(HostCompilerNotFound, match="apt-get install"):
        find_host_compiler({"PATH": str(tmp_path)})


def _tool(folder: Path, name: str = "ncu", mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).touch(mode)
    return folder / name


def test_where_a_tool_is(tmp_path: Path) -> None:
    tool = _tool(tmp_path / "bin", mode=0o644)
    places = {"packages": tmp_path / "none", "usr_local": tmp_path / "none"}
    environment = {"PATH": str(tool.parent), "HARNESS_NVCC": "/nowhere"}
    assert find_tool("ncu", environment, **places) is None  # it cannot be executed
    tool.chmod(0o755)
    assert find_tool("ncu", environment, **places) == tool
    home = {"PATH": "", "CUDA_HOME": str(tmp_path), "HARNESS_NVCC": "/nowhere"}
    assert find_tool("ncu", home, **places) == tool
    assert find_tool("ncu", {"PATH": "", "HARNESS_NVCC": "/nowhere"}, **places) is None


def test_a_tool_lies_beside_nvcc_or_in_the_newest_toolkit(tmp_path: Path) -> None:
    nowhere = tmp_path / "none"
    nvcc = fake_nvcc(tmp_path / "own", "13.0.88")
    environment = {"PATH": "", "HARNESS_NVCC": str(nvcc)}
    assert find_tool("ncu", environment, packages=nowhere, usr_local=nowhere) is None
    for version in ("12.8", "13.0", "9.2"):
        _tool(tmp_path / f"cuda-{version}/bin")
    found = find_tool("ncu", environment, packages=nowhere, usr_local=tmp_path)
    assert found == tmp_path / "cuda-13.0/bin/ncu"
    beside = _tool(nvcc.parent)
    assert find_tool("ncu", environment, packages=nowhere, usr_local=tmp_path) == beside


def test_the_newest_package_is_taken(tmp_path: Path) -> None:
    nowhere = {"PATH": "", "HARNESS_NVCC": "/nowhere"}
    places = {"packages": tmp_path, "usr_local": tmp_path / "none"}
    assert find_tool("ncu", nowhere, **places) is None
    for version in ("2025.3.1", "2025.10.0", "2024.1.0"):
        _tool(tmp_path / version)
    assert find_tool("ncu", nowhere, **places) == tmp_path / "2025.10.0/ncu"
    on_path = {"PATH": str(tmp_path / "2024.1.0"), "HARNESS_NVCC": "/nowhere"}
    places["packages"] = tmp_path / "none"
    assert find_tool("ncu", on_path, **places) == tmp_path / "2024.1.0/ncu"
