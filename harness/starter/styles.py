"""How kernels are written in the frameworks whose kernels are Python: one table for all.

A framework has a template of a kernel for one output, and of its launch. They name ``$kernel`` and
``$output``, what it fills; ``$parameters`` as the kernel declares them, ``$arguments`` as they are
passed; ``$indices`` of the element ``$element``, ``$places`` that say them, and ``$value``, what is
written there to begin with.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.problem.dtypes import DTYPES, VARIABLE_TYPE
from harness.problem.expressions import Expression
from harness.problem.model import Parameter, Problem, Role
from harness.starter.comments import fresh

LOCALS = (
    "block", "blocks", "dtype", "element", "index", "kinds", "row", "stream", "thread", "tile",
    "tiles", "view",
)  # fmt: skip
"""What templates call things of their own, unless a parameter has that name."""

_HALVES = frozenset({"float16", "bfloat16"})
_TRIED = frozenset({"float32", "float64", "int32"}) | _HALVES
"""What the samples of ``solutions/`` have shown to compile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one framework is written.

    ``takes`` are the types that its tensors may have here. ``zero`` and ``kept`` are the first
    value of what is only written and of what holds something before the call. ``before`` comes
    once, ahead of the launches; ``more`` gives further names for the templates.
    """

    title: str
    takes: frozenset[str]
    imports: str
    kernel: str
    launch: str
    zero: str = "0"
    kept: str = "$output[$indices]"
    before: str = ""
    more: Callable[[Problem, Parameter], Mapping[str, str]] | None = None


def unravelled(element: str, lengths: Sequence[str]) -> list[str]:
    """The indices of element number ``element``: ``e // c // b``, ``e // c % b``, ``e % c``."""
    indices = []
    for axis, length in enumerate(lengths):
        index = " // ".join([element, *reversed(lengths[axis + 1 :])])
        indices.append(f"{index} % {length}" if axis else index)
    return indices


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _of_cute(problem: Problem, output: Parameter) -> dict[str, str]:  # noqa: ARG001 (as others)
    kinds = {Role.TENSOR: "cute.Tensor", Role.SIZE: "cutlass.Int64"}
    numbers = {"double": "cutlass.Float64", "float": "cutlass.Float32"}
    declared = (f"{p.name}: {kinds.get(p.role) or numbers[p.type]}" for p in problem.parameters)
    view = fresh("view", problem)
    views = (f"    {t.name} = {view}({t.name}, {_dense_axis(t)})" for t in problem.tensors)
    return {
        "parameters": ", ".join(declared),
        "views": "\n".join(views),
        "dtypes": _tuple([f"{tensor.name}.dtype" for tensor in problem.tensors]),
    }


def _dense_axis(tensor: Parameter) -> str:
    """The axis whose stride is 1 whatever the sizes: where a length is 1, strides do not tell."""
    steps = [str(step) for step in tensor.strides]
    if not steps:
        return str(len(tensor.shape) - 1)
    return str(steps.index("1")) if "1" in steps else "None"


def _of_cutile(problem: Problem, output: Parameter) -> dict[str, str]:
    """A block has a part of the last axis, and one place on the others."""
    block, tiles, index = (fresh(name, problem) for name in ("block", "tiles", "index"))
    rank = len(output.shape)
    shape = _tuple(["1"] * (rank - 1) + ["TILE"])
    lengths = [f"{output.name}.shape[{axis}]" for axis in range(rank - 1)]
    lines = [f"    {index} = {_tuple(unravelled(block, [*lengths, tiles]))}"]
    if lengths:
        lines.insert(
            0, f"    {tiles} = ct.num_tiles({output.name}, axis={rank - 1}, shape={shape})"
        )
    return {
        "shape": shape,
        "places": "\n".join(lines),
        "count": " * ".join([*lengths, f"ct.cdiv({output.name}.shape[{rank - 1}], TILE)"]),
    }


def _of_tilelang(problem: Problem, output: Parameter) -> dict[str, str]:
    """Sizes are symbols, which the tensors' shapes and strides give their values.

    A block has a part of the last axis, and one place on the others.
    """
    symbols: dict[str, str] = {}
    types = {"double": "T.float64", "float": "T.float32"}

    def named(expressions: Sequence[Expression], otherwise: str) -> list[str]:
        names = []
        for axis, text in enumerate(map(str, expressions)):
            name = text if text.isidentifier() else fresh(f"{otherwise}{axis}", problem)
            names.append(text if text.isdigit() else symbols.setdefault(name, name))
        return names

    declared, lengths = [], {}
    for tensor in problem.tensors:
        lengths[tensor.name] = named(tensor.shape, f"{tensor.name}_length")
        kind = fresh("dtype", problem)
        if tensor.type != VARIABLE_TYPE:
            kind = f'"{tensor.data_type(problem.dtypes[0]).name}"'
        layout = [_tuple(lengths[tensor.name]), kind]
        if tensor.strides:
            layout.insert(1, _tuple(named(tensor.strides, f"{tensor.name}_stride")))
        made = "T.StridedTensor" if tensor.strides else "T.Tensor"
        declared.append(f"{tensor.name}: {made}({', '.join(layout)})")
    declared += [f"{each.name}: {types[each.type]}" for each in problem.scalars]
    row, block, thread = (fresh(name, problem) for name in ("row", "block", "thread"))
    *rows, last = lengths[output.name]
    place = f"{block} * THREADS + {thread}"
    varying = next((t for t in problem.tensors if t.type == VARIABLE_TYPE), output)
    return {
        "symbols": "".join(f'    {name} = T.dynamic("{name}")\n' for name in symbols),
        "parameters": "".join(f"        {each},\n" for each in declared),
        "arguments": ", ".join(p.name for p in (*problem.tensors, *problem.scalars)),
        "varying": varying.name,
        "last": last,
        "place": place,
        "grid": f"{' * '.join(rows)}, " if rows else "",
        "block_index": f"({row}, {block})" if rows else block,
        "indices": ", ".join([*(unravelled(row, rows) if rows else []), place]),
    }


STYLES = {
    "tilelang": Style(
        title="TileLang",
        takes=_TRIED - {"float64"},
        imports="import tilelang\nimport tilelang.language as T\n\nTHREADS = 256",
        kernel="""\
@tilelang.jit
def $kernel($dtype):
$symbols
    @T.prim_func
    def fill(
$parameters    ):
        # One thread for each element of $output.
        with T.Kernel(${grid}T.ceildiv($last, THREADS), threads=THREADS) as $block_index:
            for $thread in T.Parallel(THREADS):
                # The last block has fewer elements than threads.
                if $place < $last:
                    # Here the right answer is to be computed.
                    $output[$indices] = $value

    return fill""",
        launch='    $kernel(str($varying.dtype).removeprefix("torch."))($arguments)',
        more=_of_tilelang,
    ),
    "cute": Style(
        title="CuTe DSL",
        takes=_TRIED,
        imports="""\
import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

THREADS = 256
_compiled = {}


def $view(tensor, axis):
    # A tensor may start at any of its elements; axis is the one whose stride is 1.
    return from_dlpack(tensor, assumed_align=tensor.element_size()).mark_layout_dynamic(axis)""",
        kernel="""\
@cute.kernel
def $kernel($parameters):
    $thread, _, _ = cute.arch.thread_idx()
    $block, _, _ = cute.arch.block_idx()
    # One thread for each element of $output; the grid is rounded up to whole blocks.
    $element = $block * THREADS + $thread
    if $element < cute.size($output):
$places
        # Here the right answer is to be computed.
        $output[$indices] = $value


@cute.jit
def launch_$kernel($parameters, $stream: cuda.CUstream):
    $blocks = (cute.size($output) + THREADS - 1) // THREADS
    $kernel($arguments).launch(
        grid=($blocks, 1, 1), block=(THREADS, 1, 1), stream=$stream
    )""",
        before="""\
    $kinds = $dtypes
$views
    $stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)""",
        launch="""\
    if ($kernel, $kinds) not in _compiled:
        _compiled[$kernel, $kinds] = cute.compile(launch_$kernel, $arguments, $stream)
    _compiled[$kernel, $kinds]($arguments, $stream)""",
        zero="$output.element_type(0)",
        more=_of_cute,
    ),
    "cutile": Style(
        title="cuTile",
        takes=_TRIED,
        imports="import cuda.tile as ct\nimport torch\n\nTILE = 1024",
        kernel="""\
@ct.kernel
def $kernel($parameters):
    # TILE elements of $output for each block; what lies beyond its end is not stored.
    $block = ct.bid(0)
$places
    $tile = $value
    # Here the right answer is to be computed.
    ct.store($output, index=$index, tile=$tile)""",
        before="    $stream = torch.cuda.current_stream()",
        launch="""\
    $blocks = $count
    ct.launch($stream, ($blocks, 1, 1), $kernel, ($arguments,))""",
        zero="ct.full($shape, 0, dtype=$output.dtype)",
        kept="ct.load($output, index=$index, shape=$shape)",
        more=_of_cutile,
    ),
    "numba": Style(
        title="Numba-CUDA",
        takes=frozenset(DTYPES) - _HALVES,
        imports="from numba import cuda\n\nTHREADS = 256",
        kernel="""\
@cuda.jit
def $kernel($parameters):
    # One thread for each element of $output; the grid is rounded up to whole blocks.
    $element = cuda.grid(1)
    if $element < $output.size:
$places
        # Here the right answer is to be computed.
        $output[$indices] = $value""",
        launch="    $kernel[($output.numel() + THREADS - 1) // THREADS, THREADS]($arguments)",
    ),
}
"""By the name of the language."""
