"""GPU MODE: ``task.yml`` with ``files``, ``lang`` and ``tests``, and the Python that it names.

YAML is read here and handed on as JSON: the problem's process sees no file but those named.
"""

import json
import re
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.formats.base import Source, SourceFile, slug_of, source_file, text_of, title_of
from harness.formats.parts import FACTS, Parts, has_parts, parts_of
from harness.text import strict_yaml
from harness.text.plain import plain
from harness.text.strict_yaml import YamlError

FILE = "task.yml"
_KEYS = (r"^files[ \t]*:", r"^lang[ \t]*:", r"^(?:tests|benchmarks)[ \t]*:")
_NAME = re.compile(r"(?:\w[\w.-]*/){0,4}\w[\w.-]*\.py", re.ASCII)
_ABOVE = 2
"""Folders above the problem's from which files may come."""
_NEEDED = ("reference.py",)
_KINDS = ("tests", "benchmarks")


class GpuMode:
    """Folders with a task."""

    name = "gpumode"

    def detect(self, path: Path) -> Path | None:
        """``task.yml``, or a folder with one."""
        file = path / FILE if path.is_dir() else path
        if file.name != FILE:
            return None
        text = text_of(file)
        found = all(re.search(key, text, re.MULTILINE) for key in _KEYS)
        return file if found else None

    def load(self, path: Path) -> Source:
        """The task's cases and the files that it names, without what runs and times it.

        Of that file there are facts beside the cases, where a task has several entry points.
        """
        folder = path.absolute().parent
        lack, task = "", {}
        parts: Parts | None = None
        try:
            task = _task(path)
            lack = _lack(task)
            files = _files(path, folder, task)
            if not lack and has_parts(files[0]):
                parts = parts_of(files[0], _main(folder, task), _cases(task))
        except UsageError as error:
            lack, files = str(error), []
        facts = {key: task.get(key) or [] for key in _KINDS}
        if parts is not None:
            facts = parts.added_to(facts)
        about = SourceFile(name=FACTS, text=json.dumps(facts, sort_keys=True).encode())
        return Source(
            format=self.name,
            path=path,
            slug=slug_of(self.name, folder.parent.name, folder.name),
            title=title_of(folder.name),
            entry="custom_kernel" if parts is None else parts.entry,
            files=(*files, about),
            lack=lack,
            code=folder / "reference.py",
            tests_s=_seconds(task.get("test_timeout")),
        )


def _task(path: Path) -> dict[str, Any]:
    """What the YAML holds, as JSON could have it.

    Raises:
        UsageError: it is not of the kind, or no YAML that is read here.
    """
    where = plain(path.name)
    try:
        task = strict_yaml.values(strict_yaml.decode(source_file(path, FILE).text), what="it")
        json.dumps(task, allow_nan=False)
    except (YamlError, ValueError, TypeError) as error:
        raise UsageError(f"{where} cannot be read: {plain(str(error), 200)}") from error
    if not isinstance(task, dict):
        raise UsageError(f"{where} is no mapping")
    for key in _KINDS:
        cases = task.get(key) or []
        if not isinstance(cases, list) or not all(isinstance(each, dict) for each in cases):
            raise UsageError(f"{where}: {key} is no list of mappings")
    return task


def _lack(task: dict[str, Any]) -> str:
    if task.get("multi_gpu"):
        return "needs several GPUs"
    if task.get("lang", "py") != "py":
        return f"its submissions are written in {plain(str(task['lang']), 20)}, not in Python"
    return ""


def _seconds(told: object) -> float:
    """A time of a task; 0 if it says none, a day at most."""
    return float(min(told, 86400)) if isinstance(told, int | float) and told > 0 else 0.0


def _files(path: Path, folder: Path, task: dict[str, Any]) -> list[SourceFile]:
    """The Python files that a task names, ``reference.py`` first.

    Raises:
        UsageError: one is missing, has a strange name, or is from far away.
    """
    main = _main_name(task)
    told = task.get("files")
    if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise UsageError(f"{plain(path.name)}: files is no list of mappings")
    found: dict[str, SourceFile] = {}
    for each in told:
        name, source = str(each.get("name")), str(each.get("source"))
        if source == "@SUBMISSION@" or name == main or not name.endswith(".py"):
            continue
        if not _NAME.fullmatch(name):
            raise UsageError(f"{plain(path.name)}: {plain(name, 80)} is no name for a file here")
        found[name] = source_file(_within(folder, source), name)
    for name in _NEEDED:
        if name not in found:
            raise UsageError(f"{plain(path.name)} names no {name}")
    return sorted(found.values(), key=lambda file: (file.name != "reference.py", file.name))


def _cases(task: dict[str, Any]) -> list[dict[str, Any]]:
    return [case for key in _KINDS for case in task.get(key) or []]


def _main_name(task: dict[str, Any]) -> str:
    """What a task calls the file that runs it; empty if it does not say."""
    config = task.get("config")
    main = config.get("main") if isinstance(config, dict) else None
    return main if isinstance(main, str) else ""


def _main(folder: Path, task: dict[str, Any]) -> SourceFile:
    """The file that runs a task, which is read and never loaded.

    Raises:
        UsageError: the task names none, or it cannot be read.
    """
    main = _main_name(task)
    sources = [str(each.get("source")) for each in task["files"] if each.get("name") == main]
    if not main or not sources:
        raise UsageError("it does not say what runs it")
    return source_file(_within(folder, sources[0]), main)


def _within(folder: Path, source: str) -> Path:
    """A Python file of the checkout, near the problem's own."""
    path = (folder / source).resolve()
    root = folder.resolve().parents[_ABOVE - 1] if len(folder.parents) > _ABOVE else folder
    if path.suffix != ".py" or not path.is_relative_to(root):
        raise UsageError(f"{plain(source, 80)} is no Python file of the checkout")
    return path
