"""Version 5: what boards are made of is a table of typed columns, filled when it is first read."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Replace the binary table, which a store that came from version 3 or earlier does not have."""
    op.drop_table("standings", if_exists=True)
    op.create_table(
        "entries",
        sa.Column(
            "seq",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("dtype", sa.Text, nullable=False),
        sa.Column("device_kind", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("harness_major", sa.Text, nullable=False),
        sa.Column("baseline", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("solution", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("time_us", sa.Double),
        sa.Column("speedup", sa.Double),
        sa.Column("speedup_low", sa.Double),
        sa.Column("speedup_high", sa.Double),
        sa.Column("unranked_reason", sa.Text, nullable=False),
        sa.Column("date", sa.DateTime, nullable=False),
        sa.Column("problem_hash", sa.Text, nullable=False),
        sa.Column("solution_hash", sa.Text, nullable=False),
        sa.Column("harness", sa.Text, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("sol_fraction", sa.Double),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.Column("conclusive", sa.Boolean, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Index("entries_by_problem", "problem", "seq"),
    )
