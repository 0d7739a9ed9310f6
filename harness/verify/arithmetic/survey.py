"""Find out which sums a reference forms, and how often a result on its way is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from harness.problem.case import Case
from harness.problem.reference import Reference
from harness.verify.arithmetic.composites import Operation
from harness.verify.arithmetic.model import Arithmetic, ArithmeticModel
from harness.verify.arithmetic.operations import PRODUCTS, OperationKind, base_name, tensors

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
    return ReferenceTraits(
        sums=OperationKind.SUM in counter.kinds,
        products=bool(counter.names & PRODUCTS),
        functions=OperationKind.FUNCTION in counter.kinds,
        additions=OperationKind.ADDITION in counter.kinds,
        roundings=max((counter.roundings(x) for x in outputs.values()), default=0),
        magnified=any(counter.magnified(x) for x in outputs.values()),
        unknown=tuple(sorted(counter.unknown)),
    )


class _Counter(Arithmetic):  # type: ignore[no-untyped-call]
    """Counts roundings per storage: views of a tensor share it, and what is changed in place."""

    def __init__(self) -> None:
        super().__init__(ArithmeticModel())
        self.kinds: set[OperationKind] = set()
        self.names: set[str] = set()
        self._roundings: dict[int, int] = {}
        self._magnified: set[int] = set()
        self._alive: list[object] = []  # so that no storage is given out twice

    def done(
        self,
        func: Operation,
        kind: OperationKind,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        result: object,
    ) -> None:
        self.kinds.add(kind)
        self.names.add(base_name(func))
        self._alive.append(result)
        if kind is OperationKind.COMPOSITE:
            return  # its parts came here already
        arguments = tensors((args, dict(kwargs)))
        before = [self.roundings(x) for x in arguments]
        magnified = any(self.magnified(x) for x in arguments)
        # Relative errors of factors add up; what happens to them in a sum depends on the numbers.
        after = sum(before) if base_name(func) in _FACTORS else max(before, default=0)
        if kind is not OperationKind.EXACT:
            magnified |= after > 0 and base_name(func) not in _FACTORS
            after += 1
        for x in tensors(result):
            place = _place(x)
            self._roundings[place] = max(after, self._roundings.get(place, 0))
            if magnified:
                self._magnified.add(place)

    def roundings(self, x: Tensor) -> int:
        """Roundings on the longest way to any element of the storage of ``x``."""
        return self._roundings.get(_place(x), 0)

    def magnified(self, x: Tensor) -> bool:
        """Whether on a way there a rounded result went into anything but a product."""
        return _place(x) in self._magnified


def _place(x: Tensor) -> int:
    return int(x.untyped_storage()._cdata)
