"""Recording what was graded; what a store does not take is kept in a file for ``import``."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import MachineError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.records.result import Result
    from leaderboard.store import Store


def record(
    result: Result,
    source: bytes | None,
    store: Store,
    finish: Callable[[Result], Result] = lambda result: result,
) -> Result:
    """What ``finish`` makes of ``result``, added to ``store`` with its submitted file.

    If that fails or is interrupted, it is kept in a file in the cache's folder, else in that for
    temporary files, which stderr names.

    Raises:
        MachineError: the store fails; the message names the file.
    """
    from leaderboard.store import StoreError

    finished = result
    try:
        finished = finish(result)
        store.add(finished, source)
    except BaseException as error:  # an interrupt, too: a grade may have taken minutes
        told = _keep(finished)
        if isinstance(error, StoreError):
            raise MachineError(f"{error}\n{told}") from error
        with contextlib.suppress(OSError):
            click.echo(told, err=True)
        raise
    return finished


def _keep(result: Result) -> str:
    """Where ``result`` is kept now; itself, if no folder can be written."""
    from harness.commands.exchange import write_lines
    from harness.languages.build.cache import default_cache

    text = io.StringIO()
    write_lines([result], text)
    for folder in (default_cache().root.parent, Path(tempfile.gettempdir())):
        path = folder / f"harness-unrecorded-{result.id}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text.getvalue())
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            continue
        command = f"harness import {shlex.quote(str(path))}"
        return f"the last grade is not recorded, but kept: `{plain(command)}` records it"
    return f"the last grade is not recorded; for harness import:\n{text.getvalue()}"
