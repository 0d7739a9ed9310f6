"""FlashInfer's trace format, and SOL-ExecBench's: a definition in JSON, workloads in JSON lines.

A definition has axes, inputs, outputs and a reference; a workload gives the variable axes, and says
where each input is from. Tensors that are kept in files are read from the checkout, if it has them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.formats.base import Source, SourceFile, slug_of, source_file, text_of, title_of
from harness.text.plain import plain

FILE = "definition.json"
MOST_WORKLOADS = 200
"""Of one definition; those after them are not looked at."""
_KEYS = ("axes", "inputs", "outputs", "reference")
_RATIO = 0.99
"""Part of the elements that must be right, as SOL-ExecBench has it where a workload is silent."""
_POINTER = b"version https://git-lfs"
"""What a file begins with that is kept elsewhere."""


class FlashInfer:
    """Definitions with workloads."""

    name = "flashinfer"

    def detect(self, path: Path) -> Path | None:
        """A JSON file that is a definition, or a folder with ``definition.json``."""
        file = path / FILE if path.is_dir() else path
        if file.suffix != ".json":
            return None
        text = text_of(file)
        if not all(f'"{key}"' in text for key in _KEYS):
            return None
        return file if _is_definition(_json(text)) else None

    def load(self, path: Path) -> Source:
        """The definition, the workloads that can be had, and the files that these name."""
        whole = source_file(path, FILE)
        definition = _json(whole.text.decode("utf-8", "replace"))
        if not _is_definition(definition):
            raise UsageError(f"{plain(str(path))}: is no definition any more")
        name = str(definition.get("name") or path.stem)
        kept, lacks, found = _workloads(path, definition)
        lack = ""
        if not kept:
            lack = "there are no workloads for it in the checkout" if not lacks else lacks[0]
        ratio = _RATIO if path.name == FILE else 1.0
        about = {"total": len(kept) + len(lacks), "ratio": ratio, "workloads": kept}
        return Source(
            format=self.name,
            path=path,
            slug=slug_of(self.name, name),
            title=title_of(name),
            entry="run",
            files=(
                SourceFile(name="reference.py", text=str(definition["reference"]).encode()),
                whole,
                SourceFile(name="workloads.json", text=json.dumps(about).encode()),
                *found.values(),
            ),
            lack=lack,
        )


def _is_definition(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), dict) for key in _KEYS[:3])
        and isinstance(value.get("reference"), str)
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _workloads(
    path: Path, definition: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[str], dict[str, SourceFile]]:
    """The workloads, why others are none, and the files of tensors by their names there."""
    kept: list[dict[str, Any]] = []
    lacks: list[str] = []
    files: dict[str, SourceFile] = {}
    for root, place in _places(path, definition):
        for line in text_of(place).splitlines():
            if len(kept) + len(lacks) >= MOST_WORKLOADS:
                return kept, lacks, files
            told = _json(line)
            workload = told.get("workload", told) if isinstance(told, dict) else None
            if not isinstance(workload, dict) or not isinstance(workload.get("inputs"), dict):
                continue
            lack = _read_tensors(workload["inputs"], (root, place.parent), files)
            if lack:
                lacks.append(lack)
            else:
                kept.append(workload)
        if kept or lacks:
            break
    return kept, lacks, files


def _places(path: Path, definition: Mapping[str, Any]) -> Iterator[tuple[Path, Path]]:
    """Where workloads may be, each with the folder that their files' paths begin in."""
    here = path.absolute()
    name = str(definition.get("name") or "")
    names = [each for each in dict.fromkeys((here.stem, name)) if each and "/" not in each]
    if here.name == FILE:
        yield here.parent, here.parent / "workload.jsonl"
    for root in here.parents[:4]:
        if (root / "definitions") not in (*here.parents,):
            continue
        inside = here.parent.relative_to(root / "definitions")
        for folder in (root / "workloads", root / "traces" / "workloads"):
            for each in names:
                for suffix in (".jsonl", ".workload.jsonl"):
                    yield root, folder / inside / f"{each}{suffix}"


def _read_tensors(
    inputs: dict[str, Any], roots: tuple[Path, ...], files: dict[str, SourceFile]
) -> str:
    """Read the files that a workload's inputs are in; why one cannot be had, or nothing."""
    for name, told in inputs.items():
        if not isinstance(told, dict) or told.get("type") != "safetensors":
            continue
        said = str(told.get("path"))
        file = next((f for root in roots if (f := _inside(root, said)) is not None), None)
        lack = f"its workloads need {plain(said, 120)}, which is not in the checkout"
        if file is None:
            return lack
        if said not in files:
            try:
                read = source_file(file, f"tensors_{len(files)}.safetensors")
            except UsageError as error:
                return str(error)
            if read.text.startswith(_POINTER):
                return lack
            files[said] = read
        inputs[name] = {**told, "file": files[said].name}
    return ""


def _inside(root: Path, said: str) -> Path | None:
    """A file of tensors at or below a folder of the checkout."""
    try:
        path = (root / said).resolve()
        if path.suffix == ".safetensors" and path.is_relative_to(root.resolve()):
            return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        pass
    return None
