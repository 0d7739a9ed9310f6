"""A pretended package in place of CuPy, imported by a process of its own."""

from pathlib import Path

import pytest

from harness.frameworks import FRAMEWORKS, TOGETHER, Framework
from harness.languages.build import framework_imports
from harness.languages.build.framework_imports import import_fault, known_fault

CUPY = FRAMEWORKS["cupy"]
INSTALL = "pip install 'kernel-harness[cupy]'"


def place(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "cupy.py").write_text(text)
    data = folder / "cupy-9.1.dist-info"
    data.mkdir()
    (data / "METADATA").write_text("Metadata-Version: 2.1\nName: cupy\nVersion: 9.1\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize(
    ("text", "reason", "remedy"),
    [
        ("import no_such_module", "CuPy cannot be imported here (ModuleNotFoundError", INSTALL),
        ("raise SystemError('x')\n", "CuPy cannot be imported here (SystemError: x)", INSTALL),
        (
            "raise ImportError('CuPy needs NumPy 1.2 or less')",
            "CuPy 9.1 does not work with this machine's NumPy ",
            TOGETHER,
        ),
        ("import os; os.abort()", "importing CuPy crashes: Aborted", INSTALL),
        ("import os; os._exit(3)", "importing CuPy ends the process, for no reason", INSTALL),
    ],
)
def test_a_broken_package_is_named_with_the_remedy(
    text: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(tmp_path, text, monkeypatch)
    fault = import_fault(CUPY)
    assert fault is not None
    assert fault.certain
    assert fault.reason.startswith(reason)
    assert fault.remedy == remedy
    framework_imports._asked.cache_clear()
    assert known_fault(CUPY) == fault
    framework_imports._asked.cache_clear()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "print('lots of words')",
        "import os\nassert os.path.isdir(os.environ['CUPY_CACHE_DIR'])",
        "import os\nopen(os.environ['HOME'] + '/note', 'w').close()",
        "import atexit, os\natexit.register(os.abort)",
        "import os\nassert 'SECRET' not in os.environ",
    ],
)
def test_a_package_that_works_has_no_fault(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    place(tmp_path, text, monkeypatch)
    assert import_fault(CUPY) is None


@pytest.mark.parametrize(
    "text", ["import time; time.sleep(60)", "import os; os.kill(os.getpid(), 9)"]
)
def test_what_may_be_the_machines_being_busy_is_not_certain(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(tmp_path, text, monkeypatch)
    monkeypatch.setattr(framework_imports, "IMPORT_S", 1.0)
    fault = import_fault(CUPY)
    assert fault is not None
    assert not fault.certain


def test_files_beside_submissions_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the judge is started in a folder with a file cupy.py, that is somebody's."""
    (tmp_path / "cupy.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    if CUPY.version() is None:
        assert import_fault(CUPY) is not None
    assert not (tmp_path / "ran").exists()


def test_it_is_imported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Framework] = []
    monkeypatch.setattr(framework_imports, "import_fault", asked.append)
    framework_imports._asked.cache_clear()
    assert [known_fault(CUPY), known_fault(CUPY)] == [None, None]
    framework_imports._asked.cache_clear()
    assert asked == [CUPY]
