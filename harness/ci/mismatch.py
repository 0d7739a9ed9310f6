"""What is wrong with an output, as lines of text: what an author must see without a clone."""

from harness.records.cases import Element, Mismatch
from harness.records.result import Result
from harness.report.matrix import matrix_lines
from harness.report.terminal import shown_number
from harness.text import numbers

_WIDTH = 100


def mismatch_lines(result: Result) -> list[str]:
    """``first  z[3]: expected 1.5, got nan (allowed error 1e-07)``, and the worst one if another.

    Of the smallest case that fails, or of the first. Untrusted; empty where no output was compared.
    """
    found = _mismatch(result)
    if found is None:
        return []
    lines = [
        f"{numbers.integer(found.differing)} of {numbers.integer(found.total)} differ",
        f"first  {_element(found.parameter, found.first)}",
    ]
    if found.worst.index != found.first.index:
        lines.append(f"worst  {_element(found.parameter, found.worst)}")
    return lines


def tensor_lines(result: Result) -> list[str]:
    """The small tensors of the smallest case that fails: inputs, expected and got; untrusted."""
    lines: list[str] = []
    for tensor in result.shrunk.tensors if result.shrunk else ():
        shape = " × ".join(map(str, tensor.shape)) or "one number"
        lines.append(f"{tensor.role} {tensor.parameter} ({shape})")
        lines += [f"  {text}" for text in matrix_lines(tensor, _WIDTH)]
    return lines


def _mismatch(result: Result) -> Mismatch | None:
    failed = result.smallest_failed_case
    return failed.mismatch if failed else None


def _element(parameter: str, element: Element) -> str:
    expected = shown_number(element.expected, element.expected_imag)
    got = shown_number(element.got, element.got_imag)
    index = ", ".join(map(str, element.index))
    wrong = f"expected {expected}, got {got} (allowed error {element.allowed:.3g})"
    return f"{parameter}[{index}]: {wrong}"
