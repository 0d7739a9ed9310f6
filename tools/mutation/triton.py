"""Mutants of Triton files, made from their syntax tree.

Kernels are changed anywhere, ``solution`` in its launches and in how many programs it starts. Tile
sizes, warps, stages and configurations stay: they cannot change an answer.
"""

import ast
import io
import random
import tokenize
from collections.abc import Iterator
from itertools import combinations, pairwise

from harness.problem.package import Problem
from tools.mutation.mutant import Collector, Mutant

_COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"),
}  # fmt: skip
_FUNCTIONS = {
    "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "sum": "max",
    "exp": "exp2", "exp2": "exp", "log": "log2", "log2": "log", "sqrt": "abs", "rsqrt": "sqrt",
    "sin": "cos", "cos": "sin", "erf": "exp",
}  # fmt: skip
_AXIS_SECOND = frozenset({"sum", "max", "min", "argmax", "argmin", "cumsum", "softmax", "flip"})
_TUNING = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})


def triton_mutants(source: str, file: str, problem: Problem) -> list[Mutant]:
    """Every mutant of ``source``, a solution to ``problem``."""
    return _Mutator(source, file, problem).mutants()


class _Mutator:
    def __init__(self, source: str, file: str, problem: Problem) -> None:
        self._source = source
        self._found = Collector(source, file)
        self._tree = ast.parse(source)
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._encoded = [line.encode() for line in source.splitlines(keepends=True)]
        self._operators = list(self._punctuation())
        self._sizes = [p.name for p in problem.sizes]
        self._tensors = {p.name for p in problem.tensors}
        self._scalars = {p.name for p in problem.scalars}
        functions = [n for n in ast.walk(self._tree) if isinstance(n, ast.FunctionDef)]
        self._kernels = [f for f in functions if any(_is_jit(d) for d in f.decorator_list)]
        self._solutions = [f for f in functions if f.name == "solution"]

    def mutants(self) -> list[Mutant]:
        for kernel in self._kernels:
            sizes = self._kernel_sizes(kernel)
            for statement in kernel.body:
                for node in ast.walk(statement):
                    self._anywhere(node)
                    self._in_kernel(node, sizes)
        for solution in self._solutions:
            for node in ast.walk(solution):
                if isinstance(node, ast.Call):
                    self._launch(node)
                    self._rounding(node)
        return self._found.mutants()

    # -- places ----------------------------------------------------------------------------------

    def _at(self, line: int, column: int) -> int:
        """The character at a line (from 1) and a column in bytes."""
        return self._lines[line - 1] + len(self._encoded[line - 1][:column].decode())

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt | ast.keyword)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._at(node.lineno, node.col_offset),
            self._at(node.end_lineno, node.end_col_offset),
        )

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._source[start:end]

    def _replace(self, operator: str, node: ast.AST, after: str, *, narrow: bool = False) -> None:
        start, end = self._span(node)
        self._found.add(operator, start, end, after, narrow=narrow)

    def _punctuation(self) -> Iterator[tuple[int, int, str]]:
        for token in tokenize.generate_tokens(io.StringIO(self._source).readline):
            if token.type == tokenize.OP:
                start = self._lines[token.start[0] - 1] + token.start[1]
                yield start, start + len(token.string), token.string

    def _operator(self, left: ast.AST, right: ast.AST, text: str) -> tuple[int, int] | None:
        """Where ``text`` stands between two operands."""
        low, high = self._span(left)[1], self._span(right)[0]
        for start, end, found in self._operators:
            if low <= start and end <= high and found == text:
                return start, end
        return None

    def _kernel_sizes(self, kernel: ast.FunctionDef) -> list[str]:
        """The kernel's parameters that are whole numbers of the problem, by what is passed."""
        names = [a.arg for a in (*kernel.args.posonlyargs, *kernel.args.args)]
        for node in ast.walk(self._tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)):
                continue
            if getattr(node.func.value, "id", "") == kernel.name:
                passed = zip(names, node.args, strict=False)
                return [
                    n for n, a in passed if isinstance(a, ast.Name) and a.id in self._sizes
                ] or [n for n in names if n in self._sizes]
        return [name for name in names if name in self._sizes]

    # -- operators -------------------------------------------------------------------------------

    def _anywhere(self, node: ast.AST) -> None:
        """Comparisons, conditions, masks, arithmetic."""
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                before, after = _COMPARISONS[type(op)]
                place = self._operator(left, right, before)
                if place:
                    self._found.add("comparison", *place, after)
            case ast.BoolOp(values=values):
                for dropped in values:
                    rest = [self._text(v) for v in values if v is not dropped]
                    word = " and " if isinstance(node.op, ast.And) else " or "
                    self._replace("operand dropped", node, word.join(rest))
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                self._replace("operand dropped", node, f"({self._text(left)})")
                self._replace("operand dropped", node, f"({self._text(right)})")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                before, after = _ARITHMETIC[type(op)]
                place = self._operator(left, right, before)
                if place:
                    self._found.add("arithmetic", *place, after)
                if isinstance(op, ast.Mult):
                    self._replace("factor dropped", node, f"({self._text(right)})")
                if isinstance(op, ast.Mult | ast.Div):
                    self._replace("factor dropped", node, f"({self._text(left)})")
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(
                operand, ast.Constant
            ):
                self._replace("sign dropped", node, self._text(operand))

    def _in_kernel(self, node: ast.AST, sizes: list[str]) -> None:
        match node:
            case ast.If(test=test):
                self._replace("condition turned round", test, f"not ({self._text(test)})")
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                place = self._operator(target, value, "+=")
                if place:
                    self._found.add("assignment", *place, "-=")
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=arguments)):
                stop = arguments[1] if len(arguments) > 1 else arguments[0]
                self._replace("last step left out", stop, f"({self._text(stop)}) - 1")
            case ast.Name(id=name) if name in sizes and isinstance(node.ctx, ast.Load):
                other = sizes[(sizes.index(name) + 1) % len(sizes)]
                self._replace("another size", node, other)
            case ast.Subscript(slice=ast.Tuple(elts=[one, two])):
                if {ast.dump(one), ast.dump(two)} == {_COLON, _NONE}:
                    other = f"[{self._text(two)}, {self._text(one)}]"
                    start = self._source.rindex("[", 0, self._span(node.slice)[0])
                    self._found.add("axes swapped", start, self._span(node)[1], other)
            case ast.Call():
                self._call(node)
            case ast.Constant(value=value) if not self._is_axis(node):
                self._constant(node, value)
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                self._names(value)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if isinstance(function, ast.Attribute) and _is_tl(function.value) and name in _FUNCTIONS:
            start, end = self._span(function)
            self._found.add("function", end - len(name), end, _FUNCTIONS[name])
        for axis in self._axes(node, name):
            if isinstance(axis, ast.Constant) and axis.value in (0, 1):
                self._replace("axis", axis, str(1 - axis.value))
        if name in ("load", "store"):
            keywords = {k.arg: k for k in node.keywords}
            if "mask" in keywords:
                self._without(node, [k for k in ("mask", "other") if k in keywords], "mask dropped")
            if "other" in keywords:
                self._without(node, ["other"], "other dropped")
            pointer = node.args[0] if node.args else None
            if pointer is not None:
                self._names(pointer)
        if name == "to" and len(node.args) == 1 and self._text(node.args[0]) == "tl.float32":
            assert isinstance(function, ast.Attribute)
            start, end = self._span(function.value)
            after = self._source[start:end]
            self._replace("cast to float32 dropped", node, after, narrow=True)
        if name == "where" and len(node.args) == 3:
            self._swap("branches swapped", node.args[1], node.args[2])
        if name == "dot":
            if len(node.args) == 3:
                start, end = self._span(node.args[1])[1], self._span(node.args[2])[1]
                self._found.add("accumulator dropped", start, end, "")
            if any(k.arg == "acc" for k in node.keywords):
                self._without(node, ["acc"], "accumulator dropped")
        if name == "zeros":
            self._replace("constant", node, f"({self._text(node)} + 1)")
        if name == "trans" and len(node.args) == 1:
            self._replace("transposition dropped", node, self._text(node.args[0]))
        if name == "cdiv" and len(node.args) == 2:
            a, b = map(self._text, node.args)
            self._replace("rounding up dropped", node, f"(({a}) // ({b}))")
        if name == "float" and isinstance(node.args[0] if node.args else None, ast.Constant):
            self._replace("constant", node, "0.0")

    def _without(self, call: ast.Call, names: list[str], operator: str) -> None:
        """Keyword arguments left out, which must stand next to each other."""
        chosen = [k for k in call.keywords if k.arg in names]
        first, last = chosen[0], chosen[-1]
        arguments = sorted([*call.args, *call.keywords], key=lambda a: self._span(a)[0])
        number = arguments.index(first)
        start = self._span(arguments[number - 1])[1] if number else self._span(first)[0]
        self._found.add(operator, start, self._span(last)[1], "")

    def _axes(self, node: ast.Call, name: str) -> Iterator[ast.expr]:
        """The arguments that say along which dimension."""
        for keyword in node.keywords:
            if keyword.arg in ("axis", "dim"):
                yield keyword.value
        if name in _AXIS_SECOND and len(node.args) > 1 and isinstance(node.func, ast.Attribute):
            yield node.args[1]
        if name in ("program_id", "num_programs", "stride") and node.args:
            yield node.args[0]

    def _is_axis(self, node: ast.Constant) -> bool:
        return any(
            axis is node
            for call in ast.walk(self._tree)
            if isinstance(call, ast.Call)
            for axis in self._axes(
                call,
                call.func.attr if isinstance(call.func, ast.Attribute) else "",
            )
        )

    def _constant(self, node: ast.Constant, value: object) -> None:
        if isinstance(value, bool):
            self._replace("constant", node, str(not value))
        elif value == "ieee":
            self._replace("precision", node, '"tf32"')
        elif isinstance(value, float):
            self._replace("constant", node, "1.0" if value == 0 else "0.0")
        elif isinstance(value, int):
            self._replace("constant", node, str(value + 1))

    def _names(self, expression: ast.expr) -> None:
        """Two names of an index expression swapped, where that makes a difference."""
        names = [
            n
            for n in ast.walk(expression)
            if isinstance(n, ast.Name) and n.id not in ("tl", "triton")
        ]
        if any(isinstance(n, ast.Call) for n in ast.walk(expression)):
            return
        names.sort(key=lambda n: self._span(n)[0])
        for one, two in pairwise(names):
            if one.id == two.id or not self._differs(expression, one, two):
                continue
            self._swap("names swapped in an index", one, two)

    def _differs(self, expression: ast.expr, one: ast.Name, two: ast.Name) -> bool:
        """Whether numbers in place of all names show a difference, subscripts aside."""
        base = self._span(expression)[0]
        text = self._text(expression)
        spans = [(a - base, b - base) for a, b in (self._span(one), self._span(two))]
        (a, b), (c, d) = spans
        changed = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        source = random.Random(1)
        names = sorted({n.id for n in ast.walk(expression) if isinstance(n, ast.Name)})
        for _ in range(4):
            values = {name: _Lane(source.randint(2, 1000)) for name in names}
            results = []
            for each in (text, changed):
                try:
                    compiled = compile(f"({each})", "index", "eval")
                    results.append(int(eval(compiled, {"__builtins__": {}}, values)))
                except (
                    SyntaxError,
                    TypeError,
                    ZeroDivisionError,
                    ValueError,
                    AttributeError,
                    NameError,
                ):
                    return True
            if results[0] != results[1]:
                return True
        return False

    def _swap(self, operator: str, one: ast.AST, two: ast.AST) -> None:
        (a, b), (c, d) = self._span(one), self._span(two)
        text = self._source
        self._found.add(operator, a, d, text[c:d] + text[b:c] + text[a:b])

    # -- solution --------------------------------------------------------------------------------

    def _rounding(self, node: ast.Call) -> None:
        """How many programs are started."""
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "cdiv"):
            return
        a, b = map(self._text, node.args)
        self._replace("rounding up dropped", node, f"(({a}) // ({b}))")
        self._other_size(node.args[0])

    def _other_size(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and node.id in self._sizes and len(self._sizes) > 1:
            sizes = self._sizes
            self._replace("another size", node, sizes[(sizes.index(node.id) + 1) % len(sizes)])

    def _launch(self, node: ast.Call) -> None:
        """``kernel[grid](…)``: arguments of the same kind swapped, another size passed."""
        if not isinstance(node.func, ast.Subscript):
            return
        for one, two in combinations(node.args, 2):
            kind = self._kind(one)
            if kind and kind == self._kind(two):
                self._swap("arguments swapped", one, two)
        for argument in node.args:
            self._other_size(argument)
            if self._kind(argument) == "stride":
                assert isinstance(argument, ast.Call)
                axis = argument.args[0]
                if isinstance(axis, ast.Constant) and axis.value in (0, 1):
                    self._replace("axis", axis, str(1 - axis.value))
        for keyword in node.keywords:
            if keyword.arg in _TUNING:
                continue
            value = keyword.value
            if isinstance(value, ast.Constant) and isinstance(value.value, bool | str):
                self._constant(value, value.value)
            if isinstance(value, ast.Compare | ast.BoolOp):
                for inner in ast.walk(value):
                    self._anywhere(inner)
        grid = node.func.slice
        if isinstance(grid, ast.Tuple):
            if len(grid.elts) > 1:
                self._swap("arguments swapped", grid.elts[0], grid.elts[1])
            for each in grid.elts:
                self._other_size(each)

    def _kind(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if name in self._tensors:
                return "tensor"
            case ast.Name(id=name) if name in self._sizes:
                return "size"
            case ast.Name(id=name) if name in self._scalars:
                return "scalar"
            case ast.Call(func=ast.Attribute(attr="stride"), args=[_]):
                return "stride"
        return ""


_COLON = ast.dump(ast.Slice())
_NONE = ast.dump(ast.Constant(value=None))


class _Lane(int):
    """A number that may be subscripted, as tensors of numbers are: ``rows[:, None]``."""

    def __getitem__(self, _: object) -> "_Lane":
        return self


def _is_jit(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Attribute) and function.attr == "jit"


def _is_tl(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "tl"
