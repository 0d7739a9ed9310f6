"""How the runner and the builder are confined."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the package ``harness`` lies in, where interpreters in sandboxes find it."""
