"""One entry of the table is all that a framework needs: a made-up one is known everywhere by it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.wire.messages import FaultCode

ROOT = Path(__file__).parents[1]
TEMPLATE = """\
import made.kernels


{{ signature }}
{% for output in outputs %}
    made.kernels.fill({{ output.name }}, 0)
{% endfor %}
"""
PROGRAM = """
import contextlib, json, sys
from pathlib import Path

from harness.frameworks import FRAMEWORKS, Framework

folder = Path(sys.argv[1])
streams = []

@contextlib.contextmanager
def launching(module, stream):
    streams.append((module.__name__, stream))
    yield

FRAMEWORKS["made"] = Framework(
    name="made", title="Made Up", imported="made.kernels", module="made.kernels",
    distributions=("made-dist",), capability=70, starter="made_up.py",
    template=folder / "made.py.jinja", takes=frozenset({"float32"}),
    caches=("MADE_CACHE_DIR",), compile_errors=frozenset({"MadeError"}), launching=launching,
)

from harness.doctor import examine as doctor
from harness.commands.problems import init
from harness.session.start_runner import CACHES
from harness.problem.format.load import load_problem
from harness.runner import python
from harness.solution.generation.extract import extract
from harness.solution.generation.code import suffix_of
from harness.languages import LANGUAGES
from harness.solution.model import Target
from harness.languages.read import read_solution
from harness.starter import STARTERS, starter_text

problem = load_problem(Path("problems/vector-add"))
text = starter_text(problem, "made", "harness check made_up.py")
path = folder / STARTERS["made"].file
path.write_text(text)
solution = read_solution(path, problem=problem.slug)
built = LANGUAGES["made"].build(solution, problem, "float32", Target(kind="cpu"), None)
finding = doctor._framework(FRAMEWORKS["made"])
python.load_framework("made")
with python.launching_on(7):
    pass
language, = [each for each in init.params if each.name == "language"]
print(json.dumps({
    "starter": text,
    "offered": "made" in language.type.choices,
    "language": solution.language,
    "dtypes": solution.dtypes,
    "on_cpu": built.message,
    "fence": extract(f"It is this:\\n```made\\n{text}```\\n").text.strip() == text.strip(),
    "by_fence_alone": suffix_of("x = 1", "made"),
    "cache": "MADE_CACHE_DIR" in CACHES,
    "fault": python._fault(type("MadeError", (Exception,), {})()),
    "doctor": [finding.state, finding.detail, finding.remedy],
    "streams": streams,
}))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answers of the parts of the harness; its module can be imported, nothing is installed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "made.py.jinja").write_text(TEMPLATE)
    (folder / "made").mkdir()
    (folder / "made" / "kernels.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.corpus
def test_its_starter_is_offered_and_read_as_written_in_it(answers: dict[str, Any]) -> None:
    assert answers["offered"]
    assert "#     harness check made_up.py\n" in answers["starter"]
    assert "    made.kernels.fill(z, 0)\n" in answers["starter"]
    assert answers["language"] == "made"
    assert answers["dtypes"] == ["float32"]


def test_it_needs_a_gpu(answers: dict[str, Any]) -> None:
    assert answers["on_cpu"].startswith("Made Up runs on NVIDIA GPUs alone")


def test_code_in_it_is_found_in_what_a_model_wrote(answers: dict[str, Any]) -> None:
    assert answers["fence"]
    assert answers["by_fence_alone"] == ".py"


def test_its_compiler_has_a_cache_and_its_complaints_are_compile_errors(
    answers: dict[str, Any],
) -> None:
    assert answers["cache"]
    assert answers["fault"] == FaultCode.COMPILE


def test_it_launches_on_the_given_stream(answers: dict[str, Any]) -> None:
    assert answers["streams"] == [["made.kernels", 7]]


def test_doctor_says_how_to_get_it(answers: dict[str, Any]) -> None:
    expected = "missing", "optional, for Made Up submissions", "pip install 'kernel-harness[made]'"
    assert tuple(answers["doctor"]) == expected
