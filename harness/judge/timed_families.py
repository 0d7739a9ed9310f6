"""Which calls of a timed batch get values of another family than the declared one.

Timed shapes have declared values, by which a submission could be right and by no others: a softmax
that takes off a constant instead of the maximum, a mean that is a constant, numbers cut to a
cheaper format. So a few calls of each batch take values of other families. Which calls, and which
families, follows from the batch's seed, a secret: who does not know it learns it from the values.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from harness.problem.case import DECLARED, SPARSE, Case

ONE_IN = 64
"""Calls of a batch of which one takes another family."""
MOST = 4
"""Calls of a batch that take another family, at most: checking them takes longer."""
ALONE_ONE_IN = 4
"""Batches of one call of which one takes another family."""
SPARSE_SHARE = 2
"""``sparse`` is drawn half as often as all others together: it alone shows that numbers were cut to
a format which is nearly precise enough."""


def other_families(families: Sequence[str], case: Case, calls: int, seed: str) -> dict[int, Case]:
    """The calls (from 0) whose values are not those of ``case``, each with its own case.

    At least one of two or more calls; a batch of one call has another family now and then. None
    where ``families`` is empty, or the case itself has not the declared values. The same ``seed``,
    case and number of calls give the same.
    """
    if not families or case.family != DECLARED:
        return {}
    digest = sha256(f"families|{seed}|{case.spec}|{calls}".encode()).digest()
    source = random.Random(digest)  # noqa: S311 - seeded by a secret
    count = min(MOST, max(1, calls // ONE_IN))
    if calls == 1 and source.randrange(ALONE_ONE_IN):
        return {}
    chosen = sorted(source.sample(range(calls), count))
    return {call: replace(case, family=_family(families, source)) for call in chosen}


def _family(families: Sequence[str], source: random.Random) -> str:
    often = [SPARSE] * (len(families) // SPARSE_SHARE) if SPARSE in families else []
    others = [family for family in families if family != SPARSE]
    return source.choice([*others, *(often or families)])
