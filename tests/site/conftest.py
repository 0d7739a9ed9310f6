"""A site of a few results, built once."""

from pathlib import Path

import pytest
from support.site_samples import CODE, SASS, built, lively_results, some_results


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site of boards, entries and one real problem."""
    return built(tmp_path_factory.mktemp("site") / "out", some_results())


@pytest.fixture(scope="session")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with every kind of page: histories, models, several devices, code."""
    return built(
        tmp_path_factory.mktemp("lively") / "out",
        lively_results(),
        everything=True,
        sources={"ann-3": CODE},
        machine_code={"ann-3": SASS},
    )
