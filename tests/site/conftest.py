"""A site of a few results, built once."""

from pathlib import Path

import pytest
from support.site_samples import built, some_results


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site of boards, entries and one real problem."""
    return built(tmp_path_factory.mktemp("site") / "out", some_results())
