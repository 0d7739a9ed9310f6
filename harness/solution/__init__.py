"""Submissions: reading, building, keeping what was built."""
