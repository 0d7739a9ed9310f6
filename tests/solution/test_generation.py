"""Code out of raw generations: the dumps in tests/generations, and what holds for any text."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.languages.read import read_solution
from harness.records.result import Reason
from harness.solution.contents import MAX_BYTES
from harness.solution.generation.extract import Extracted, NoCode, extract
from harness.solution.generation.header import is_round, read_header, truncated
from harness.solution.model import Invalid, Solution

DUMPS = Path(__file__).parents[1] / "generations"
CODES: dict[str, str] = yaml.safe_load((DUMPS / "codes.yaml").read_text(encoding="utf-8"))
GROUPS = ("fences", "several", "reasoning", "languages", "others")
CASES: list[dict[str, Any]] = [
    {**case, "name": f"{group}/{case['name']}"}
    for group in GROUPS
    for case in yaml.safe_load((DUMPS / f"{group}.yaml").read_text(encoding="utf-8"))
]


def spelled_out(text: str) -> str:
    """``text`` with the codes that it names in place, indented as their names are."""

    def code(found: re.Match[str]) -> str:
        lines = CODES[found[2]].rstrip("\n").split("\n")
        return "\n".join(found[1] + line if line else line for line in lines)

    return re.sub(r"^([ \t]*)\$([A-Z]+)$", code, text, flags=re.MULTILINE)


def test_there_are_enough_recorded_dumps() -> None:
    assert len(CASES) >= 120
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_dump_gives_its_code(case: dict[str, Any], tmp_path: Path) -> None:
    text = spelled_out(case["text"])
    outcome = extract(text.replace("\n", "\r\n") if case.get("crlf") else text)
    if "reason" in case:
        assert isinstance(outcome, NoCode)
        assert outcome.reason == Reason(case["reason"])
        assert outcome.generation.found is None
        return
    assert isinstance(outcome, Extracted), outcome
    expected = CODES[case["code"]] if "code" in case else spelled_out(case["literal"])
    assert outcome.text.strip("\n") == expected.strip("\n")
    assert "DRAFT" not in outcome.text
    assert outcome.generation.found == case["found"]
    assert outcome.generation.block == case.get("block", outcome.generation.block)
    is_python = "def " in expected or "class " in expected
    assert outcome.suffix == (".py" if is_python else ".ptx" if ".entry" in expected else ".cu")
    if "language" in case:
        path = tmp_path / "dump.txt"
        path.write_text(text, encoding="utf-8")
        solution = read_solution(path)
        assert isinstance(solution, Solution), solution
        assert solution.language == case["language"]
    first = next(line for line in outcome.text.split("\n") if line)
    shown = text.split("\n")[outcome.generation.line - 1 :]
    assert any(first.split("&")[0].split("<")[0].strip() in line for line in shown[:2])


WORDS = st.text(st.sampled_from("abz =+#()`~\"'\n\t<>/:.;{}é"), max_size=80)
TAGS = re.compile(r"</?\s*(?:think|reason|thought|code|answer|solution)|\[/?THINK", re.IGNORECASE)


@given(code=WORDS, mark=st.sampled_from("`~"), info=st.sampled_from(["", "python", "cuda x=1"]))
def test_code_in_a_fence_comes_out_as_it_is(code: str, mark: str, info: str) -> None:
    code = "def solution():\n    pass\n" + code.replace("\r", "")
    longest = max((len(run) for run in re.findall(f"{mark}+", code)), default=0)
    fence = mark * max(3, longest + 1)
    outcome = extract(f"An answer:\n\n{fence}{info}\n{code}\n{fence}\nand more words\n")
    assert isinstance(outcome, Extracted)
    assert outcome.text.rstrip("\n") == code.rstrip("\n")
    assert (outcome.generation.found, outcome.generation.line) == ("fence", 4)


PIECES = st.sampled_from(
    ["SECRET", "```", "```python", "~~~", "\n", "def solution(SECRET):\n    pass\n", "<code>",
     "</code>", "<reasoning>", "# Model: SECRET\n", "extern \"C\" void solution() { SECRET; }\n",
     "import SECRET\n", "    ", "<answer>", "`"]
)  # fmt: skip


@given(
    thought=st.lists(PIECES, max_size=12).map("".join),
    answer=st.lists(PIECES, max_size=8).map("".join),
    form=st.sampled_from(["<think>{}</think>", "<thinking>{}</thinking>", "{}\n</think>"]),
    closed=st.booleans(),
)
def test_nothing_comes_out_of_reasoning(thought: str, answer: str, form: str, closed: bool) -> None:
    answer = answer.replace("SECRET", "public").replace("<reasoning>", "")
    before, after = form.split("{}")
    if not closed and before:
        outcome = extract(f"{before}\n{thought}\n")
        assert isinstance(outcome, NoCode)
        assert outcome.reason is Reason.TRUNCATED_IN_REASONING
        return
    outcome = extract(f"{before}\n{thought}{after}\n{answer}")
    if isinstance(outcome, Extracted):
        assert "SECRET" not in outcome.text


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    outcome = extract(text)
    assert outcome.generation.line <= text.count("\n") + text.count("\r") + 1


LONG = 1 << 15
REPEATED = (
    "`", "```\n", "```python\n", "~~~", " ", "\t", "\n", "<think>", "</think>", "<think", "<code>",
    "</code>", '\\"', '"', "/*", "void solution(", "extern \"C\" void solve(", "{", ";", "#", "*",
    "def solution(", "class a ", "import a\n", "@a", "&lt;", "<details type=\"reasoning\"",
    "<|end|>", "<|", "# Model: m\n", "# a:\n", "A b ", "'''", "> ", "    ```\n", "a ```c\n",
    ".version 7.8\n", ".entry a", "// launch: a\n", "//\n\n",
)  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_much_of_anything_is_soon_read(piece: str) -> None:
    """Matching in time that grows with the square takes minutes: there is nothing to time."""
    for before in ("", "# Model: m\n", "```python\n", "import a\nclass a"):
        assert extract(before + piece * (LONG // len(piece))) is not None


@pytest.mark.corpus
def test_a_mebibyte_of_backticks() -> None:
    assert isinstance(extract("`" * MAX_BYTES), NoCode)
    assert isinstance(extract("```\n" * (MAX_BYTES // 4)), NoCode)


@pytest.mark.parametrize(
    ("tokens", "limit"),
    [(4096, True), (256, True), (128, False), (3000, True), (3072, True), (4095, False),
     (4097, False), (100, False), (32000, True), (6144, True), (3001, False)],
)  # fmt: skip
def test_round_numbers_of_tokens_are_limits(tokens: int, limit: bool) -> None:
    assert is_round(tokens) is limit


def test_a_header() -> None:
    header, _ = read_header(
        "# Problem: 6_Matmul_with_large_K_dimension_\n# Model: a/b\n"
        "# Generated: 20250529_230123\n# Tokens used: 4,096\n# Note: code\n"
    )
    assert header.problem == "6_Matmul_with_large_K_dimension_"
    assert (header.model, header.generated) == ("a/b", "2025-05-29T23:01:23")
    assert (header.tokens, truncated(header)) == (4096, True)
    assert read_header("# Tokens used: 5\nimport a")[1] == 0
    assert read_header("Model: m\nGenerated: soon")[0].generated == "soon"


def test_a_file_becomes_a_submission(tmp_path: Path) -> None:
    path = tmp_path / "sample_0.txt"
    head = "# Problem: Vector Addition\n# Model: some lab/Model-7B (chat)\n\n<think>a\n</think>\n"
    path.write_text(f"{head}```cuda\n// dtypes: float32\n{CODES['CU']}```\n", encoding="utf-8")
    solution = read_solution(path)
    assert isinstance(solution, Solution), solution
    assert (solution.author, solution.name) == ("some-lab-Model-7B-chat", "sample_0")
    assert (solution.problem, solution.language) == ("Vector Addition", "cuda")
    assert solution.dtypes == ("float32",)
    # Every line of the code is where it is in the file.
    lines = path.read_text().split("\n")
    at = [n for n, line in enumerate(solution.text.split("\n")) if "__global__" in line]
    assert [n for n, line in enumerate(lines) if "__global__" in line] == at
    assert solution.source == solution.text.encode()
    assert read_solution(path, author="me", problem="vector-add").problem == "vector-add"  # type: ignore[union-attr]


def test_a_file_without_code_keeps_its_author(tmp_path: Path) -> None:
    path = tmp_path / "sample_1.md"
    path.write_text("# Problem: p\n# Model: m\n# Tokens used: 10\n\n<think>\nwell", "utf-8")
    invalid = read_solution(path)
    assert isinstance(invalid, Invalid)
    assert invalid.reason is Reason.TRUNCATED_IN_REASONING
    assert invalid.problem == "p"
    assert invalid.reference is not None
    assert (invalid.reference.author, invalid.reference.language) == ("m", "")
    assert invalid.reference.generation is not None
    assert invalid.reference.generation.tokens == 10
