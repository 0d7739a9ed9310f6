"""KernelBench's contract: ``Model``, ``get_inputs``, ``get_init_inputs`` in one file.

A submission defines ``ModelNew`` with the same constructor and ``forward``. Both are made under one
seed, on the CPU, and their weights are equal for that reason alone; where all are, the judge gives
both others (:mod:`harness.formats.weights`). They stay in training mode, as they are made.
"""

import ast
from pathlib import Path

from harness.formats.messages import CasesDescribed
from harness.formats.process.adaptor import (
    Tensors,
    UngradableError,
    load_tree,
)
from harness.formats.process.cutting import FACTORS, MOST_COST, cost, cut
from harness.formats.process.model_file import ModelFile, tensors_of
from harness.formats.process.nested import changed_constants
from harness.formats.process.weights import held
from harness.formats.versions import of_first

TOLERANCE = 1e-4
"""Of KernelBench's evaluation in float32, relative and absolute alike."""
FIRST_TOLERANCE = 1e-2
"""Of v0's."""


class KernelBench:
    """One file, at its own sizes and, where it is asked for, at smaller ones."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_bytes()
        self._files: dict[bool, ModelFile] = {}
        self._tolerance = FIRST_TOLERANCE if of_first(self._text) else TOLERANCE
        ast.parse(self._text)  # a mistake is told now

    def describe(self, *, small: bool) -> CasesDescribed:
        """One shape, tried: what it returns, whether that is the same each time, and how exact."""
        return self._file(small).described()

    def draw(self, case: str, seed: int, *, small: bool) -> Tensors:
        """What ``get_inputs`` returns."""
        return tensors_of(self._file(small).inputs(seed))

    def weights(self, seed: int, *, small: bool) -> Tensors:
        """What a module of its own holds as it is made."""
        return held(self._file(small).made(seed))

    def answers(
        self,
        case: str,
        inputs: Tensors,
        weights: int,
        *,
        small: bool,
        own: bool = False,
    ) -> Tensors:
        """What ``forward`` of a fresh module returns."""
        return self._file(small).right(inputs, weights, own=own)

    def check(self, case: str, inputs: Tensors, outputs: Tensors, *, small: bool) -> bool:
        """None: a tolerance decides."""
        raise UngradableError("it has no check of its own")

    def _file(self, small: bool) -> ModelFile:
        if small not in self._files:
            file = self._small_file() if small else self._cut(0)
            if file.factor:
                file.constants = changed_constants(self._cut(0).names, file.names)
            self._files[small] = file
        return self._files[small]

    def _cut(self, factor: int) -> ModelFile:
        tree = cut(ast.parse(self._text), factor)
        module = load_tree(tree, self._path, self._path.stem)
        return ModelFile(vars(module), factor, self._tolerance)

    def _small_file(self) -> ModelFile:
        """The file cut as little as is needed; by most, where that is not known."""
        found: list[tuple[float, ModelFile]] = []
        unknown = []
        for factor in FACTORS:
            try:
                file = self._cut(factor)
            except Exception:
                if factor == 0:
                    raise
                continue
            often = cost(file.once)
            if often is None:
                unknown.append(file)
            elif often <= 1:
                return file
            else:
                found.append((often, file))
        if found:  # so what is unknown are numbers that do not go together
            often, file = min(found, key=lambda each: each[0])
            if often <= MOST_COST:
                return file
            unknown = []
        failed: list[Exception] = []
        for file in reversed(unknown):
            try:
                file.once()
            except Exception as error:  # these numbers do not go together: others may
                failed.append(error)
                continue
            return file
        if failed and len({(type(error), str(error)) for error in failed}) == 1:
            raise failed[-1]  # it is not for its numbers
        raise UngradableError("its sizes cannot be made small enough for a machine without a GPU")
