"""Version 7: entries name the libraries used; they are made again when boards are first read."""

from typing import TypeVar

import sqlalchemy as sa
from alembic import op

T = TypeVar("T")

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make the table anew: what it holds is derived, and read under today's rules."""
    op.drop_table("entries")
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "entries",
        sa.Column("seq", key, primary_key=True, autoincrement=False),
        *_columns(sa.Text, "problem", "dtype", "device_kind", "device", "harness_major"),
        *_columns(sa.Text, "baseline", "author", "solution", "language"),
        *_columns(sa.Double, "time_us", "speedup", "speedup_low", "speedup_high", null=True),
        *_columns(sa.Text, "unranked_reason"),
        *_columns(sa.DateTime, "date"),
        *_columns(sa.Text, "problem_hash", "solution_hash", "harness", "result"),
        *_columns(sa.Double, "sol_fraction", null=True),
        *_columns(sa.Text, "origin", "libraries"),
        *_columns(sa.Boolean, "accepted", "conclusive"),
        *_columns(sa.Text, "model", "verdict", "reason"),
        sa.Index("entries_by_problem", "problem", "seq"),
    )


def _columns(
    kind: type[sa.types.TypeEngine[T]], *names: str, null: bool = False
) -> list[sa.Column[T]]:
    return [sa.Column(name, kind, nullable=null) for name in names]
