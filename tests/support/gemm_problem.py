from pathlib import Path

import pytest

from harness.languages.build.cache import Cache
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.terms import Direction, Limits, Role


def _tensor(name: str, direction: Direction) -> Parameter:
    return Parameter(name=name, type="[VAR]", role=Role.TENSOR, line=1, direction=direction)


def _value(name: str, type_: str, role: Role) -> Parameter:
    return Parameter(name=name, type=type_, role=role, line=1)


@pytest.fixture(scope="session")
def problem() -> Problem:
    """A product of matrices, with what building needs of a problem."""
    return Problem(
        slug="product",
        title="Product",
        difficulty="EASY",
        author="test",
        tags=(),
        parameters=(
            _tensor("a", Direction.IN),
            _tensor("b", Direction.IN),
            _tensor("out", Direction.OUT),
            _value("alpha", "float", Role.SCALAR),
            *(_value(name, "size_t", Role.SIZE) for name in "mnk"),
        ),
        statement="",
        folder=Path("/nowhere"),
        hash="0" * 64,
        dtypes=("float32", "float16"),
        benchmarks=(),
        cpu_benchmarks=(),
        cases=1,
        tolerance=None,
        flops=None,
        bytes=None,
        baselines={},
        limits=Limits(build_s=60.0),
    )


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """One cache for all tests that do not look at the cache itself."""
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")
