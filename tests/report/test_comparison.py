"""A comparison on the terminal: the sentence, the width, and nothing of theirs is interpreted."""

import io
import re
from typing import Any

import pytest
from rich.console import Console
from support.samples import START, interval, result

from harness.records.comparison import Comparison, Shape
from harness.records.measurement import Interval
from harness.records.refs import DeviceRef, SolutionRef
from harness.report.compare import CPU_NOTE, render_comparison, sentence

EVIL = "[bold red]x[/nope] :bomb:\x1b[2J\x1b]0;t\x07\u202e\x00\r"


def _shape(spec: str = "m=4096,n=4096,k=4096,alpha=0.01", ratio: float = 1.31) -> Shape:
    return Shape(
        spec=spec,
        a_s=interval(12.3e-6 * ratio),
        b_s=interval(12.3e-6),
        ratio=interval(ratio, 0.004),
        a_captured=True,
        b_captured=True,
        a_samples_s=(12.3e-6,),
        b_samples_s=(12.3e-6,),
    )


def _comparison(**changes: Any) -> Comparison:
    graded = result()
    fields: dict[str, Any] = {
        "created": START,
        "problem": graded.problem,
        "dtype": "float32",
        "device": graded.device,
        "seed": "5eed",
        "a": graded.solution,
        "b": result(author="bob", name="wide.cu").solution,
        "shapes": (_shape(), _shape("m=1,n=16384,k=4096,alpha=0.01")),
        "ratio": interval(1.31, 0.01),
        "environment": graded.environment,
    }
    return Comparison(**fields | changes)


def _shown(comparison: Comparison, *, width: int = 80, colour: bool = False) -> str:
    stream = io.StringIO()
    render_comparison(comparison, Console(file=stream, width=width, force_terminal=colour))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (interval(1.31, 0.018), "B is 1.31 ± 0.03 times as fast as A"),
        (interval(1 / 1.31, 0.018), "A is 1.31 ± 0.03 times as fast as B"),
        (interval(1.003, 0.006), "no clear difference (1.003 ± 0.007)"),
        (interval(1.004, 0.001), "no clear difference (1.0040 ± 0.0011)"),
        (Interval(value=1, low=0, high=float("inf")), "no clear difference (1.00 ± ?)"),
    ],
)
def test_sentence_names_the_faster_submission(ratio: Interval, words: str) -> None:
    assert sentence(ratio) == words


def test_render_comparison_shows_shapes_notes_and_sentence() -> None:
    text = _shown(_comparison(notes=("B: cannot be captured in a CUDA graph",)))
    lines = text.splitlines()
    assert lines[0] == "gemm · float32 · NVIDIA H100 80GB HBM3"
    assert lines[1].startswith("A  alice/tiled.cu · cuda · solutions/gemm/alice/tiled.cu")
    assert lines[2].startswith("B  bob/wide.cu · cuda · ")
    assert "16.11 ± 0.04 µs" in text and "12.30 ± 0.03 µs" in text and "1.310 ± 0.006" in text
    assert "note  B: cannot be captured" in text
    assert re.search(r"geometric mean +1\.310 ± 0\.014", text)
    assert lines[-1] == "B is 1.310 ± 0.014 times as fast as A"
    assert CPU_NOTE not in text
    assert "geometric mean" not in _shown(_comparison(shapes=(_shape(),)))


def test_a_comparison_on_a_cpu_is_marked() -> None:
    text = _shown(_comparison(device=DeviceRef(kind="cpu", name="AMD EPYC 9654")))
    assert "cpu (AMD EPYC 9654)" in text
    assert text.splitlines()[-1] == CPU_NOTE


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("colour", [True, False])
def test_fits_and_is_not_interpreted(width: int, colour: bool) -> None:
    evil = SolutionRef(author=EVIL, name=EVIL, language=EVIL, hash="h", path=EVIL)
    shapes = (_shape(EVIL), _shape("n=" + "9" * 90))
    text = _shown(
        _comparison(a=evil, b=evil, dtype=EVIL, shapes=shapes, notes=(EVIL,)),
        width=width,
        colour=colour,
    )
    assert "[bold red]x[/nope]" in text
    assert ":bomb:" in text
    for bad in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\x00", "\r"):
        assert bad not in text
    if not colour:
        assert all(len(line) <= width for line in text.splitlines())
