"""How a submission was taken from a model's output, and how it is called, for a person."""

from collections.abc import Iterator

from harness.records.refs import Generation
from harness.records.result import Result
from harness.text import numbers
from harness.text.plain import plain

_KINDS = {
    "fence": "fenced block",
    "unclosed fence": "fenced block that is not closed",
    "tag": "block between tags",
    "bare": "bare code",
}
_RETURNS = {"custom_kernel", "ModelNew", "functions"}
_REMEDY = (
    "return a contiguous tensor that the call makes and nothing keeps, or fill the output itself "
    '(docs/how-to/writing-solutions.md, "What is returned")'
)


def describe_generation(result: Result) -> Iterator[tuple[str, str]]:
    """Labels and lines, all safe to print."""
    generation = result.solution.generation
    if generation is not None:
        yield "model", _origin(generation)
        if generation.found is not None or not result.language:
            yield "code", _place(generation)  # else the whole file is code
    contract = result.build.contract if result.build else "solution"
    if contract in _RETURNS:
        yield "calls", f"{contract}, whose outputs are returned{_copied(result)}"
    elif contract != "solution":
        yield "calls", contract


def _copied(result: Result) -> str:
    """How many of them are copied, which costs time, and what to do about it."""
    most = max((each.copied_outputs or 0 for each in result.measurements), default=0)
    if most == 0:
        return ""
    what = "1 output is" if most == 1 else f"{most} outputs are"
    return f"; {what} copied, within the time: {_REMEDY}"


def _origin(generation: Generation) -> str:
    parts = [plain(generation.model, 80) or "not named"]
    if generation.sample:
        parts.append(f"sample {plain(generation.sample, 20)}")
    if generation.generated:
        parts.append(plain(generation.generated, 40))
    if generation.tokens is not None:
        parts.append(f"{numbers.integer(generation.tokens)} tokens")
    return " · ".join(parts)


def _place(generation: Generation) -> str:
    lines = numbers.integer(generation.reasoning_lines)
    cut = f"; {lines} lines of reasoning cut" if generation.reasoning_lines else ""
    if generation.found is None:
        return f"none{cut}"
    which = f"{generation.block} of {generation.blocks}" if generation.blocks > 1 else ""
    info = f"`{plain(generation.info, 40)}`" if generation.info else ""
    words = (_KINDS[generation.found], which, info, f"from line {generation.line}")
    return " ".join(filter(None, words)) + cut
