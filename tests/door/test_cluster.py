"""A judge of a Ray cluster behind the door, with judges that grade nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import door_cards
from support.ray_nodes import require_none_left, started_nodes

import harness
from harness.door import connection

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[cluster]'")

pytestmark = [pytest.mark.corpus, pytest.mark.filterwarnings("ignore")]

PROBLEMS = Path(__file__).parents[2] / "problems"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the files are, and where judges write down what they do."""
    folder = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_PROGRAM", door_cards.PROGRAM)
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def nodes(place: Path) -> Iterator[Any]:
    with started_nodes(place) as cluster:
        yield cluster


def files(place: Path, *names: str) -> list[Path]:
    for name in names:
        (place / name).write_text(f'// {name}\nextern "C" void solution() {{}}\n')
    return [Path(name) for name in names]


def test_sources_are_graded_on_all_nodes_and_nothing_is_left(nodes: Any, place: Path) -> None:
    names = [*(f"slow-{number}.cu" for number in range(10)), "die-1.cu", "liar.cu"]
    with harness.Judge(cluster=nodes.address, judges=2, problems=PROBLEMS) as judge:
        results = {
            names[each.number]: each
            for each in judge.grade_many(files(place, *names), "vector-add")
        }
        assert judge._connection._life is not None
        assert judge._connection._life.judges == 2

        async def again() -> list[int]:
            sources = files(place, "a.cu", "b.cu", "c.cu")
            return [each.number async for each in judge.agrade_many(sources, "vector-add")]

        assert sorted(asyncio.run(again())) == [0, 1, 2]
    assert set(results) == set(names)
    for name in names:
        fails = name in ("die-1.cu", "liar.cu")
        assert (results[name].verdict is harness.Verdict.INTERNAL_ERROR) == fails, name
        assert results[name].accepted == (not fails)
    require_none_left(place)


def test_a_cluster_that_is_not_there_is_the_machines_failure(place: Path) -> None:
    with (
        harness.Judge(cluster="127.0.0.1:9", problems=PROBLEMS) as judge,
        pytest.raises(harness.MachineError, match="ray status"),
    ):
        judge.grade(files(place, "d.cu")[0], "vector-add")
