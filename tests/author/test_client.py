"""The author's process: what it returns, what it is blamed for, and what it cannot do."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.author import client
from harness.author.client import Author, AuthorError, Authors, authors_of
from harness.author.messages import Kind
from harness.sandbox import launch, processes
from harness.sandbox.support import SandboxSupport, detect_support

FILE = """
import ctypes, os, socket, time
import torch

remembered = []

def draw(generator, family, n):
    return globals()[family](generator, n)

def plain(generator, n):
    return {"x": torch.rand(n, generator=generator, dtype=torch.float64)}

def number(generator, n): return 7
def others(generator, n): return {"y": torch.zeros(n)}
def more(generator, n): return {"x": torch.zeros(n), "y": torch.zeros(n)}
def listed(generator, n): return {"x": [0.0] * n}
def short(generator, n): return {"x": torch.zeros(n - 1)}
def curly(generator, n): return {"x": torch.zeros(n, dtype=torch.complex64)}
def sparse(generator, n): return {"x": torch.zeros(n).to_sparse()}
def meta(generator, n): return {"x": torch.zeros(n, device="meta")}
def raises(generator, n): return {"x": torch.zeros(n)[n]}
def steps(generator, n): return {"x": torch.arange(2 * n)[::2]}
def gradient(generator, n): return {"x": torch.zeros(n, requires_grad=True) + 1}
def greedy(generator, n): return {"x": torch.ones(1 << 36)[:n]}
def grown(generator, n):
    remembered.append([torch.ones(1 << 27) for _ in range(4)])
    time.sleep(5)
def sleeps(generator, n): time.sleep(100)
def loops(generator, n):
    while True: pass
def leaves(generator, n): os._exit(3)
def exits(generator, n): raise SystemExit(4)
def crashes(generator, n): ctypes.string_at(0)

def refused(action):
    try:
        action()
    except OSError:
        return torch.ones(1)
    return torch.zeros(1)

def connects(generator, n):
    def connect(): socket.create_connection(("127.0.0.1", PORT), 1).close()
    return {"x": refused(connect)}
def listens(generator, n):
    def listen():
        with socket.socket() as one:
            one.connect(("1.1.1.1", 80))
    return {"x": refused(listen)}
def writes(generator, n): return {"x": refused(lambda: open(__file__ + ".new", "w"))}
def changes(generator, n): return {"x": refused(lambda: open(__file__, "a"))}
def looks(generator, n): return {"x": refused(lambda: os.listdir("SECRETS"))}
def reads(generator, n): return {"x": refused(lambda: open("SECRETS/seed"))}
def starts(generator, n): return {"x": refused(lambda: os.execv("/bin/true", ["true"]))}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    secrets = tmp_path_factory.mktemp("secrets")
    (secrets / "seed").write_text("1")
    path = tmp_path_factory.mktemp("package") / "reference.py"
    path.write_text(FILE.replace("SECRETS", str(secrets)).replace("PORT", "9"))
    return path


@pytest.fixture(scope="module")
def author(file: Path) -> Iterator[Author]:
    made = Author(file)
    yield made
    made.close()


def ask(author: Author, family: str = "plain", *, n: int = 3, **other: Any) -> Any:
    kind: Kind = "float"
    wanted = {"seed": 5, "values": {"n": n}, "tensors": {"x": (kind, (n,))}} | other
    tensors, line = author.draw(family=family, **wanted)
    assert line == FILE.splitlines().index("def draw(generator, family, n):") + 1
    return tensors["x"]


def blamed(author: Author, family: str, **other: Any) -> AuthorError:
    with pytest.raises(AuthorError) as found:
        ask(author, family, **other)
    return found.value


def test_the_seed_decides_what_is_drawn(author: Author) -> None:
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(ask(author), torch.rand(3, generator=generator, dtype=torch.float64))
    assert torch.equal(ask(author), ask(author))
    assert not torch.equal(ask(author), ask(author, seed=6))
    assert not torch.equal(ask(author), ask(author, seed=2**63 - 1))


@pytest.mark.corpus
def test_several_tensors_of_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text(
        "import torch\n"
        "def draw(**given):\n"
        "    assert given.pop('generator').initial_seed() == 1\n"
        "    assert given == {'family': 'rows', 'n': 2, 's': -0.5}\n"
        "    return {'a': torch.tensor([[1, -2]]), 'b': torch.tensor(True),\n"
        "            'c': torch.tensor([1j]), 'd': torch.tensor([1.5, float('nan')])}\n"
    )
    author = Author(path)
    kinds: dict[str, tuple[Kind, tuple[int, ...]]] = {
        "d": ("float", (2,)),
        "a": ("integer", (1, 2)),
        "b": ("integer", ()),
        "c": ("complex", (1,)),
    }
    try:
        found, line = author.draw(seed=1, family="rows", values={"n": 2, "s": -0.5}, tensors=kinds)
    finally:
        author.close()
    assert line == 2
    assert found["a"].tolist() == [[1, -2]]
    assert (found["b"].item(), found["b"].shape) == (1, ())
    assert found["c"].tolist() == [1j]
    assert found["d"][0] == 1.5
    assert found["d"][1].isnan()


@pytest.mark.parametrize("family", ["steps", "gradient"])
def test_tensors_of_any_layout_are_copied(author: Author, family: str) -> None:
    assert ask(author, family).tolist() == ([0, 2, 4] if family == "steps" else [1, 1, 1])


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("number", "must return a mapping from name to tensor for x, not a int"),
        ("others", "must return a tensor for each of x; there are y"),
        ("more", "must return a tensor for each of x; there are x, y"),
        ("listed", "x: a list is no tensor"),
        ("short", "x has shape (2,), not (3,)"),
        ("curly", "x is complex, and the parameter is not"),
        ("sparse", "x must be a dense tensor on the CPU"),
        ("meta", "x must be a dense tensor on the CPU"),
        ("missing", "KeyError: 'missing'"),
    ],
)
def test_what_is_no_answer_is_told(author: Author, family: str, message: str) -> None:
    error = blamed(author, family)
    assert str(error) == message
    assert error.line in range(7, 11)


def test_an_exception_has_its_line(author: Author) -> None:
    error = blamed(author, "raises")
    assert str(error).startswith("IndexError: ")
    assert "def raises" in FILE.splitlines()[error.line - 1]


def test_fractions_are_no_integers(author: Author) -> None:
    message = "x holds torch.float64 numbers, and the parameter integers"
    assert str(blamed(author, "plain", tensors={"x": ("integer", (3,))})) == message


def test_arguments_that_the_problem_does_not_have(author: Author) -> None:
    error = blamed(author, "plain", values={"m": 3})
    assert "cannot be called with generator, family, m: missing" in str(error)
    assert error.line == 7


@pytest.mark.corpus
@pytest.mark.parametrize("family", ["leaves", "exits", "crashes"])
def test_a_process_that_ends_is_blamed_and_started_again(author: Author, family: str) -> None:
    ended = {"leaves": "status 3", "exits": "status ", "crashes": "by signal 11"}[family]
    assert ended in str(blamed(author, family))
    assert len(ask(author)) == 3


def test_more_memory_than_there_is_may_not_be_asked_for(author: Author) -> None:
    assert "takes too much memory" in str(blamed(author, "greedy"))
    assert len(ask(author)) == 3


def test_memory_is_watched(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(ask(author)) == 3
    monkeypatch.setattr(client, "MEMORY_BYTES", 1 << 30)
    assert "took more than 1024 MiB of memory" in str(blamed(author, "grown"))


@pytest.mark.corpus
def test_processor_time_is_limited(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(ask(author)) == 3
    monkeypatch.setattr(client, "PROCESSOR_S", 0.5)
    assert "took more than 0.5 s" in str(blamed(author, "loops"))


@pytest.mark.corpus
def test_waiting_is_limited(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(ask(author)) == 3
    monkeypatch.setattr(client, "IDLE_S", 0.5)
    assert "did nothing for 0.5 s" in str(blamed(author, "sleeps"))


@pytest.mark.corpus
@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize(
    "action", ["connects", "listens", "writes", "changes", "looks", "reads", "starts"]
)
def test_it_is_confined(confined: dict[bool, Author], namespaces: bool, action: str) -> None:
    if namespaces not in confined:
        pytest.skip("this machine allows no namespaces")
    assert ask(confined[namespaces], action, n=1).item() == 1, action


@pytest.fixture(scope="module")
def confined(file: Path) -> Iterator[dict[bool, Author]]:
    """By whether there are namespaces; without them the kernel refuses files by rules."""
    made = {}
    if detect_support().namespaces:
        made[True] = Author(file)
        ask(made[True])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "detect_support", lambda: SandboxSupport(False, False))
        made[False] = Author(file)
        ask(made[False])
    yield made
    for author in made.values():
        author.close()


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("x = 1\n", "the file defines no function draw", 1),
        ("draw = 1\n", "the file defines no function draw", 1),
        ("import torch\nx = 1 / 0\n", "ZeroDivisionError: division by zero", 2),
        ("def draw(generator:\n", "SyntaxError: ", 1),
        ("\nimport nowhere\n", "ModuleNotFoundError: No module named 'nowhere'", 2),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, message: str, line: int) -> None:
    path = tmp_path / "reference.py"
    path.write_text(text)
    author = Author(path)
    try:
        for _ in range(2):
            error = None
            try:
                author.draw(seed=1, family="declared", values={}, tensors={"x": ("float", (1,))})
            except AuthorError as found:
                error = found
            assert error is not None
            assert str(error).startswith(message)
            assert error.line == line
    finally:
        author.close()


@pytest.mark.corpus
def test_threads_have_the_answers_to_their_own_questions(file: Path, author: Author) -> None:
    authors = Authors(file)

    def draw(seed: int) -> Any:
        with authors.process() as taken:
            return ask(taken, seed=seed)

    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(draw, range(16)))
    finally:
        authors.close()
    assert all(torch.equal(each, ask(author, seed=seed)) for seed, each in enumerate(found))


@pytest.mark.corpus
def test_an_interrupted_question_has_no_late_answer(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    wanted = ask(author, seed=2)
    with monkeypatch.context() as patch:
        patch.setattr(Author, "_wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ask(author, seed=1)
    assert torch.equal(ask(author, seed=2), wanted)


@pytest.mark.corpus
def test_each_thread_has_a_process_that_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text(
        "import os, time, torch\n"
        "def draw(family):\n"
        "    time.sleep(float(family))\n"
        "    return {'x': torch.tensor([float(os.getpid())])}\n"
    )
    authors = Authors(path)

    def pid(family: str) -> float:
        with authors.process() as author:
            tensors, _ = author.draw(
                seed=1, family=family, values={}, tensors={"x": ("float", (1,))}
            )
        return float(tensors["x"])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(pid, ["0.5", "0.5"]))
        processes_at_once = list(authors._idle)
        assert len(processes_at_once) == 2
        pid("0")
        assert authors._idle == processes_at_once
        late = pool.submit(pid, "0.5")
        while len(authors._idle) == 2:
            time.sleep(0.01)
        authors.close()
        assert late.result() > 0
    assert authors._idle == []
    assert [each._sandbox for each in processes_at_once] == [None, None]


@pytest.mark.corpus
def test_few_processes_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_authors", type(client._authors)())
    monkeypatch.setattr(client, "_MOST", 1)
    path = tmp_path / "reference.py"
    path.write_text(FILE)
    first = authors_of(path, "1")
    assert authors_of(path, "1") is first
    with first.process() as one:
        assert len(ask(one)) == 3
    (process,) = first._idle
    assert process._sandbox is not None
    monitor = process._sandbox.process.pid
    second = authors_of(path, "2")
    assert second is not first
    deadline = time.monotonic() + 5
    while processes.descendants(monitor) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not processes.descendants(monitor)
    second.close()
