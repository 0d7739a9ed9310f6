"""Makes the targets importable: they belong to scripts/fuzz."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "scripts"), str(Path(__file__).parents[1])]
