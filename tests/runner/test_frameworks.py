import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from harness import frameworks
from harness.frameworks import FRAMEWORKS, Framework, launching_on
from harness.runner.program import ProgramFailed
from harness.runner.python import load_framework
from harness.wire.messages import FaultCode

ROOT = Path(__file__).parents[2]


def framework(**changes: Any) -> Framework:
    facts = {"name": "made", "title": "Made", "imported": "made", "module": "made_up"}
    facts |= {"distributions": ("made",), "capability": 70, "starter": "made_kernel.py"}
    return Framework(**{**facts, "template": Path("made.py.jinja"), **changes})


def place(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> None:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(folder))


def test_load_framework_imports_its_prerequisites_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(tmp_path, monkeypatch, made_first="", made_up="import sys; sys.modules['made_first']")
    framework(before="made_first").load()
    assert "made_up" in sys.modules


@pytest.mark.parametrize(
    "text", ["import no_such_module_here", "raise RuntimeError('half of it')", "1 / 0"]
)
def test_a_package_that_does_not_import_is_no_fault_of_the_submission(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(tmp_path, monkeypatch, made_up=text)
    monkeypatch.setitem(FRAMEWORKS, "made", framework())
    with pytest.raises(ProgramFailed) as failed:
        load_framework("made")
    assert failed.value.fault is FaultCode.UNSUPPORTED
    assert failed.value.message.startswith("Made cannot be imported here (")
    assert failed.value.message.endswith("pip install 'kernel-harness[made]'")


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        (
            {"made": "1.5", "numpy": "2.9"},
            "Made 1.5 does not work with this machine's NumPy 2.9 (AttributeError: module 'numpy' "
            "has no attribute 'row_stack'): install versions that go together",
        ),
        ({"made": "1.5"}, "Made cannot be imported here (AttributeError: module 'numpy' has no"),
    ],
)
def test_versions_that_do_not_go_together_are_named(
    versions: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "raise AttributeError(\"module 'numpy' has no attribute 'row_stack'\")"
    place(tmp_path, monkeypatch, made_up=text)
    monkeypatch.setattr(frameworks, "installed_version", versions.get)
    with pytest.raises(ImportError) as failed:
        framework().load()
    assert str(failed.value).startswith(message)


def test_what_is_left_for_the_first_kernel_is_imported_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As numba.cuda does: the module imports, and every kernel would fail."""
    descriptor = (
        "class Context:\n"
        "    def refresh(self): raise AttributeError('numpy has no row_stack')\n"
        "class cuda_target: typing_context = target_context = Context()\n"
    )
    package = tmp_path / "made_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    completing = FRAMEWORKS["numba"].completing
    made = framework(module="made_package", completing=completing)
    made.load()  # another version, which has no such part
    (package / "descriptor.py").write_text(descriptor)
    importlib.invalidate_caches()
    with pytest.raises(ImportError, match="numpy has no row_stack"):
        made.load()


def test_a_compiler_that_is_missing_is_no_fault_of_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As cuda.tile does: the module imports, and the first kernel misses another package's."""
    compiling = (
        "def _find_compiler_bin(): raise FileNotFoundError(\"'tileiras' compiler not found\")\n"
    )
    package = tmp_path / "made_tile"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = framework(module="made_tile", completing=FRAMEWORKS["cutile"].completing)
    made.load()  # another version, which has no such part
    (package / "_compile.py").write_text(compiling)
    importlib.invalidate_caches()
    with pytest.raises(ImportError, match=r"'tileiras' compiler not found.*pip install"):
        made.load()


def test_importing_the_runner_imports_no_framework() -> None:
    script = (
        "import json, sys\n"
        "from harness import frameworks\n"
        "from harness.runner import main, python\n"
        "with frameworks.launching_on(7): pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert not {f.imported.split(".")[0] for f in FRAMEWORKS.values()} & loaded


class _Stream:
    """CuPy's ``ExternalStream``: current inside of a with statement."""

    current: ClassVar[list[int]] = [0]

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        self.current.append(self._handle)

    def __exit__(self, *_: object) -> None:
        self.current.pop()


def test_cupy_launches_where_torch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = ModuleType("cupy")
    vars(cupy)["cuda"] = SimpleNamespace(ExternalStream=_Stream)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with launching_on(7):
        assert _Stream.current == [0, 7]
    assert _Stream.current == [0]


def test_numba_launches_where_torch_does_unless_a_stream_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launched: list[int] = []

    class Kernel:
        def launch(
            self, args: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
        ) -> None:
            launched.append(stream.handle if stream else 0)

    def core(stream: Any) -> Any:
        return stream or SimpleNamespace(handle=0)

    cuda = ModuleType("numba.cuda")
    stream = lambda handle: SimpleNamespace(handle=handle)  # noqa: E731
    driver = SimpleNamespace(_to_core_stream=core, Stream=stream)
    vars(cuda).update(cudadrv=SimpleNamespace(driver=driver))
    dispatcher = ModuleType("numba.cuda.dispatcher")
    vars(dispatcher)["_Kernel"] = Kernel
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setitem(sys.modules, "numba.cuda.dispatcher", dispatcher)
    original = Kernel.launch
    with launching_on(7):
        Kernel().launch((), 1, 1)
        Kernel().launch((), 1, 1, core(0))
        Kernel().launch((), 1, 1, SimpleNamespace(handle=5))
    Kernel().launch((), 1, 1)
    assert launched == [7, 7, 5, 0]
    assert Kernel.launch is original


def test_an_unknown_numba_is_not_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba.cuda", ModuleType("numba.cuda"))
    monkeypatch.delitem(sys.modules, "numba.cuda.dispatcher", raising=False)
    entered = False
    with launching_on(7):
        entered = True
    assert entered
