"""Feeds hostile bytes to all of the judge that reads what others wrote.

See docs/explanation/robustness.md.
"""

import sys

from tools import ROOT

sys.path.append(str(ROOT / "tests"))  # targets begin with results that the tests make
