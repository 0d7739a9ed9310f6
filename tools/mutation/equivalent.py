"""Mutants that compute the same as the original, or nothing worse: listed by hand, with reasons."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.mutant import Mutant

LIST = Path(__file__).parents[2] / "tests/tools/mutation/equivalent.toml"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """An entry: the mutant's id, what it changes (for the reader), and why that is no mistake."""

    id: str
    file: str
    change: str
    reason: str


def read_equivalents(path: Path = LIST) -> dict[str, Equivalent]:
    """The list by id.

    Raises:
        ValueError: an entry is incomplete, without a reason, or there twice.
    """
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    found: dict[str, Equivalent] = {}
    for file, section in data.items():
        for entry in section:
            if set(entry) != {"id", "change", "reason"} or not entry["reason"].strip():
                raise ValueError(f"{path.name}: {file}: {entry} needs id, change and reason")
            if entry["id"] in found:
                raise ValueError(f"{path.name}: {entry['id']} is there twice")
            found[entry["id"]] = Equivalent(
                entry["id"], file, entry["change"], entry["reason"].strip()
            )
    return found


def stale(known: Mapping[str, Equivalent], mutants: Iterable[Mutant]) -> list[str]:
    """What is wrong with the entries, given all mutants of the files that they name."""
    by_id = {mutant.id: mutant for mutant in mutants}
    complaints = []
    for entry in known.values():
        mutant = by_id.get(entry.id)
        if mutant is None:
            complaints.append(f"{entry.file}: {entry.id} ({entry.change}) is no mutant any more")
        elif (mutant.file, description(mutant)) != (entry.file, entry.change):
            complaints.append(f"{entry.file}: {entry.id} is {description(mutant)}")
    return complaints


def description(mutant: Mutant) -> str:
    """Operator, change and line, as the list shows them."""
    return f"{mutant.operator}: {mutant.change}  in  {mutant.context}"
