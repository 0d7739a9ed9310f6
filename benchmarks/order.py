"""An order that has no other meaning, so that those which are done in time are a sample of all."""

import random
from collections.abc import Sequence
from typing import TypeVar

_SEED = 7
_ThingT = TypeVar("_ThingT")


def mixed(things: Sequence[_ThingT]) -> list[_ThingT]:
    """The ``things``, which must come in the same order each time, in another: always the same."""
    found = list(things)
    random.Random(_SEED).shuffle(found)
    return found
