"""Confinement of everything that reads or runs untrusted files: submissions, compilers, parsers.

In goes a :class:`~harness.sandbox.spec.SandboxSpec`: what to run, what it may see, and its limits.
Out comes a confined process tree that is watched, paused and ended from outside
(:mod:`~harness.sandbox.launch`), or the outcome of one command (:mod:`~harness.sandbox.command`).
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the package ``harness``, for interpreters in sandboxes to import it."""

INSTALLED = ROOT.name in ("site-packages", "dist-packages")
"""Whether that is where packages of others are, too."""
OURS = tuple(str(ROOT / package) for package in ("harness", "leaderboard"))
"""The judge's own packages, of which a sandbox sees what its spec names and no more."""


def python_command(code: str) -> tuple[str, ...]:
    """The command of a fresh interpreter that runs ``code``, which may import the harness."""
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; {code}"
    return (sys.executable, "-I", "-S", "-u", "-c", code)
