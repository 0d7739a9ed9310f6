"""Feeds hostile bytes to whatever of the judge reads what others wrote; see docs/explanation/robustness.md."""

import sys

from tools import ROOT

sys.path.append(str(ROOT / "tests"))  # targets begin with results that the tests make
