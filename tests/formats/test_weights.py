"""Weights are matched by their values; names decide between equal ones."""

from collections.abc import Mapping, Sequence

import pytest

from harness.formats.description import ModuleWeight
from harness.formats.messages import WeightKind
from harness.formats.weights import matched_weights, own_weights
from harness.problem.terms import Direction, TensorSpec
from harness.wire.arguments import ListedWeight

KINDS: Mapping[str, WeightKind] = {
    "conv.weight": "drawn",
    "conv.bias": "drawn",
    "bn.weight": "initial",
    "bn.bias": "initial",
    "mask": "buffer",
    "bn.mean": "changed",
}
DIGESTS = {"conv.weight": "w", "conv.bias": "b", "bn.weight": "1", "bn.bias": "0", "mask": "m"}
DIGESTS |= {"bn.mean": "0"}
GIVEN = ["conv.weight", "conv.bias", "bn.weight", "bn.bias", "mask"]


def module(kinds: Mapping[str, WeightKind] = KINDS) -> dict[str, ModuleWeight]:
    def spec(name: str) -> TensorSpec:
        direction = Direction.IN
        return TensorSpec(name=name, dtype="float32", shape=(2,), strides=(1,), direction=direction)

    found = [ModuleWeight(spec=spec(f"self.{name}"), kind=kind) for name, kind in kinds.items()]
    return {each.spec.name: each for each in found}


def pairs(
    *told: tuple[str, str],
    kinds: Mapping[str, WeightKind] = KINDS,
    digests: Mapping[str, str] = DIGESTS,
) -> dict[str, str]:
    """Name in the reference → the submission's; certain ones without a question mark."""
    listed = [ListedWeight(name=name, digest=digest) for name, digest in told]
    made = {f"self.{name}": digest for name, digest in digests.items()}
    found = matched_weights(module(kinds), made, listed)
    return {
        each.weight.spec.name.removeprefix("self."): each.own + ("" if each.certain else "?")
        for each in found
    }


def test_the_same_module_is_matched_with_itself() -> None:
    assert pairs(*DIGESTS.items()) == {name: name for name in GIVEN}
    assert [each.own for each in own_weights([*module().values()])] == GIVEN


def test_other_names_are_matched_by_value() -> None:
    told = (("a", "b"), ("b", "w"), ("c.weight", "1"), ("c.bias", "0"), ("c.mean", "0"))
    assert pairs(*told) == {
        "conv.weight": "b", "conv.bias": "a", "bn.weight": "c.weight", "bn.bias": "c.bias"
    }  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [
        {**DIGESTS, "conv.weight": "w transposed"},
        {name: digest for name, digest in DIGESTS.items() if name != "conv.bias"},
        {**DIGESTS, "packed": "w and b"},
        {**DIGESTS, "again": "w"},
        {},
    ],
    ids=["transposed", "dropped", "packed", "twice", "none"],
)
def test_all_or_none(told: Mapping[str, str]) -> None:
    assert pairs(*told.items()) == {}


def test_what_is_the_same_under_each_seed_may_be_missing() -> None:
    """A call is given it all the same, but for a buffer: nobody reads it."""
    assert pairs(("w", "w"), ("b", "b")) == {
        "conv.weight": "w", "conv.bias": "b", "bn.weight": "", "bn.bias": ""
    }  # fmt: skip
    constant: dict[str, WeightKind] = {"bn.weight": "initial"}
    assert pairs(kinds=constant) == {"bn.weight": ""}


def test_names_decide_between_equal_ones() -> None:
    kinds: dict[str, WeightKind] = dict.fromkeys(("a.x", "b.y", "c.z", "d.z"), "initial")
    same = dict.fromkeys(kinds, "1")

    def told(*names: str) -> dict[str, str]:
        return pairs(*((name, "1") for name in names), kinds=kinds, digests=same)

    assert told("d.z", "c.z", "b.y", "a.x") == {name: name for name in kinds}
    assert told("z", "q.y", "a.x", "other") == {
        "a.x": "a.x", "b.y": "q.y", "c.z": "z?", "d.z": "other?"
    }  # fmt: skip
    assert told("p", "q") == {"a.x": "p?", "b.y": "q?", "c.z": "?", "d.z": "?"}


def reused(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def test_a_liar_gets_what_it_says() -> None:
    """One that names a weight twice, or an unknown digest, breaks nothing."""
    twice = pairs(("w", "w"), ("b", "b"), ("w", "1"), ("w", "0"))
    assert reused([*twice.values()])
    assert pairs(("w", "w"), ("b", "b"), ("", "x" * 99)) == {}
