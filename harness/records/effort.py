"""How much is spent on a grade. Keep imports cheap: the command line offers these words."""

from typing import Literal, get_args

Effort = Literal["full", "quick", "verdict"]
"""``full`` may be ranked on a few per mille, ``quick`` on a per cent; ``verdict`` never is."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
