"""The command line on a machine with made-up cards, whose judges grade on the CPU."""

from pathlib import Path

TESTS = Path(__file__).parents[1]

PROGRAM = f"""
import sys
sys.path[:0] = [{str(TESTS.parent)!r}]
from harness.device import cards
cards.visible_cards = lambda *_: [
    cards.Card(n, f"GPU-{{n}}a", f"0000:1{{n}}:00.0", "Made-up " + name)
    for n, name in enumerate(("100", "100", "200"))
]
cards.opened_as = lambda card: ("cpu", {{"MADE_UP_CARD": card.uuid}})
from harness.cli import main
main()
"""
"""Cards 0 and 1 are of one kind, 2 of another."""

FAKE = PROGRAM.replace(
    "from harness.cli",
    f"""
from harness.grading import card_process
card_process._JUDGE = (
    "import sys; sys.path[:0] = [{str(TESTS.parent)!r}, {str(TESTS)!r}]; "
    "from support.fake_judge import main; main()"
)
from harness.cli""",
)
"""The same with judges that grade nothing."""
