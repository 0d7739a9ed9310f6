"""Version 1: results, their records, and ``meta`` with the version. Migrations begin here."""

revision = "1"
down_revision = None
