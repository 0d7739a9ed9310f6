"""The examples of docs/how-to/rewards.md, called as each trainer says that it calls them."""

import asyncio
import contextlib
import inspect
import io
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import door_stand_in

import harness
from harness.door import connection

PAGE = Path(__file__).parents[2] / "docs/how-to/rewards.md"
BLOCKS = {
    match[1]: match[2]
    for match in re.finditer(
        r"^```python\n# (\w+)\.py\n(.*?)\n```\n(?=\n)", PAGE.read_text("utf-8"), re.M | re.S
    )
}


def lines(block: str) -> int:
    return sum(1 for line in block.splitlines() if line.strip())


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    """What a block defines; each begins where those before it end."""
    exec(compile(BLOCKS[block], f"{block}.py", "exec"), names)
    return names


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the page has before its examples: ``worth``, and a judge (that judges nothing)."""
    monkeypatch.setattr(connection, "_PROGRAM", door_stand_in.PROGRAM)
    with harness.Judge() as judge:
        yield run("worth", {"judge": judge})


def test_each_example_has_ten_lines() -> None:
    assert list(BLOCKS) == [
        "notebook", "trl_reward", "worth", "verl_reward", "inspect_scorer", "pool",
    ]  # fmt: skip
    assert {name: lines(block) for name, block in BLOCKS.items() if lines(block) > 10} == {
        "notebook": lines(BLOCKS["notebook"])
    }


def test_trl_calls_with_lists_and_columns(names: dict[str, Any]) -> None:
    reward: Callable[..., Any] = run("trl_reward", names)["kernel_reward"]
    columns = {"prompts": ["a", "b", "c"], "problem": ["p", "q", "p"], "completion_ids": [[1]] * 3}
    texts = ["right", "wrong", "right"]
    assert reward(completions=texts, trainer_state=None, **columns) == [3.0, 0.0, 3.0]
    conversations = [[{"role": "assistant", "content": text}] for text in texts]
    assert reward(completions=conversations, trainer_state=None, **columns) == [3.0, 0.0, 3.0]
    assert reward.__name__ == "kernel_reward"  # by which TRL logs it


def test_trl_takes_a_plain_function() -> None:
    trl = pytest.importorskip("trl")
    assert "reward_funcs" in inspect.signature(trl.GRPOTrainer.__init__).parameters


def test_verl_calls_with_one_sample(names: dict[str, Any]) -> None:
    score: Callable[..., Any] = run("verl_reward", names)["compute_score"]
    sample = {"data_source": "kernels", "ground_truth": "p", "extra_info": {"index": 0}}
    assert score(solution_str="right", **sample) == {"score": 3.0, "accepted": 1.0}
    assert score(solution_str="wrong", **sample) == {"score": 0.0, "accepted": 0.0}


def stand_in_for_inspect() -> types.ModuleType:
    """As much of ``inspect_ai.scorer`` as its documentation shows of a scorer."""
    module: Any = types.ModuleType("inspect_ai.scorer")
    module.CORRECT, module.INCORRECT = "C", "I"
    module.Score = lambda *, value, explanation=None: types.SimpleNamespace(
        value=value, explanation=explanation
    )
    module.accuracy = lambda: "accuracy"
    module.scorer = lambda *, metrics: lambda function: function
    return module  # type: ignore[no-any-return]


def test_inspect_awaits_a_scorer(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", types.ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", stand_in_for_inspect())
    score = run("inspect_scorer", names)["kernel"]()

    def scored(text: str) -> Any:
        state = types.SimpleNamespace(output=types.SimpleNamespace(completion=text))
        return asyncio.run(score(state, types.SimpleNamespace(text="p")))

    assert scored("right").value == "C"
    assert scored("wrong").value == "I"
    assert scored("wrong").explanation.startswith("INVALID_SUBMISSION ")


def test_inspect_evaluates_with_it(names: dict[str, Any], tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def answer() -> Any:  # a model's would ask for its tokenizer, which is on the network
        async def solve(state: Any, generate: Any) -> Any:
            state.output = ModelOutput.from_content("mockllm/model", state.input_text)
            return state

        return solve

    task = inspect_ai.Task(
        dataset=[Sample(input=text, target="p") for text in ("right", "wrong")],
        solver=answer(),
        scorer=run("inspect_scorer", names)["kernel"](),
    )
    model = "mockllm/model"
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert log.results.scores[0].metrics["accuracy"].value == 0.5


def test_a_pool_of_threads(names: dict[str, Any]) -> None:
    names["samples"] = [("right", "p"), ("wrong", "p")] * 20
    assert run("pool", names)["scores"] == [3.0, 0.0] * 20


def test_what_the_machine_could_not_judge_is_worth_nothing_known(names: dict[str, Any]) -> None:
    died = next(iter(names["judge"].grade_many(["right"], "p"))).model_copy(
        update={"verdict": harness.Verdict.INTERNAL_ERROR}
    )
    assert names["worth"](died) is None


@pytest.mark.corpus
def test_the_notebook_grades_for_real() -> None:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        run("notebook", {})
    found = dict(line.split()[:2] for line in shown.getvalue().splitlines())
    assert found == {"0": "ACCEPTED", "1": "WRONG_ANSWER"}
