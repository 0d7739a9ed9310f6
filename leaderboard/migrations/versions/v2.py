"""Version 2: rulings. An older harness must not open such a store: it would count what does not."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add the table of rulings."""
    op.create_table(
        "rulings",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("result", sa.Text, nullable=False, index=True),
        sa.Column("checksum", sa.String(64), nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
