"""The judge's process behind the door on made-up cards, whose judges grade nothing.

``FAKE_NAMES``: what the cards of this machine are called, two by default.
"""

from support.judged_files import FAKE, ROOT

PROGRAM = f"""\
import os, sys
sys.path[:0] = [{str(ROOT)!r}]
from harness.device import cards
cards.visible_cards = lambda *_: [
    cards.Card(n, f"GPU-{{n}}a", f"0000:1{{n}}:00.0", "Made-up " + name)
    for n, name in enumerate(os.environ.get("FAKE_NAMES", "100 100").split())
]
cards.opened_as = lambda card: ("cpu", {{"FAKE_CARD": os.environ.get("FAKE_CARD") or card.uuid}})
from harness.grading import card_process, cluster
card_process._JUDGE = {FAKE!r}
from dataclasses import replace
opened = cluster.open_cluster
cluster.open_cluster = lambda device, wanted, *more: opened(
    device, replace(wanted, program={FAKE!r}), *more
)
from harness.door.worker import main
main()
"""
