"""Files that a command writes for people to go on with: never over what is there."""

import os
from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.text.output import write_whole
from harness.text.plain import plain
from harness.text.system_errors import cannot_write


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write ``files``, their texts by path, into ``folder``, which must be new or empty.

    Raises:
        UsageError: there is something already, or it cannot be written.
        MachineError: the machine failed, as when the disk is full.
    """
    try:
        if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
            raise UsageError(f"{plain(str(folder))} exists: name a folder that is new or empty")
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
    except OSError as error:
        raise cannot_write(folder, error) from error
