"""What a reference does: which sums it forms, and how often a result on its way is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from harness.problem.case import Case
from harness.problem.model import Problem
from harness.problem.reference import Reference
from harness.verify.arithmetic.composites import Operation
from harness.verify.arithmetic.model import Arithmetic, ArithmeticModel
from harness.verify.arithmetic.operations import PRODUCTS, OperationKind, base_name, tensors

_FACTORS = frozenset({"mul", "div"})


@dataclass(frozen=True, slots=True)
class ReferenceTraits:
    """What was seen while a reference was evaluated.

    ``sums``: whether anything is summed, so that order and accumulator matter; ``products``:
    whether products of tensors are; ``functions``: whether exponentials or the like occur;
    ``additions``: whether elements are added one by one. ``roundings`` is how many operations on
    the longest way to an output round; where a rounded result is added to something, or a function
    is taken of it, what was lost can be magnified, and ``magnified`` is true. ``unknown`` names
    operations whose sums cannot be varied.
    """

    sums: bool
    products: bool
    functions: bool
    additions: bool
    roundings: int
    magnified: bool
    unknown: tuple[str, ...]


def survey(
    reference: Reference, problem: Problem, case: Case, inputs: Mapping[str, Tensor]
) -> ReferenceTraits:
    """Evaluate the reference once and watch.

    Raises:
        ProblemError: the reference is wrong.
    """
    with _Watch() as watch:
        outputs = reference.expected(problem, case, inputs)
    return ReferenceTraits(
        sums=OperationKind.SUM in watch.kinds,
        products=bool(watch.names & PRODUCTS),
        functions=OperationKind.FUNCTION in watch.kinds,
        additions=OperationKind.ADDITION in watch.kinds,
        roundings=max((watch.roundings(x) for x in outputs.values()), default=0),
        magnified=any(watch.magnified(x) for x in outputs.values()),
        unknown=tuple(sorted(watch.unknown)),
    )


class _Watch(Arithmetic):  # type: ignore[no-untyped-call]
    """Counts roundings per storage: views of a tensor share it, and what is changed in place."""

    def __init__(self) -> None:
        super().__init__(ArithmeticModel())
        self.kinds: set[OperationKind] = set()
        self.names: set[str] = set()
        self._roundings: dict[int, int] = {}
        self._magnified: set[int] = set()
        self._kept: list[object] = []  # so that no storage is given out twice

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
        self._kept.append(result)
        if kind is OperationKind.COMPOSITE:
            return  # its parts came here already
        given = tensors((args, dict(kwargs)))
        before = [self.roundings(x) for x in given]
        magnified = any(self.magnified(x) for x in given)
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
        """Of the longest way to any element of the storage of ``x``."""
        return self._roundings.get(_place(x), 0)

    def magnified(self, x: Tensor) -> bool:
        """Whether on a way there a rounded result went into anything but a product."""
        return _place(x) in self._magnified


def _place(x: Tensor) -> int:
    return int(x.untyped_storage()._cdata)
