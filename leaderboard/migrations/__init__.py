"""Brings stores of older versions up to date: one Alembic revision for each step between versions.

What comes in is a connection to a store in a transaction, and the version that its ``meta`` table
says; what goes out is the same store with the tables of the newest version. A revision is named
after the version that it leads to and stands for itself: it must not use ``leaderboard.schema``,
which changes.

The version stays in ``meta``, where every harness so far looks for it, the older ones to refuse
newer stores; Alembic's own table of versions would be a second place and is not made.
"""

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def migrate(connection: Connection, version: int) -> None:
    """Upgrade the tables of a store of ``version`` to the newest, within its transaction."""
    revisions = ScriptDirectory(str(Path(__file__).parent))
    steps = list(revisions.iterate_revisions("head", str(version)))
    with Operations.context(MigrationContext.configure(connection)):
        for step in reversed(steps):
            step.module.upgrade()
