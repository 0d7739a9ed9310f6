"""Mutants of CUDA C++, made from its tokens. Only bodies of functions are changed.

Every operator yields one edit; what does not compile is found out by compiling it. Left out,
because they cannot change an answer: launch bounds, unrolling, a grid with blocks to spare.
"""

import re
from itertools import combinations, pairwise
from typing import NamedTuple

from harness.cudacpu.lexer import TokenKind
from tools.mutation.cuda_code import INTEGERS, OPEN, WORDS, CudaCode, Function, same_number
from tools.mutation.mutant import Collector, Mutant

_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}
_ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*="}
_FUNCTIONS = {
    "fmaxf": "fminf", "fminf": "fmaxf", "fmax": "fmin", "fmin": "fmax", "max": "min", "min": "max",
    "expf": "exp2f", "__expf": "exp2f", "exp": "exp2", "exp2f": "expf", "exp2": "exp",
    "logf": "log2f", "__logf": "log2f", "log": "log2", "log2f": "logf", "log1pf": "logf",
    "sqrtf": "fabsf", "rsqrtf": "sqrtf", "sqrt": "fabs", "rsqrt": "sqrt",
    "sinf": "cosf", "cosf": "sinf", "sinpif": "cospif", "cospif": "sinpif",
    "sin": "cos", "cos": "sin", "sinpi": "cospi", "cospi": "sinpi", "fabsf": "", "fabs": "",
    "atomicMax": "atomicMin", "atomicMin": "atomicMax",
    "cuCaddf": "cuCsubf", "cuCsubf": "cuCaddf", "cuCadd": "cuCsub", "cuCsub": "cuCadd",
    "cuCmulf": "cuCaddf", "cuCmul": "cuCadd", "cuConjf": "", "cuConj": "",
}  # fmt: skip
_BARRIERS = frozenset({"__syncthreads", "__syncwarp"})
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_NOT_A_SIZE = frozenset({"VAR", "INFINITY", "NAN", "FLT_MAX", "ALIGNED", "RAND_MAX"})
_INFINITE = {"INFINITY": "0.0f", "FLT_MAX": "0.0f", "DBL_MAX": "0.0", "CUDART_INF_F": "0.0f"}
_INTEGER = re.compile(r"\d+(?:[uU]?[lL]{0,2})")
_REAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?")


def cuda_mutants(source: str, file: str) -> list[Mutant]:
    """Every mutant of ``source``."""
    return _Mutator(source, file).mutants()


class _Rounding(NamedTuple):
    """Tokens of a division that rounds up.

    ``opened`` is its ``(``, ``plus`` stands before what is added, ``added`` is the number that
    becomes ``less`` when one less is added, ``last`` its last token.
    """

    opened: int
    plus: int
    added: int
    less: str
    last: int


class _Mutator(CudaCode):
    def __init__(self, source: str, file: str) -> None:
        super().__init__(source)
        self._found = Collector(source, file)
        self._roundings = self._find_roundings()
        self._step_clauses = self._find_step_clauses()

    def mutants(self) -> list[Mutant]:
        for function in self.functions:
            for i in range(function.start + 1, function.end):
                if self.is_asserted(i):
                    continue
                self._conditions(i)
                self._logic(i)
                self._operators(i)
                self._barriers(i)
                self._constants(i, function)
                self._functions_called(i)
                self._loops(i)
                self._members(i)
                self._subscripts(i)
                self._calls(i)
                self._branches(i)
            self._sizes(function)
            self._accumulators(function)
        for each in self._roundings:
            self._rounding(each)
        return self._found.mutants()

    def _add(self, operator: str, first: int, last: int, after: str, **options: bool) -> None:
        start, end = self.span(first, last)
        self._found.add(operator, start, end, after, **options)

    # -- ceil(a / b), written (a + b - 1) / b ----------------------------------------------------

    def _find_roundings(self) -> list[_Rounding]:
        found = []
        for i in range(len(self.tokens)):
            if self.text(i) != "(" or self.text(self.partner[i] + 1) != "/":
                continue
            closed = self.partner[i]
            last = self.operand_after(closed + 2)
            divisor = self.between(closed + 2, last)
            number = self.text(closed - 1)
            if divisor.isdigit() and number == str(int(divisor) - 1):  # (n + 31) / 32
                if self.text(closed - 2) == "+":
                    found.append(_Rounding(i, closed - 2, closed - 1, str(int(divisor) - 2), last))
                continue
            if number != "1" or self.text(closed - 2) != "-":
                continue
            for j in range(closed - 3, i, -1):
                if self.text(j) == "+" and self.between(j + 1, closed - 3) == divisor:
                    found.append(_Rounding(i, j, closed - 1, "2", last))
                    break
        return found

    def _in_rounding(self, i: int) -> bool:
        """Inside of what rounds up: changed as a whole, since a block to spare does no harm."""
        return any(each.plus <= i <= each.last for each in self._roundings)

    def _rounding(self, each: _Rounding) -> None:
        closed = self.partner[each.opened]
        value = self.between(each.opened + 1, each.plus - 1)
        after = f"({value}){self.between_from(closed, each.last)}"
        self._add("rounding up dropped", each.opened, each.last, after)
        self._add("rounding up by one less", each.added, each.added, each.less)

    # -- operators -------------------------------------------------------------------------------

    def _conditions(self, i: int) -> None:
        """``if (…) return;`` never returns; any other ``if (…)`` always holds."""
        if self.text(i) != "if" or self.text(i + 1) != "(":
            return
        closed = self.partner[i + 1]
        after = self.text(closed + 1)
        if after == "{":
            after = self.text(closed + 2)
        leaves = after in ("return", "continue", "break")
        name = "bounds check dropped" if leaves else "condition dropped"
        self._add(name, i + 2, closed - 1, "false" if leaves else "true")

    def _logic(self, i: int) -> None:
        """One operand of ``&&`` or ``||`` dropped."""
        if self.text(i) not in ("&&", "||"):
            return
        first, last = self.reach(i, -1), self.reach(i, 1)
        end, start = self.span(i + 1, last)[0], self.span(first, i)[0]
        self._found.add("operand dropped", start, end, "")
        start, end = self.tokens[i - 1].end, self.tokens[last].end
        self._found.add("operand dropped", start, end, "")

    def _operators(self, i: int) -> None:
        text = self.text(i)
        if self.kind(i) is not TokenKind.PUNCTUATION or self._in_rounding(i):
            return
        if text in _COMPARISONS and (text not in "<>" or self.is_spaced(i)):
            self._add("comparison", i, i, _COMPARISONS[text])
        elif text in _ASSIGNMENTS and i not in self._step_clauses:
            self._add("assignment", i, i, _ASSIGNMENTS[text])
        elif text in _ARITHMETIC and self.is_binary(i):
            self._add("arithmetic", i, i, _ARITHMETIC[text])
            if text in "*/":
                last = self.operand_after(i + 1)
                self._found.add("factor dropped", self.tokens[i - 1].end, self.tokens[last].end, "")
            if text == "*" and self.text(self.operand_before(i - 1) - 1) not in ("/", "%"):
                first = self.operand_before(i - 1)
                self._found.add(
                    "factor dropped", self.tokens[first].start, self.tokens[i + 1].start, ""
                )
        elif text == "-" and self.is_operand_start(i + 1) and not self.is_operand_end(i - 1):
            self._add("sign dropped", i, i, "")

    def _find_step_clauses(self) -> set[int]:
        """Tokens of the third part of every ``for (…)``: changed, it would never end."""
        found: set[int] = set()
        for i in range(len(self.tokens)):
            parts = self.for_parts(i)
            if parts:
                found |= set(range(parts[1] + 1, parts[2]))
        return found

    def _barriers(self, i: int) -> None:
        if self.text(i) in _BARRIERS and self.text(i + 1) == "(":
            self._add("barrier dropped", i, self.partner[i + 1], "")

    def _constants(self, i: int, function: Function) -> None:
        text = self.text(i)
        if self._in_rounding(i) or i in self._step_clauses or self._is_launch_choice(i, function):
            return
        if self.kind(i) is TokenKind.NUMBER:
            if _INTEGER.fullmatch(text):
                digits = re.match(r"\d+", text)
                assert digits is not None
                step = -1 if self._is_declarator(i) else 1
                changed = int(digits[0]) + step
                self._add("constant", i, i, f"{changed}{text[digits.end() :]}")
            elif _REAL.fullmatch(text):
                number = float(text.rstrip("fFlL"))
                suffix = text[-1] if text[-1] in "fF" else ""
                self._add("constant", i, i, ("1.0" if number == 0 else "0.0") + suffix)
        elif text in _INFINITE:
            self._add("constant", i, i, _INFINITE[text])
        elif (
            self.kind(i) is TokenKind.NAME
            and _CONSTANT.fullmatch(text)
            and text not in _NOT_A_SIZE
            and self.text(i + 1) not in ("(", "{", "::")
            and self.text(i - 1) not in ("::", "using", ".")
            and not (self.kind(i - 1) is TokenKind.NAME and self.text(i - 1) in INTEGERS)
        ):
            self._add("named constant", i, i, f"({text} - 1)")

    def _is_launch_choice(self, i: int, function: Function) -> bool:
        """A literal that only chooses how many threads a block has: any number is right."""
        if function.device or self.kind(i) is not TokenKind.NUMBER:
            return False
        if self.text(i - 1) == "=" and self.text(i + 1) in (";", ","):
            return True
        j = i
        while j > function.start and self.text(j) not in (";", "{", "}", "<<<"):
            if self.text(j) == "dim3":
                return self.text(i - 1) in ("(", ",", "{") and self.text(i + 1) in (")", ",", "}")
            j -= 1
        return self.text(j) == "<<<" and self.text(i - 1) in ("<<<", ",")

    def _is_declarator(self, i: int) -> bool:
        """Whether token ``i`` is the length of an array that is being declared."""
        j = i
        while j > 0 and self.text(j) != "[":
            if self.text(j) in (";", "{", "}", "(", ","):
                return False
            j -= 1
        while self.text(j - 1) == "]":
            j = self.partner[j - 1]
        before = self.text(j - 2)
        return self.kind(j - 1) is TokenKind.NAME and (
            (self.kind(j - 2) is TokenKind.NAME and before != "return") or before in (">", "*")
        )

    def _functions_called(self, i: int) -> None:
        text = self.text(i)
        if text in _FUNCTIONS and self.text(i + 1) == "(":
            self._add("function", i, i, _FUNCTIONS[text])

    def _loops(self, i: int) -> None:
        """The last step of a loop left out, the first one left out."""
        parts = self.for_parts(i)
        if parts is None:
            return
        first, second, _ = parts
        for j in range(first + 1, second):
            if self.text(j) in ("<", "<=") and self.is_spaced(j):
                last = self.reach(j, 1)
                self._add("last step left out", j + 1, last, f"({self.between(j + 1, last)} - 1)")
                break
        starts = [j for j in range(i + 2, first) if self.text(j) == "="]
        if len(starts) == 1 and self.kind(starts[0] + 1) is not TokenKind.NUMBER:
            value = self.between(starts[0] + 1, first - 1)
            self._add("first step left out", starts[0] + 1, first - 1, f"{value} + 1")

    def _members(self, i: int) -> None:
        """``.x`` for ``.y`` and the other way round: of threads and blocks, of complex numbers."""
        if self.text(i - 1) in (".", "->") and self.text(i) in ("x", "y"):
            if self._in_rounding(i):
                return
            self._add("x and y", i, i, "y" if self.text(i) == "x" else "x")

    def _subscripts(self, i: int) -> None:
        if self.text(i) != "[" or self._is_declarator(i + 1):
            return
        closed = self.partner[i]
        if closed == i + 1 or self.text(i - 1) in ("(", ",", "=", "return"):  # a lambda
            return
        inner = self.between(i + 1, closed - 1)
        if self.text(closed + 1) == "[":
            end = self.partner[closed + 1]
            other = self.between(closed + 2, end - 1)
            self._add("indices swapped", i, end, f"[{other}][{inner}]")
        names = [
            j
            for j in range(i + 1, closed)
            if self.kind(j) is TokenKind.NAME
            and self.text(j) not in WORDS | INTEGERS
            and self.text(j + 1) not in ("(", ".", "::", "[")
            and self.text(j - 1) not in (".", "::", "<")
        ]
        for left, right in pairwise(names):
            a, b = self.text(left), self.text(right)
            middle = self.source[self.tokens[left].end : self.tokens[right].start]
            swapped = f"{b}{middle}{a}"
            start, end = self.span(left, right)
            head, tail = self.span(i + 1, closed - 1)
            changed = self.source[head:start] + swapped + self.source[end:tail]
            if a != b and not same_number(inner, changed):
                self._add("names swapped in an index", left, right, swapped)

    def _calls(self, i: int) -> None:
        """Two arguments of the same type swapped, in launches and calls of the file's functions."""
        if self.text(i) == "dim3" and self.text(i + 2) == "(":
            arguments = self.arguments(i + 2, self.partner[i + 2])
            chosen = all(a == b and self.kind(a) is TokenKind.NUMBER for a, b in arguments)
            if len(arguments) > 1 and not chosen:  # dim3(32, 8): any shape of a block is right
                self._swap(arguments[0], arguments[1])
        if self.text(i) == "<<<":
            launch = range(i, len(self.tokens))
            close = next((j for j in launch if self.text(j) == ">>>"), None)
            if close is None:
                return
            arguments = self.arguments(i, close)
            if len(arguments) > 1:
                self._swap(arguments[0], arguments[1])
            name = i - 1
            if self.text(name) == ">":
                name = self._template_start(name)
            opened = close + 1
        else:
            name, opened = i, i + 1
        if self.text(opened) != "(":
            return
        called = next((f for f in self.functions if f.name == self.text(name)), None)
        if called is None:
            return
        arguments = self.arguments(opened, self.partner[opened])
        pairs = list(zip(arguments, called.parameters, strict=False))
        for (one, p), (two, q) in combinations(pairs, 2):
            if p.type == q.type:
                self._swap(one, two)

    def _swap(self, one: tuple[int, int], two: tuple[int, int]) -> None:
        a, b = self.between(*one), self.between(*two)
        middle = self.source[self.tokens[one[1]].end : self.tokens[two[0]].start]
        self._add("arguments swapped", one[0], two[1], f"{b}{middle}{a}")

    def _branches(self, i: int) -> None:
        """``c ? a : b`` becomes ``c ? b : a``."""
        if self.text(i) != "?":
            return
        j = i + 1
        while self.text(j) not in (":", ";", ""):
            j = self.partner[j] + 1 if self.text(j) in OPEN else j + 1
        if self.text(j) != ":":
            return
        last = self.reach(j, 1)
        one, two = self.between(i + 1, j - 1), self.between(j + 1, last)
        middle = self.source[self.tokens[j - 1].end : self.tokens[j + 1].start]
        self._add("branches swapped", i + 1, last, f"{two}{middle}{one}")

    def _sizes(self, function: Function) -> None:
        """Another size in place of each: the next parameter of the same type."""
        sizes = function.sizes
        for i in range(function.start + 1, function.end):
            if self.kind(i) is not TokenKind.NAME or self.text(i - 1) in (".", "->", "::"):
                continue
            own = next((p for p in sizes if p.name == self.text(i)), None)
            if own is None or self._in_rounding(i):
                continue
            alike = [p.name for p in sizes if p.type == own.type]
            other = alike[(alike.index(own.name) + 1) % len(alike)]
            if other != own.name:
                self._add("another size", i, i, other)

    def _accumulators(self, function: Function) -> None:
        """A sum kept in the data type in place of float: rounded after every step."""
        sums = {
            self.text(i + 1)
            for i in range(function.start + 1, function.end)
            if self.text(i) == "float"
            and self.kind(i + 1) is TokenKind.NAME
            and self.text(i - 1) in (";", "{", "}", ")", ",")
        }
        for i in range(function.start + 1, function.end):
            if self.text(i) not in sums or self.text(i - 1) in (".", "->", "float", "*", "&"):
                continue
            target = i
            while self.text(target + 1) == "[":
                target = self.partner[target + 1]
            if self.text(target + 1) != "+=" or target + 1 in self._step_clauses:
                continue
            last = self.reach(target + 1, 1)
            place, added = self.between(i, target), self.between(target + 2, last)
            rounded = f"static_cast<float>(static_cast<VAR>({place} + {added}))"
            self._add("accumulated in VAR", i, last, f"{place} = {rounded}", narrow=True)
