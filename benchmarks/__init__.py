"""What the judge's times are worth, and how fast it is: run as ``python -m benchmarks NAME``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The repository."""
