import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.toolkits import add_headers, add_shared, libraries
from support.tools import needs_nvcc

from harness.doctor import examine as doctor
from harness.doctor.examine import State, examine
from harness.frameworks import FRAMEWORKS, Framework
from harness.languages.build import linking
from harness.languages.build.toolchain import find_nvcc, find_tool
from harness.sandbox import landlock, selftest, support
from harness.sandbox.support import SandboxSupport, detect_support


def test_examine_looks_at_every_part(tmp_path: Path) -> None:
    found = {finding.name: finding for finding in examine(store=tmp_path / "results.sqlite")}
    expected = {
        *FRAMEWORKS,
        "python",
        "torch",
        "triton",
        "nvcc",
        "g++",
        "sandbox",
        "store",
        "cache",
    }
    assert expected | {"compute-sanitizer", "ncu"} <= set(found)
    assert found["python"].state is State.OK
    assert found["store"].state is State.OK


def test_every_finding_that_is_not_ok_has_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_nvcc", _no_nvcc)
    monkeypatch.setattr(doctor.shutil, "which", lambda *_, **__: None)
    environment = {"PATH": str(tmp_path), "HARNESS_CACHE": "/proc/nowhere"}
    found = {finding.name: finding for finding in examine(environment=environment)}
    for name in ("nvcc", "g++"):
        assert found[name].state is State.MISSING
    assert all(finding.remedy for finding in found.values() if finding.state is not State.OK)


class MadeUpNvml:
    """As much of pynvml as cards are looked at with; ``modes`` are theirs, None: not said."""

    NVMLError = OSError
    NVML_FEATURE_ENABLED = 1

    def __init__(self, *modes: int | None) -> None:
        self.modes = modes

    def nvmlInit(self) -> None: ...  # noqa: N802

    def nvmlShutdown(self) -> None: ...  # noqa: N802

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "580.1"

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.modes)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> tuple[int, int]:  # noqa: N802
        return 9, 0

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(total=80 << 30)

    def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802
        return "Made-up 100"

    def nvmlDeviceGetPersistenceMode(self, handle: int) -> int:  # noqa: N802
        if (mode := self.modes[handle]) is None:
            raise OSError("Not Supported")
        return mode


def test_persistence_mode_is_said_for_each_card_where_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", MadeUpNvml(1, 0, None))  # type: ignore[arg-type]
    driver, on, off, unknown = doctor._gpus()
    assert (driver.detail, driver.state) == ("580.1", State.OK)
    assert (on.name, on.state, on.remedy) == ("gpu 0", State.OK, "")
    assert on.detail == "Made-up 100, sm_90, 80 GiB, persistence mode on"
    assert (off.name, off.state) == ("gpu 1", State.LIMITED)
    assert "persistence mode off" in off.detail
    assert "nvidia-smi -i 1 -pm 1" in off.remedy
    assert (unknown.detail, unknown.state) == ("Made-up 100, sm_90, 80 GiB", State.OK)


@pytest.mark.parametrize("tool", ["compute-sanitizer", "ncu"])
def test_tools_of_the_toolkit_in_cuda_home_are_found(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the judge finds them."""
    monkeypatch.setattr(doctor, "find_tool", partial(find_tool, packages=tmp_path / "none"))
    environment = {"PATH": "", "CUDA_HOME": str(tmp_path), "HARNESS_NVCC": "/nowhere"}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / tool).touch(0o755)
    found = doctor._tool(tool, "a use", environment)
    assert (found.state, found.detail) == (State.OK, str(tmp_path / "bin" / tool))


@pytest.mark.parametrize(
    ("how", "state"),
    [(SandboxSupport(namespaces=False, own_user=False), State.LIMITED), (None, State.OK)],
)
def test_the_sandbox_is_tried_from_inside(
    how: SandboxSupport | None, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how is None and not detect_support().namespaces:
        pytest.skip("no namespaces here")
    if how is not None:
        monkeypatch.setattr(selftest, "detect_support", lambda: how)
    found = doctor._sandbox()
    assert found.state is state, found.detail
    if how is not None:
        assert "see others' processes" in found.detail
        assert ("read the harness" in found.detail) is (landlock.version() == 0)
        assert ("nobody's code" in found.detail) is (landlock.version() < 6)
        assert "use the network" not in found.detail  # the filter of system calls is there


def test_a_sandbox_that_cannot_be_made_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "MONITOR", ("false",))
    assert doctor._sandbox().state is State.MISSING


def test_a_framework_that_is_not_installed_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Framework, "version", lambda _: None)
    found = list(doctor._frameworks())
    assert [finding.name for finding in found] == list(FRAMEWORKS)
    assert {finding.state for finding in found} == {State.MISSING}
    for finding in found:
        assert finding.remedy == f"pip install 'kernel-harness[{finding.name}]'"


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("", State.OK, "9.1"),
        ("import no_such_module", State.LIMITED, "No module named 'no_such_module'"),
        ("import os; os._exit(3)", State.LIMITED, "no reason"),
        ("raise ValueError('\\x1b[31m')", State.LIMITED, "ValueError"),
        ("import os; os.abort()", State.LIMITED, "importing CuPy crashes: Aborted"),
        ("raise ImportError('needs NumPy 1')", State.LIMITED, "does not work with"),
    ],
)
def test_a_framework_that_is_installed_is_imported(
    text: str, state: State, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cupy.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(Framework, "version", lambda _: "9.1")
    found = doctor._framework(FRAMEWORKS["cupy"])
    assert found.state is state
    assert words in found.detail
    assert found.detail.isprintable()
    assert (found.remedy == "") is (state is State.OK)


@needs_nvcc
def test_libraries_of_cuda_files_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages/nvidia/cu13"
    for name in ("cublas", "cufft"):
        add_headers(packages / "include", name)
        add_shared(packages / "lib", name)
    probed = {"cublas": ("cublas_v2.h", "cublasAnswer()"), "cufft": ("cufft.h", "cufftOther()")}
    monkeypatch.setattr(linking, "_PROBES", probed)
    places = libraries(tmp_path, find_nvcc().path)
    here = replace(places, nvcc=replace(find_nvcc(), version="13.0.88"), usr_local=tmp_path)
    monkeypatch.setattr(doctor, "libraries_for", lambda *_: here)
    environment = {**os.environ, "HARNESS_CACHE": str(tmp_path / "cache")}
    found = {each.name: each for each in doctor.cuda_libraries(environment)}
    assert list(found)[:2] == ["cublas", "cublasLt"]
    place = packages / "lib/libcublas.so.13"
    assert found["cublas"] == doctor.Finding("cublas", f"13.1.2 ({place})")
    broken, missing = found["cufft"], found["cudnn"]
    assert broken.state is State.LIMITED
    assert "does not link: " in broken.detail
    assert "cufftOther" in broken.detail
    environment["HARNESS_CACHE"] = "/proc/nowhere"
    untried = next(iter(doctor.cuda_libraries(environment)))
    assert "not tried: cannot use the build cache" in untried.detail
    assert missing.state is State.MISSING
    assert missing.remedy == "pip install 'kernel-harness[cuda-libs]'"


def test_without_nvcc_no_library_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_nvcc", _no_nvcc)
    assert list(doctor.cuda_libraries({})) == []


def _no_nvcc(_: object) -> None:
    raise doctor.NvccNotFound
