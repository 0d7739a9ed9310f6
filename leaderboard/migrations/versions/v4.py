"""Version 4: what boards are made of, which was text, became binary, to be made again."""

from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Drop the text; the first stores had none yet."""
    op.drop_table("standings", if_exists=True)
