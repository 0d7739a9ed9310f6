"""A contest of one's own: a repository with a first problem, checks of pull requests, a page."""

import re
import subprocess
from pathlib import Path

from harness import __version__
from harness.errors import UsageError
from harness.starter.files import write_folder
from harness.starter.package import SIGNATURE, declared, package_files, title_of
from harness.starter.rendering import TEMPLATES, rendered
from harness.text.plain import quoted

FIRST = "vector-sum"
"""The problem that a contest begins with."""
WORKFLOWS = ("check.yml", "pages.yml")

_OWN = "uses: ./.github/actions/grade\n"
_HEAD = re.compile(r"\A(?:#.*\n)*")
_GIT_SECONDS = 5
_ORIGIN = re.compile(r"(?:https://github\.com/|git@github\.com:)([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*/[\w.-]+)(?:@([\w./-]+))?")
_IGNORED = "build/\npublic/\n*.sqlite*\n__pycache__/\n"


def pinned(named: str | None) -> tuple[str, str]:
    """The harness's repository on GitHub, ``owner/name``, and the release that a contest runs.

    Without a name it is where this harness was cloned from, at this version's release.

    Raises:
        UsageError: it is no such name, or there is none and this harness is no clone from GitHub.
    """
    chosen = named if named is not None else _origin()
    if chosen is None:
        raise UsageError(
            "--harness: which repository on GitHub has this harness? OWNER/REPOSITORY, and with "
            "@TAG or @COMMIT another release than this one"
        )
    match = _PINNED.fullmatch(chosen)
    if match is None or ".." in chosen:
        raise UsageError(f"--harness {quoted(chosen[:80])}: OWNER/REPOSITORY, or that with @TAG")
    return match[1], match[2] or f"v{__version__}"


def _origin() -> str | None:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    asked = ["git", "-C", str(root), "config", "remote.origin.url"]
    try:
        done = subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=_GIT_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _ORIGIN.fullmatch(done.stdout.strip())
    return found[1] if found else None


def write_contest(folder: Path, repository: str, ref: str) -> None:
    """Write the repository's files into ``folder``, which must be new or empty.

    Raises:
        UsageError: there is something, or it cannot be written.
        MachineError: the machine failed, as when the disk is full.
    """
    title = title_of(folder.resolve().name) or "Contest"
    about = {"title": title, "slug": FIRST, "repository": repository, "ref": ref}
    files = {
        "README.md": rendered(TEMPLATES / "contest.md.jinja", about),
        ".gitignore": _IGNORED,
        "solutions/.gitkeep": "",
    }
    for name in WORKFLOWS:
        files[f".github/workflows/{name}"] = workflow(name, repository, ref)
    package = package_files(FIRST, title_of(FIRST), declared(SIGNATURE))
    write_folder(folder, files | {f"problems/{FIRST}/{k}": v for k, v in package.items()})


def workflow(name: str, repository: str, ref: str) -> str:
    """One of :data:`WORKFLOWS`, with the action of ``repository`` at ``ref``."""
    used = f"uses: {repository}/.github/actions/grade@{ref}\n"
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return _HEAD.sub("# Written by harness new contest.\n", text).replace(_OWN, used)
