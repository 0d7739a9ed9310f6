"""Proofs of the judge, and what makes committed files: run as ``python -m tools.NAME``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The repository."""
