"""All mutants of a solution, whatever its language."""

from pathlib import Path

from tools.mutation.cuda import cuda_mutants
from tools.mutation.mutant import Mutant
from tools.mutation.trial import Subject
from tools.mutation.triton import triton_mutants


def mutants_of(subject: Subject, solutions: Path) -> list[Mutant]:
    """In the order of the file; ``solutions`` is the folder that their names are relative to."""
    source = subject.path.read_text(encoding="utf-8")
    file = subject.path.relative_to(solutions).as_posix()
    if subject.language == "cuda":
        return cuda_mutants(source, file)
    return triton_mutants(source, file, subject.problem)
