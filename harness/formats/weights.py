"""Which weights of a submission's module are which of the reference's: decided by their values.

Both modules are made under one seed, so weights that mean the same are equal, whatever they are
called; a weight that is stored in another way (transposed, scaled, packed) is equal to none. Names
decide only between equal ones. Where all are matched, a call's weights are inputs like others: each
call has its own, in the judge's memory. Else a case's weights stay those of its seed.

What a submission says of its weights is not believed, and need not be: it decides only where the
judge's values are put. One that names a weight as equal that is not finds other values there than
it was made with, and one that hides a weight is graded as the format does, and its result says so.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.formats.description import ModuleWeight
from harness.wire.arguments import ListedWeight

_SELF = "self."
_OPTIONAL = ("initial", "buffer", "changed")
"""Kinds that a submission need not have: their values are the same under each seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedWeight:
    """A weight of the reference's module, with values of each call's own."""

    weight: ModuleWeight
    """What the reference has."""
    own: str
    """The submission's name of it; empty where it has none."""
    certain: bool = True
    """Whether no other of the submission's weights could be it as well."""


def matched_weights(
    reference: Mapping[str, ModuleWeight],
    digests: Mapping[str, str],
    told: Sequence[ListedWeight],
) -> tuple[MatchedWeight, ...]:
    """The reference's weights that calls can be given, each with what is equal to it; or none.

    None unless each weight that the submission was ``told`` to have is equal to one of the
    reference's, and each of the reference's that follows from the seed to one of the submission's.
    ``digests`` are those of the reference's, by name.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in reference:
        alike[digests[name]].append(name)
    theirs: dict[str, list[str]] = defaultdict(list)
    for each in told:
        theirs[each.digest].append(each.name)
    if any(len(names) > len(alike.get(digest, ())) for digest, names in theirs.items()):
        return ()
    found: dict[str, MatchedWeight] = {}
    for digest, names in alike.items():
        candidates = theirs.get(digest, [])
        own, by_name = _paired(names, candidates)
        for name in names:
            if name not in own and reference[name].kind not in _OPTIONAL:
                return ()
            found[name] = MatchedWeight(
                weight=reference[name],
                own=own.get(name, ""),
                certain=name in by_name or len(names) == 1 or not candidates,
            )
    return tuple(found[name] for name in reference if _is_given(found[name]))


def own_weights(reference: Sequence[ModuleWeight]) -> tuple[MatchedWeight, ...]:
    """The reference's weights, each matched with itself."""
    pairs = (MatchedWeight(weight=x, own=x.spec.name.removeprefix(_SELF)) for x in reference)
    return tuple(pair for pair in pairs if _is_given(pair))


def _is_given(pair: MatchedWeight) -> bool:
    """Whether calls are given it: not what they change; of buffers those that are there."""
    return pair.weight.kind in ("drawn", "initial") or (
        pair.weight.kind == "buffer" and bool(pair.own)
    )


def _paired(names: Sequence[str], theirs: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """Which of the submission's is which of the reference's, and those that names decided.

    Of weights with the same values: by the same name, by its last part, and then in order.
    """
    own: dict[str, str] = {}
    left = list(theirs)
    for key in (str, _last):
        by_key: dict[str, list[str]] = defaultdict(list)
        for each in left:
            by_key[key(each)].append(each)
        for name in names:
            known = by_key[key(name.removeprefix(_SELF))]
            alone = sum(key(n) == key(name) for n in names if n not in own) == 1
            if name not in own and len(known) == 1 and alone:
                own[name] = known[0]
        left = [each for each in left if each not in own.values()]
    by_name = set(own)
    rest = [name for name in names if name not in own]
    own.update(zip(rest, left, strict=False))
    return own, by_name


def _last(name: str) -> str:
    return name.rpartition(".")[2]
