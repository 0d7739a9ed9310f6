"""The pages that are made from the code are up to date, and say what is so."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.corpus import rest_in_corpus
from support.hostile_words import ALL, accepted, not_accepted
from support.json_schemas import complaints
from support.samples import failed, result, unranked

from harness.problem.format.load import load_problem
from harness.records.result import Result, Verdict
from tools.reference.keys import EXAMPLE, REQUIRED, TO_GRADE, Key, keys
from tools.reference.pages import pages

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> dict[Path, str]:
    return pages()


MADE = ("reference.md", "protocol.md", "result.schema.json", "pull-request.schema.json")


@pytest.mark.parametrize("name", MADE)
def test_what_is_committed_is_what_is_made(made: dict[Path, str], name: str) -> None:
    path = ROOT / "docs/reference" / name
    assert path.read_text(encoding="utf-8") == made[path], "run python -m tools.reference"


def test_all_that_is_made_is_compared(made: dict[Path, str]) -> None:
    assert {path.name for path in made} == set(MADE)


@pytest.fixture(scope="module")
def found() -> dict[str, Key]:
    return {key.name: key for key in keys()}


def test_all_keys_of_all_problems_are_listed(found: dict[str, Key]) -> None:
    used = set()
    for path in ROOT.glob("problems/*/problem.md"):
        matter = path.read_text(encoding="utf-8").split("---")[1]
        used |= set(re.findall(r"^(\w+):", matter, re.MULTILINE))
        used |= set(re.findall(r"^ +(?:- )?\{?(\w+): ", matter, re.MULTILINE))
    known = {part for name in found for part in name.split(".")} | {"benchmarks"}
    ours = [load_problem(path) for path in ROOT.glob("problems/*")]
    names = {parameter.name for problem in ours for parameter in problem.parameters}
    types = {dtype for problem in ours for dtype in problem.dtypes}
    baselines = {name for problem in ours for name in problem.baselines}
    assert used - known - names - types - baselines == set()


def test_each_key_is_explained(found: dict[str, Key]) -> None:
    """In the prose that says what they mean."""
    text = (ROOT / "docs/reference/problem-format.md").read_text(encoding="utf-8")
    last = {name.split(".")[-1] for name in found}
    words = {each for each in last if not each.startswith("<")}
    assert [each for each in sorted(words) if not re.search(rf"\b{each}\b", text)] == []


def test_what_is_needed(found: dict[str, Key], tmp_path: Path) -> None:
    assert found["slug"].necessity == found["tolerance.length"].necessity == REQUIRED
    assert found["flops"].necessity == found["range"].necessity == TO_GRADE
    assert found["values"].necessity == f"{TO_GRADE}: scalars"
    assert (found["cases"].necessity, found["cases"].default) == ("", "12")
    (tmp_path / "problem.md").write_text(f"---{EXAMPLE}---\n")
    for file in ("reference.py", "baseline.py"):
        (tmp_path / file).touch()
    assert load_problem(tmp_path).complete


SCHEMA = json.loads((ROOT / "docs/reference/result.schema.json").read_text(encoding="utf-8"))
OTHERS = [verdict for verdict in Verdict if verdict is not Verdict.ACCEPTED]


@pytest.mark.parametrize(
    "each",
    rest_in_corpus(
        [
            result(),
            result(measurements=(), score=None),
            unranked(),
            *(failed(verdict) for verdict in OTHERS),
            accepted(ALL),
            not_accepted(Verdict.RUNTIME_ERROR, ALL),
        ],
        always=2,
    ),
)
def test_results_are_as_their_schema_says(each: Result) -> None:
    assert complaints(json.loads(each.to_json()), SCHEMA) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("verdict"),
        lambda data: data.update(verdict="FINE"),
        lambda data: data.update(schema=3),
        lambda data: data.update(extra=1),
        lambda data: data.update(created=3),
        lambda data: data["problem"].update(slug=""),
        lambda data: data["score"].update(time_s=0),
        lambda data: data["score"]["speedup"].update(low="-NaN"),
        lambda data: data["cases"][0].update(passed=1),
        lambda data: data["build"]["kernels"][0].update(registers=-1),
        lambda data: data["measurements"].append(None),
    ],
)
def test_what_is_no_result_is_not(spoil: Callable[[Any], object]) -> None:
    data = json.loads(result().to_json())
    spoil(data)
    assert complaints(data, SCHEMA) != []
