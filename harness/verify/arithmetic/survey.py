"""Find out which sums a reference forms, and how often a result on its way is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from harness.problem.case import Case
from harness.problem.reference import Reference
from harness.verify.arithmetic import operations
from harness.verify.arithmetic.model import MAXIMA, Args, Arithmetic, ArithmeticModel, Kwargs
from harness.verify.arithmetic.operations import Operation, OperationKind, base_name, classify

_FACTORS = frozenset({"mul", "div"})


@dataclass(frozen=True, slots=True)
class ReferenceTraits:
    """Kinds of operations that a reference is made of."""

    sums: bool
    """Whether anything is summed, so that order and accumulator matter."""
    products: bool
    """Whether products of two tensors' elements are summed."""
    functions: bool
    """Whether exponentials or the like occur."""
    maxima: bool
    """Whether maxima along a dimension occur."""
    additions: bool
    """Whether elements are added one by one."""
    roundings: int
    """Operations that round on the longest way to an output."""
    magnified: bool
    """Whether a rounded result is added to something, or a function taken of it: what rounding
    lost can grow then."""
    unknown: tuple[str, ...]
    """Operations whose sums cannot be varied."""


def survey(reference: Reference, case: Case, inputs: Mapping[str, Tensor]) -> ReferenceTraits:
    """Evaluate the reference once, and note its operations.

    Raises:
        ProblemError: the reference is wrong.
    """
    with _Counter() as counter:
        outputs = reference.expected(case, inputs)
    states = [counter.state(x) for x in outputs.values()]
    return ReferenceTraits(
        sums=OperationKind.SUM in counter.kinds,
        products=bool(counter.names & operations.PRODUCTS),
        functions=OperationKind.FUNCTION in counter.kinds,
        maxima=bool(counter.names & MAXIMA),
        additions=OperationKind.ADDITION in counter.kinds,
        roundings=max(state.roundings for state in states),
        magnified=any(state.magnified for state in states),
        unknown=tuple(sorted(counter.unknown)),
    )


class _State(NamedTuple):
    """A storage: roundings on the longest way to it, and whether one of them can be magnified."""

    roundings: int = 0
    magnified: bool = False


class _Counter(Arithmetic):  # type: ignore[no-untyped-call]
    """Counts roundings per storage: views of a tensor share it, and what is changed in place."""

    def __init__(self) -> None:
        super().__init__(ArithmeticModel())
        self.kinds: set[OperationKind] = set()
        self.names: set[str] = set()
        self._states: dict[int, _State] = {}
        self._alive: list[object] = []  # so that no storage is given out twice

    def __torch_dispatch__(
        self, func: Operation, types: object, args: Args = (), kwargs: Kwargs | None = None
    ) -> object:
        result = super().__torch_dispatch__(func, types, args, kwargs)
        kind, factors = classify(func, (args, kwargs)), base_name(func) in _FACTORS
        self.kinds.add(kind)
        self.names.add(base_name(func))
        self._alive.append(result)
        if kind is OperationKind.COMPOSITE:
            return result  # its parts came here already
        before = [self.state(x) for x in operations.tensors((args, kwargs))]
        magnified = any(state.magnified for state in before)
        # Relative errors of factors add up; what happens to them in a sum depends on the numbers.
        counts = [state.roundings for state in before]
        after = sum(counts) if factors else max(counts, default=0)
        if kind is not OperationKind.EXACT:
            magnified |= after > 0 and not factors
            after += 1
        for x in operations.tensors(result):
            had = self.state(x)
            state = _State(max(after, had.roundings), magnified or had.magnified)
            self._states[_place(x)] = state
        return result

    def state(self, x: Tensor) -> _State:
        """What is known of the storage of ``x``."""
        return self._states.get(_place(x), _State())


def _place(x: Tensor) -> int:
    return int(x.untyped_storage()._cdata)
