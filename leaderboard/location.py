"""Where the results of this machine's user are kept."""

import os
from pathlib import Path

import platformdirs
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

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


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite database; None for one in memory, and for a server's."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database)).absolute()


def missing_file(url: str) -> Path | None:
    """The file that a store at ``url`` would be in, if there is none; None also for a server.

    What stands in SQLite's own notation (``uri=true``) is SQLite's to find.
    """
    try:
        parsed = make_url(url)
        file = None if "uri" in parsed.query else sqlite_file(parsed)
    except (ArgumentError, ValueError):  # which the store will tell
        return None
    return None if file is None or file.exists() else file


def why_read_only(file: Path) -> str:
    """Why the database in ``file`` can be read and not written; empty if it can, or is not there.

    SQLite writes beside the file, too.
    """
    if not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return ""
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return "is on a read-only file system"
    return "and its folder cannot be written by this user"
