"""The border between the packages: they meet in a few records, and in how text is made fit to show.

`harness` judges and never imports pandas; `leaderboard` stores and ranks, never imports torch, and
of `harness` knows these records only. Read from the sources, where a lazy import counts too,
and tried in a fresh interpreter, where what others import counts too.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ("harness.records", "harness.text")


def _modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def _imported(source: str, package: str) -> Iterator[str]:
    """Full names of what ``source``, a module in ``package``, imports anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name | ast.Attribute)
            and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
            in ("import_module", "__import__", "find_spec")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value)


def _inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _offences(path: Path) -> list[str]:
    relative = path.relative_to(ROOT)
    package = ".".join(relative.parent.parts)
    names = list(_imported(path.read_text(encoding="utf-8"), package))
    if relative.parts[0] == "harness":
        return [name for name in names if _inside(name, "pandas")]
    torch = [name for name in names if _inside(name, "torch") or _inside(name, "triton")]
    harness = [
        name
        for name in names
        if _inside(name, "harness") and not any(_inside(name, shared) for shared in SHARED)
    ]
    return torch + harness


@pytest.mark.parametrize("package", ["harness", "leaderboard"])
def test_no_module_crosses_the_border(package: str) -> None:
    modules = _modules(package)
    assert modules
    offences = {str(path.relative_to(ROOT)): _offences(path) for path in modules}
    assert {path: names for path, names in offences.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import pandas as pd", ["pandas"]),
        ("def f():\n    from pandas.api import types", ["pandas.api.types"]),
        ("from . import store", ["leaderboard.store"]),
        ("from ..harness import judge", ["harness.judge"]),
        ("import importlib\nimportlib.import_module('torch')", ["importlib", "torch"]),
        ("__import__('torch')", ["torch"]),
    ],
)
def test_the_reader_of_imports_sees_them(source: str, names: list[str]) -> None:
    package = "sub.leaderboard" if ".." in source else "leaderboard"
    found = [name.removeprefix("sub.") for name in _imported(source, package)]
    assert found == names


def _loaded(*modules: str, opened: Path | None = None) -> set[str]:
    """What importing ``modules`` loads, and making and opening a store after that."""
    script = (
        "import importlib, json, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "STORE"
        "print(json.dumps(sorted(sys.modules)))"
    )
    store = "from leaderboard.store import Store\n" + f"Store.open({str(opened)!r}).close()\n" * 2
    script = script.replace("STORE", store if opened else "")
    done = subprocess.run(
        [sys.executable, "-c", script, *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def _names(package: str) -> list[str]:
    paths = (path.relative_to(ROOT).with_suffix("") for path in _modules(package))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths]


def test_leaderboard_loads_no_torch_and_only_the_shared_records() -> None:
    loaded = _loaded(*_names("leaderboard"))
    assert not {"torch", "triton"} & loaded
    ours = {name for name in loaded if _inside(name, "harness")}
    assert {"harness.records.result", "harness.text.plain"} <= ours
    assert {name for name in ours if not any(_inside(name, s) for s in SHARED)} == {"harness"}


def test_a_store_is_opened_without_what_takes_long_to_load(tmp_path: Path) -> None:
    # Nothing is migrated, and there are no boards to make.
    loaded = _loaded("leaderboard.store", "leaderboard.board", opened=tmp_path / "store.sqlite")
    assert not {"alembic", "pandas", "numpy", "pydantic"} & loaded


def test_boards_are_made_without_what_takes_long_to_load() -> None:
    # Of a large store no record is read.
    loaded = _loaded("leaderboard.store", "leaderboard.ranking")
    assert "pydantic" not in loaded


def test_reporting_and_the_command_line_load_neither() -> None:
    # Everything that `harness --help` needs: it must be there at once.
    names = ["harness.records.result", *_names("harness/report"), "harness.cli"]
    assert not {"pandas", "torch", "triton"} & _loaded(*names)
