"""Hostile problem files: they end their own problem, and nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from formats.kernelbench_problems import model
from support.foreign import foreign, written

from harness.author.client import AuthorError
from harness.errors import ProblemError
from harness.formats import client
from harness.formats.description import description
from harness.formats.messages import (
    CasesDescribed,
    ToldCase,
    ToldParameter,
    ToldTensor,
    ToldWeight,
)
from harness.formats.problem import Foreign
from harness.formats.processes import PROBLEMS
from harness.problem.case import CaseLimits
from harness.sandbox.processors import usable_processors


def blamed(problem: Foreign) -> str:
    with pytest.raises(ProblemError) as found:
        problem.unfit(emulated=False)
    return str(found.value)


def once_open(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    """Change a limit when torch is imported: how long that takes is the machine's."""
    opened = client.ForeignProcess._open

    def opens(process: client.ForeignProcess, *arguments: Any) -> None:
        opened(process, *arguments)
        monkeypatch.setattr(name, value)

    monkeypatch.setattr(client.ForeignProcess, "_open", opens)


@pytest.mark.corpus
@pytest.mark.parametrize("where", ["before", "body"])
def test_one_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    once_open(monkeypatch, "harness.formats.client.PROCESSOR_S", 1.0)
    hang = "while True:\n    pass"
    text = model("return x", before=hang) if where == "before" else model(hang)
    assert f"took more than {usable_processors()} s" in blamed(
        foreign(written(tmp_path, "hangs.py", text))
    )


@pytest.mark.corpus
def test_one_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once_open(monkeypatch, "harness.author.client.IDLE_S", 1.0)
    text = model("return x", before="import time\ntime.sleep(100)\n")
    assert "did nothing for 1 s" in blamed(foreign(written(tmp_path, "waits.py", text)))


@pytest.mark.corpus
def test_one_that_eats_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.ForeignProcess, "memory_bytes", 1 << 30)
    text = model("x = [torch.ones(1 << 26) for _ in range(8)]\nimport time\ntime.sleep(9)")
    problem = foreign(written(tmp_path, "eats.py", text))
    try:
        said = problem.unfit(emulated=False)
    except ProblemError as error:
        said = str(error)
    assert "memory" in said


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\nos._exit(3)\n", "ended its process with status 3"),
        ("raise SystemExit(4)\n", "SystemExit: 4"),
        ("import ctypes\nctypes.string_at(0)\n", "ended its process by signal 11"),
        ("raise KeyboardInterrupt\n", "ended its process"),
    ],
)
def test_one_that_ends(tmp_path: Path, code: str, reason: str) -> None:
    text = model("return x", before=code)
    assert reason in blamed(foreign(written(tmp_path, "ends.py", text)))


@pytest.mark.corpus
def test_one_that_looks_around(tmp_path: Path) -> None:
    """It can neither read what is beside it, nor write there, nor start programs, nor call out."""
    secret = written(tmp_path, "secret.txt", "1")
    tried = f"""
        import os, socket, subprocess
        def refused(action):
            try:
                action()
            except OSError:
                return True
            raise SystemExit("was let")
        refused(lambda: open({str(secret)!r}))
        refused(lambda: open({str(tmp_path / "new")!r}, "w"))
        refused(lambda: subprocess.run(["/bin/true"]))
        refused(lambda: socket.create_connection(("127.0.0.1", 9), 1))
        open("mine", "w").write("in its own folder it may")
    """
    from textwrap import dedent

    problem = foreign(written(tmp_path, "looks.py", model("return x", before=dedent(tried))))
    assert problem.unfit(emulated=False) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["looks.py", "secret.txt"]


@pytest.mark.corpus
def test_one_that_forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its children end with it, and may not answer in its place for ever."""
    before = "import os\nif os.fork() == 0:\n    while True: pass\n"
    problem = foreign(written(tmp_path, "forks.py", model("return x", before=before)))
    assert problem.unfit(emulated=False) == ""
    process = PROBLEMS._of(problem.source)
    sandbox = process._sandbox
    assert sandbox is not None
    process.close()
    assert sandbox.ended() is not None


@pytest.mark.corpus
def test_one_that_writes_to_the_judge_itself(tmp_path: Path) -> None:
    before = (
        "import os, socket\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        '        socket.socket(fileno=os.dup(fd)).send(b\'{"type": "casesdescribed"}\')\n'
        "    except OSError:\n"
        "        pass\n"
    )
    problem = foreign(written(tmp_path, "writes.py", model("return x", before=before)))
    assert "ended its process" in blamed(problem) or "answered" in blamed(problem)


@pytest.mark.corpus
def test_shapes_that_change_are_told(tmp_path: Path) -> None:
    inputs = "[torch.rand(4 if torch.initial_seed() < 9 else 5)]"
    problem = foreign(written(tmp_path, "lies.py", model("return x + 1", inputs=inputs)))
    (case, *_) = problem.draw_cases("s", dtype="float32", room=CaseLimits())
    (x, _) = problem.tensors_of(case, "float32")
    with pytest.raises(ProblemError, match=r"x is \(5,\) now, and was \(4,\) before"):
        problem.inputs().draw(x, case, "seed")


def told(**changes: object) -> CasesDescribed:
    x = ToldTensor(name="x", dtype="float32", shape=(2, 3))
    y = ToldTensor(name="y", dtype="float32", shape=(2,))
    case: dict[str, object] = {"key": "inputs=1", "tensors": (x, y), "numbers": {"n": 3}}
    facts: dict[str, object] = {
        "parameters": (
            ToldParameter(name="x", ctype="float", kind="in"),
            ToldParameter(name="n", ctype="int", kind="size"),
            ToldParameter(name="y", ctype="float", kind="out"),
        ),
        "rtol": 0.0,
        "atol": 1e-4,
        "claims": (),
    }
    case |= {key: value for key, value in changes.items() if key in ToldCase.__slots__}
    facts["cases"] = (ToldCase(**case),)  # type: ignore[arg-type]
    facts |= {key: value for key, value in changes.items() if key not in ToldCase.__slots__}
    return CasesDescribed(**facts)  # type: ignore[arg-type]


def test_what_is_told_becomes_a_record() -> None:
    found = description(told())
    (case,) = found.cases.values()
    assert [spec.strides for spec in case.tensors] == [(3, 1), (1,)]
    assert [spec.together for spec in case.tensors] == [True, False]
    assert (case.sizes, case.scalars) == ({"n": 3}, {})
    assert not found.on_card
    assert description(told(on_card=True), card=True).on_card
    assert not case.by_rows
    (case,) = description(told(by_rows=True)).cases.values()
    assert case.by_rows


def told_bytes(strides: tuple[int, ...] = (), **changes: object) -> CasesDescribed:
    a = ToldTensor(
        name="a", dtype="uint8", shape=(2, 1, 3), strides=strides, seen_as="float8_e4m3fn"
    )
    y = ToldTensor(name="y", dtype="uint8", shape=(2,))
    parameters = (
        ToldParameter(name="a", ctype="uint8_t", kind="inout"),
        ToldParameter(name="y", ctype="uint8_t", kind="out"),
    )
    facts = {"tensors": (replace(a, **changes), y), "loose": ("a",), "parameters": parameters}  # type: ignore[arg-type]
    return told(**facts, numbers={})


def test_bytes_are_seen_as_narrow_numbers_and_keep_their_strides() -> None:
    (case,) = description(told_bytes((1, 7, 2))).cases.values()
    a, y = case.tensors
    assert (a.seen_as, a.strides, a.span) == ("float8_e4m3fn", (1, 7, 2), 6)
    assert (y.seen_as, y.strides) == ("", (1,))
    plain = description(told_bytes(seen_as="")).cases["inputs=1"].tensors[0]
    assert (plain.seen_as, plain.strides) == ("", (3, 3, 1))


@pytest.mark.parametrize(
    "strides", [(1, 2), (1, 7, 1), (0, 7, 2), (4, 1, 1), (-1, 1, 2), (1, 1, 1 << 41)]
)
def test_strides_with_gaps_or_overlaps_are_refused(strides: tuple[int, ...]) -> None:
    with pytest.raises(AuthorError, match="the strides of a"):
        description(told_bytes(strides))


@pytest.mark.parametrize(
    "lie",
    [
        {"seen_as": "float8_of_mine"},
        {"seen_as": "__class__"},
        {"loose": ()},  # it would be compared
    ],
)
def test_bytes_that_are_seen_as_something_else_are_refused(lie: dict[str, Any]) -> None:
    whole = told_bytes(**{key: each for key, each in lie.items() if key == "seen_as"})
    if "loose" in lie:
        whole = replace(whole, cases=tuple(replace(each, loose=()) for each in whole.cases))
    with pytest.raises(AuthorError, match="what a is seen as"):
        description(whole)


@pytest.mark.parametrize(
    ("kind", "digits", "right"),
    [
        ("in", "000000000100", True),
        ("in", "0000000001", False),  # too few bytes
        ("in", "00000000010000", False),
        ("in", "0000000001GG", False),
        ("inout", "000000000100", False),  # nobody sees what is written there
    ],
)
def test_bytes_in_the_hosts_memory_are_all_of_an_inputs(
    kind: str, digits: str, right: bool
) -> None:
    whole = told_bytes(seen_as="", on_host=digits)
    parameters = (replace(whole.parameters[0], kind=kind), whole.parameters[1])  # type: ignore[arg-type]
    loose = () if kind == "in" else ("a",)
    cases = tuple(replace(each, loose=loose) for each in whole.cases)
    whole = replace(whole, parameters=parameters, cases=cases)
    if right:
        assert description(whole).cases["inputs=1"].tensors[0].on_host == digits
    else:
        with pytest.raises(AuthorError, match="the bytes of a"):
            description(whole)


X, Y = (ToldTensor(name=name, dtype="float32", shape=(2,)) for name in "xy")
OUT = ToldParameter(name="y", ctype="float", kind="out")


def weight(name: str, dtype: str = "float32", shape: tuple[int, ...] = (2,)) -> ToldWeight:
    return ToldWeight(name=name, dtype=dtype, shape=shape, kind="drawn")


@pytest.mark.parametrize(
    "lie",
    [
        {"cases": ()},
        {"rtol": float("nan")},
        {"atol": -1.0},
        {"claims": ("x",) * 99},
        {"on_card": True},
        {"parameters": ()},
        {"parameters": (OUT, OUT)},
        {"parameters": (ToldParameter(name="a b", ctype="float", kind="in"),)},
        {"parameters": (ToldParameter(name="y", ctype="void", kind="out"),)},
        {"by_rows": True, "own": True},
        {"by_rows": True, "tensors": (X, replace(Y, shape=(3,)))},
        {"by_rows": True, "tensors": (replace(X, shape=()), replace(Y, shape=()))},
        {
            "by_rows": True,
            "tensors": (replace(X, shape=(2, 3), strides=(1, 2)), replace(Y, shape=(2, 3))),
        },
        {"key": "../x"},
        {"key": "inputs=1,weights=3"},
        {"numbers": {}},
        {"numbers": {"n": float("inf")}},
        {"tensors": (X,)},
        {"tensors": (Y, X)},
        {"tensors": (X, ToldTensor(name="y", dtype="float16", shape=(2,)))},
        {"tensors": (X, ToldTensor(name="y", dtype="qint8", shape=(2,)))},
        {"tensors": (X, ToldTensor(name="y", dtype="float32", shape=(0,)))},
        {"tensors": (X, ToldTensor(name="y", dtype="float32", shape=(-2, -3)))},
        {"tensors": (X, ToldTensor(name="y", dtype="float32", shape=(1,) * 9))},
        {"tensors": (X, ToldTensor(name="y", dtype="float32", shape=(1 << 39,)))},
        {"construct": "[" * 99 + "]" * 99},
        {"construct": "7"},
        {"constants": "7"},
        {"constants": '[["batch", 10]]'},
        {"constants": "[[7, 10, 4]]"},
        {"construct": "[1"},
        {"construct": "[" + "1," * 9999 + "1]"},
        {"weights": (weight("x"),)},
        {"weights": (weight("self.a b"),)},
        {"weights": (weight("self." + "a" * 99),)},
        {"weights": (weight("self.a"), weight("self.a"))},
        {"weights": (weight("self.a", "qint8"),)},
        {"weights": (weight("self.a", shape=(0,)),)},
        {"weights": (weight("self.a", shape=(1 << 39,)),)},
        {"weights": tuple(weight(f"self.w{n}") for n in range(161))},
    ],
)
def test_lies_about_cases_are_refused(lie: dict[str, object]) -> None:
    with pytest.raises(AuthorError, match="the judge cannot work with"):
        description(told(**lie))
