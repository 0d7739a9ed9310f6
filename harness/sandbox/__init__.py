"""Confinement of everything that reads or runs untrusted files: submissions, compilers, parsers.

In goes a :class:`~harness.sandbox.spec.SandboxSpec`: what to run, what it may see, and its limits.
Out comes a confined process tree that is watched, paused and ended from outside
(:mod:`~harness.sandbox.launch`), or the outcome of one command (:mod:`~harness.sandbox.command`).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the package ``harness``, for interpreters in sandboxes to import it."""
