"""Where the results of this machine's user are kept."""

import os
from pathlib import Path

import platformdirs
from sqlalchemy import URL

VARIABLE = "HARNESS_STORE"
"""Environment variable that overrides the default: a database URL, or the path of a file."""


def default_store_url() -> str:
    """URL of the store to use when none is named."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen:
        return store_url(chosen)
    return store_url(Path(platformdirs.user_data_dir("kernel-harness")) / "results.sqlite")


def store_url(place: str | Path) -> str:
    """``place`` as a database URL: URLs stay as they are, paths become ``sqlite:///…``."""
    if isinstance(place, str) and "://" in place:
        return place
    path = Path(place).expanduser().absolute()
    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)
