"""What may be opened, tried in a process that has given up everything else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.sandbox import landlock

pytestmark = pytest.mark.skipif(landlock.version() == 0, reason="no landlock in this kernel")
ROOT = Path(__file__).parents[2]

RESTRICTED = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from harness.sandbox import landlock, system
from harness.sandbox.spec import SandboxSpec

folder, readable, writable, *tried = sys.argv[2:]
system.drop_capabilities()  # root's let it read the memory of others, rules or none
system.prctl(system.PR_SET_NO_NEW_PRIVS, 1, "no new privileges")
spec = SandboxSpec(
    folder=folder, namespaces=False, own_user=False, readable=(readable, "/not/there"),
    writable=(writable,), devices=("/dev/null",),
)
assert landlock.restrict(spec)
opened = []
for path in tried:
    path, _, mode = path.partition("|")
    try:
        with open(path, mode or "rb") as file:
            file.write("x") if mode else file.read(1)
        opened.append(path)
    except OSError:
        pass
print(json.dumps(opened))
"""


Opened = Callable[..., list[str]]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    for name in ("own", "readable", "writable", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text", encoding="ascii")
    (tmp_path / "readable" / "link").symlink_to(tmp_path / "other" / "file")

    def opened(*tried: str) -> list[str]:
        folders = [str(tmp_path / name) for name in ("own", "readable", "writable")]
        command = [sys.executable, "-I", "-S", "-c", RESTRICTED, str(ROOT), *folders]
        paths = [path if path.startswith("/") else f"{tmp_path}/{path}" for path in tried]
        done = subprocess.run([*command, *paths], capture_output=True, text=True, check=True)
        found: list[str] = json.loads(done.stdout)
        return [path.removeprefix(f"{tmp_path}/") for path in found]

    return opened


def test_files_of_the_spec_can_be_read(opened: Opened) -> None:
    there = ["own/file", "readable/file", "writable/file", "/dev/null", "/proc/self/stat"]
    assert opened(*there) == there
    assert opened("other/file", "readable/link", "/etc/hostname", str(ROOT / "README.md")) == []


def test_only_writable_folders_can_be_written(opened: Opened) -> None:
    assert opened("own/new|x", "writable/new|x", "/dev/null|w") == [
        "own/new", "writable/new", "/dev/null",
    ]  # fmt: skip
    assert opened("readable/new|x", "readable/file|w", "other/new|x", "/tmp/harness-x|w") == []


def test_the_judges_processes_cannot_be_read(opened: Opened) -> None:
    secrets = [f"/proc/{os.getpid()}/{name}" for name in ("environ", "mem", "maps")]
    assert opened(*secrets) == []
