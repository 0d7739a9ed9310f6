"""Feeds hostile bytes to whatever of the judge reads what others wrote; see docs/robustness.md."""
