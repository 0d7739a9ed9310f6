"""Mutants of CUDA C++, made from its tokens. Only bodies of functions are changed.

Every operator yields one edit; what does not compile is found out by compiling it. Left out,
because they cannot change an answer: launch bounds, unrolling, a grid with blocks to spare.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

from harness.cudacpu.lexer import Token, TokenKind, tokenize
from tools.mutation.mutant import Collector, Mutant

_OPERATORS = re.compile(
    r"<<<|>>>|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|::"
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
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
_INTEGERS = frozenset(
    re.findall(r"\w+", "size_t int unsigned long short int32_t int64_t uint32_t uint64_t Index")
)
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "const constexpr static auto return if else for while do break continue sizeof true false "
        "float double void bool char signed struct using typename template inline extern case "
        "switch default static_cast reinterpret_cast const_cast volatile VAR half __half dim3",
    )
)
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_NOT_A_SIZE = frozenset({"VAR", "INFINITY", "NAN", "FLT_MAX", "ALIGNED", "RAND_MAX"})
_INFINITE = {"INFINITY": "0.0f", "FLT_MAX": "0.0f", "DBL_MAX": "0.0", "CUDART_INF_F": "0.0f"}
_INTEGER = re.compile(r"\d+(?:[uU]?[lL]{0,2})")
_REAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?")


def cuda_mutants(source: str, file: str) -> list[Mutant]:
    """Every mutant of ``source``."""
    return _Mutator(source, file).mutants()


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class _Function:
    """Token numbers of a body, from ``{`` to ``}``."""

    name: str
    parameters: tuple[_Parameter, ...]
    start: int
    end: int
    device: bool

    @property
    def sizes(self) -> list[_Parameter]:
        """The parameters that are whole numbers."""
        return [p for p in self.parameters if set(p.type.split()) & _INTEGERS and "*" not in p.type]


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


class _Mutator:
    def __init__(self, source: str, file: str) -> None:
        self._source = source
        self._found = Collector(source, file)
        self._tokens = _merged(tokenize(source), source)
        self._partner = _brackets(self._tokens)
        self._functions = list(self._find_functions())
        self._roundings = self._find_roundings()
        self._step_clauses = self._find_step_clauses()

    def mutants(self) -> list[Mutant]:
        for function in self._functions:
            for i in range(function.start + 1, function.end):
                if self._is_asserted(i):
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

    # -- tokens ----------------------------------------------------------------------------------

    def _text(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def _kind(self, i: int) -> TokenKind | None:
        return self._tokens[i].kind if 0 <= i < len(self._tokens) else None

    def _span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from token ``first`` to token ``last``, both included."""
        return self._tokens[first].start, self._tokens[last].end

    def _between(self, first: int, last: int) -> str:
        start, end = self._span(first, last)
        return self._source[start:end]

    def _add(self, operator: str, first: int, last: int, after: str, **options: bool) -> None:
        start, end = self._span(first, last)
        self._found.add(operator, start, end, after, **options)

    def _is_operand_end(self, i: int) -> bool:
        if self._kind(i) is TokenKind.NUMBER or self._text(i) in (")", "]"):
            return True
        return self._kind(i) is TokenKind.NAME and self._text(i) not in _WORDS

    def _is_operand_start(self, i: int) -> bool:
        if self._kind(i) is TokenKind.NUMBER or self._text(i) in ("(", "-", "!"):
            return True
        word = self._text(i)
        return self._kind(i) is TokenKind.NAME and (
            word not in _WORDS or word in ("static_cast", "sizeof", "float", "double")
        )

    def _is_spaced(self, i: int) -> bool:
        token = self._tokens[i]
        before, after = self._source[token.start - 1], self._source[token.end : token.end + 1]
        return before.isspace() and after.isspace()

    def _is_binary(self, i: int) -> bool:
        """Whether an operator stands between two values, and is no pointer or template bracket."""
        if not (self._is_operand_end(i - 1) and self._is_operand_start(i + 1)):
            return False
        token = self._tokens[i]
        tight = not self._source[token.start - 1].isspace() and token.text in "*/%+-"
        return self._is_spaced(i) or (tight and not self._source[token.end].isspace())

    def _operand_before(self, i: int) -> int:
        """The first token of the primary expression that ends at token ``i``."""
        while True:
            if self._text(i) in (")", "]"):
                i = self._partner[i]
                if self._text(i - 1) == ">":  # static_cast<float>( … )
                    i = self._template_start(i - 1)
                    continue
                if self._is_operand_end(i - 1) or self._text(i - 1) in ("float", "double", "VAR"):
                    i -= 1
                    continue
                return i
            if self._text(i - 1) in (".", "->", "::"):
                i -= 2
                continue
            return i

    def _template_start(self, i: int) -> int:
        depth = 0
        while i > 0:
            depth += {">": 1, "<": -1}.get(self._text(i), 0)
            if depth == 0:
                return i - 1
            i -= 1
        return i

    def _operand_after(self, i: int) -> int:
        """The last token of the primary expression that starts at token ``i``."""
        while self._text(i) in ("-", "!", "&", "*", "+"):
            i += 1
        if self._text(i) in ("static_cast", "reinterpret_cast", "const_cast"):
            depth = 0
            i += 1
            while i < len(self._tokens):
                depth += {"<": 1, ">": -1}.get(self._text(i), 0)
                if depth == 0:
                    break
                i += 1
            i += 1
        if self._text(i) == "(":
            i = self._partner[i]
        while True:
            following = self._text(i + 1)
            if following in ("(", "["):
                i = self._partner[i + 1]
            elif following in (".", "->", "::"):
                i += 2
            else:
                return i

    def _find_functions(self) -> Iterator[_Function]:
        """Definitions at namespace scope: ``name(parameters) {``."""
        i = 0
        head = 0  # first token of the current declaration
        while i < len(self._tokens):
            text = self._text(i)
            if text == "{" and self._text(i - 1) == ")":
                opened = self._partner[i - 1]
                close = self._partner[i]
                words = {self._text(j) for j in range(head, opened)}
                yield _Function(
                    self._text(opened - 1),
                    tuple(self._parameters(opened, i - 1)),
                    i,
                    close,
                    bool(words & {"__global__", "__device__"}),
                )
                i = head = close + 1
                continue
            if text == "{" and not self._opens_namespace(head):
                i = self._partner[i]
            elif text in (";", "{", "}") or self._kind(i) is TokenKind.DIRECTIVE:
                head = i + 1
            i += 1

    def _opens_namespace(self, head: int) -> bool:
        return self._text(head) in ("namespace", "extern")

    def _parameters(self, opened: int, closed: int) -> Iterator[_Parameter]:
        for first, last in self._arguments(opened, closed):
            name = next(
                (j for j in range(last, first - 1, -1) if self._kind(j) is TokenKind.NAME), None
            )
            if name is not None:
                words = [self._text(j) for j in range(first, name) if self._text(j) != "const"]
                words = [word for word in words if word != "__restrict__"]
                const = "const " if "*" in words and self._text(first) == "const" else ""
                yield _Parameter(self._text(name), const + " ".join(words))

    def _arguments(self, opened: int, closed: int) -> list[tuple[int, int]]:
        """First and last token of everything between the commas inside of a bracket."""
        found: list[tuple[int, int]] = []
        first = i = opened + 1
        while i <= closed:
            if self._text(i) in _OPEN and i != closed:
                i = self._partner[i] + 1
                continue
            if self._text(i) == "," or i == closed:
                if i > first:
                    found.append((first, i - 1))
                first = i + 1
            i += 1
        return found

    def _is_asserted(self, i: int) -> bool:
        """Whether token ``i`` is part of a static_assert."""
        j = i
        while j > 0 and self._text(j) not in (";", "{", "}"):
            if self._text(j) == "static_assert":
                return True
            j -= 1
        return False

    # -- ceil(a / b), written (a + b - 1) / b ----------------------------------------------------

    def _find_roundings(self) -> list[_Rounding]:
        found = []
        for i in range(len(self._tokens)):
            if self._text(i) != "(" or self._text(self._partner[i] + 1) != "/":
                continue
            closed = self._partner[i]
            last = self._operand_after(closed + 2)
            divisor = self._between(closed + 2, last)
            number = self._text(closed - 1)
            if divisor.isdigit() and number == str(int(divisor) - 1):  # (n + 31) / 32
                if self._text(closed - 2) == "+":
                    found.append(_Rounding(i, closed - 2, closed - 1, str(int(divisor) - 2), last))
                continue
            if number != "1" or self._text(closed - 2) != "-":
                continue
            for j in range(closed - 3, i, -1):
                if self._text(j) == "+" and self._between(j + 1, closed - 3) == divisor:
                    found.append(_Rounding(i, j, closed - 1, "2", last))
                    break
        return found

    def _in_rounding(self, i: int) -> bool:
        """Inside of what rounds up: changed as a whole, since a block to spare does no harm."""
        return any(each.plus <= i <= each.last for each in self._roundings)

    def _rounding(self, each: _Rounding) -> None:
        closed = self._partner[each.opened]
        value = self._between(each.opened + 1, each.plus - 1)
        after = f"({value}){self._between_from(closed, each.last)}"
        self._add("rounding up dropped", each.opened, each.last, after)
        self._add("rounding up by one less", each.added, each.added, each.less)

    def _between_from(self, closed: int, last: int) -> str:
        return self._source[self._tokens[closed].end : self._tokens[last].end]

    # -- operators -------------------------------------------------------------------------------

    def _conditions(self, i: int) -> None:
        """``if (…) return;`` never returns; any other ``if (…)`` always holds."""
        if self._text(i) != "if" or self._text(i + 1) != "(":
            return
        closed = self._partner[i + 1]
        after = self._text(closed + 1)
        if after == "{":
            after = self._text(closed + 2)
        leaves = after in ("return", "continue", "break")
        name = "bounds check dropped" if leaves else "condition dropped"
        self._add(name, i + 2, closed - 1, "false" if leaves else "true")

    def _logic(self, i: int) -> None:
        """One operand of ``&&`` or ``||`` dropped."""
        if self._text(i) not in ("&&", "||"):
            return
        first, last = self._reach(i, -1), self._reach(i, 1)
        end, start = self._span(i + 1, last)[0], self._span(first, i)[0]
        self._found.add("operand dropped", start, end, "")
        start, end = self._tokens[i - 1].end, self._tokens[last].end
        self._found.add("operand dropped", start, end, "")

    def _reach(self, i: int, step: int) -> int:
        """How far the operand of a logical operator goes, to the left (-1) or right (1)."""
        stops = {"&&", "||", "?", ":", ";", ",", "=", "return", "{", "}"}
        j = i + step
        while True:
            text = self._text(j)
            if text in stops or j <= 0 or j >= len(self._tokens) - 1:
                return j - step
            if (step > 0 and text in _OPEN) or (step < 0 and text in _CLOSE):
                j = self._partner[j]
            elif text in _OPEN or text in _CLOSE:
                return j - step
            j += step

    def _operators(self, i: int) -> None:
        text = self._text(i)
        if self._kind(i) is not TokenKind.PUNCTUATION or self._in_rounding(i):
            return
        if text in _COMPARISONS and (text not in "<>" or self._is_spaced(i)):
            self._add("comparison", i, i, _COMPARISONS[text])
        elif text in _ASSIGNMENTS and i not in self._step_clauses:
            self._add("assignment", i, i, _ASSIGNMENTS[text])
        elif text in _ARITHMETIC and self._is_binary(i):
            self._add("arithmetic", i, i, _ARITHMETIC[text])
            if text in "*/":
                last = self._operand_after(i + 1)
                self._found.add(
                    "factor dropped", self._tokens[i - 1].end, self._tokens[last].end, ""
                )
            if text == "*" and self._text(self._operand_before(i - 1) - 1) not in ("/", "%"):
                first = self._operand_before(i - 1)
                self._found.add(
                    "factor dropped", self._tokens[first].start, self._tokens[i + 1].start, ""
                )
        elif text == "-" and self._is_operand_start(i + 1) and not self._is_operand_end(i - 1):
            self._add("sign dropped", i, i, "")

    def _find_step_clauses(self) -> set[int]:
        """Tokens of the third part of every ``for (…)``: changed, it would never end."""
        found: set[int] = set()
        for i in range(len(self._tokens)):
            parts = self._for_parts(i)
            if parts:
                found |= set(range(parts[1] + 1, parts[2]))
        return found

    def _for_parts(self, i: int) -> tuple[int, int, int] | None:
        """The two semicolons and the closing bracket of a ``for`` at token ``i``."""
        if self._text(i) != "for" or self._text(i + 1) != "(":
            return None
        closed = self._partner[i + 1]
        marks = [j for j in range(i + 2, closed) if self._text(j) == ";"]
        return (marks[0], marks[1], closed) if len(marks) == 2 else None

    def _barriers(self, i: int) -> None:
        if self._text(i) in _BARRIERS and self._text(i + 1) == "(":
            self._add("barrier dropped", i, self._partner[i + 1], "")

    def _constants(self, i: int, function: _Function) -> None:
        text = self._text(i)
        if self._in_rounding(i) or i in self._step_clauses or self._is_launch_choice(i, function):
            return
        if self._kind(i) is TokenKind.NUMBER:
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
            self._kind(i) is TokenKind.NAME
            and _CONSTANT.fullmatch(text)
            and text not in _NOT_A_SIZE
            and self._text(i + 1) not in ("(", "{", "::")
            and self._text(i - 1) not in ("::", "using", ".")
            and not (self._kind(i - 1) is TokenKind.NAME and self._text(i - 1) in _INTEGERS)
        ):
            self._add("named constant", i, i, f"({text} - 1)")

    def _is_launch_choice(self, i: int, function: _Function) -> bool:
        """A literal that only chooses how many threads a block has: any number is right."""
        if function.device or self._kind(i) is not TokenKind.NUMBER:
            return False
        if self._text(i - 1) == "=" and self._text(i + 1) in (";", ","):
            return True
        j = i
        while j > function.start and self._text(j) not in (";", "{", "}", "<<<"):
            if self._text(j) == "dim3":
                return self._text(i - 1) in ("(", ",", "{") and self._text(i + 1) in (")", ",", "}")
            j -= 1
        return self._text(j) == "<<<" and self._text(i - 1) in ("<<<", ",")

    def _is_declarator(self, i: int) -> bool:
        """Whether token ``i`` is the length of an array that is being declared."""
        j = i
        while j > 0 and self._text(j) != "[":
            if self._text(j) in (";", "{", "}", "(", ","):
                return False
            j -= 1
        while self._text(j - 1) == "]":
            j = self._partner[j - 1]
        before = self._text(j - 2)
        return self._kind(j - 1) is TokenKind.NAME and (
            (self._kind(j - 2) is TokenKind.NAME and before != "return") or before in (">", "*")
        )

    def _functions_called(self, i: int) -> None:
        text = self._text(i)
        if text in _FUNCTIONS and self._text(i + 1) == "(":
            self._add("function", i, i, _FUNCTIONS[text])

    def _loops(self, i: int) -> None:
        """The last step of a loop left out, the first one left out."""
        parts = self._for_parts(i)
        if parts is None:
            return
        first, second, _ = parts
        for j in range(first + 1, second):
            if self._text(j) in ("<", "<=") and self._is_spaced(j):
                last = self._reach(j, 1)
                self._add("last step left out", j + 1, last, f"({self._between(j + 1, last)} - 1)")
                break
        starts = [j for j in range(i + 2, first) if self._text(j) == "="]
        if len(starts) == 1 and self._kind(starts[0] + 1) is not TokenKind.NUMBER:
            value = self._between(starts[0] + 1, first - 1)
            self._add("first step left out", starts[0] + 1, first - 1, f"{value} + 1")

    def _members(self, i: int) -> None:
        """``.x`` for ``.y`` and the other way round: of threads and blocks, of complex numbers."""
        if self._text(i - 1) in (".", "->") and self._text(i) in ("x", "y"):
            if self._in_rounding(i):
                return
            self._add("x and y", i, i, "y" if self._text(i) == "x" else "x")

    def _subscripts(self, i: int) -> None:
        if self._text(i) != "[" or self._is_declarator(i + 1):
            return
        closed = self._partner[i]
        if closed == i + 1 or self._text(i - 1) in ("(", ",", "=", "return"):  # a lambda
            return
        inner = self._between(i + 1, closed - 1)
        if self._text(closed + 1) == "[":
            end = self._partner[closed + 1]
            other = self._between(closed + 2, end - 1)
            self._add("indices swapped", i, end, f"[{other}][{inner}]")
        names = [
            j
            for j in range(i + 1, closed)
            if self._kind(j) is TokenKind.NAME
            and self._text(j) not in _WORDS | _INTEGERS
            and self._text(j + 1) not in ("(", ".", "::", "[")
            and self._text(j - 1) not in (".", "::", "<")
        ]
        for left, right in pairwise(names):
            a, b = self._text(left), self._text(right)
            middle = self._source[self._tokens[left].end : self._tokens[right].start]
            swapped = f"{b}{middle}{a}"
            start, end = self._span(left, right)
            head, tail = self._span(i + 1, closed - 1)
            changed = self._source[head:start] + swapped + self._source[end:tail]
            if a != b and not _same_number(inner, changed):
                self._add("names swapped in an index", left, right, swapped)

    def _calls(self, i: int) -> None:
        """Two arguments of the same type swapped, in launches and calls of the file's functions."""
        if self._text(i) == "dim3" and self._text(i + 2) == "(":
            arguments = self._arguments(i + 2, self._partner[i + 2])
            chosen = all(a == b and self._kind(a) is TokenKind.NUMBER for a, b in arguments)
            if len(arguments) > 1 and not chosen:  # dim3(32, 8): any shape of a block is right
                self._swap(arguments[0], arguments[1])
        if self._text(i) == "<<<":
            launch = range(i, len(self._tokens))
            close = next((j for j in launch if self._text(j) == ">>>"), None)
            if close is None:
                return
            arguments = self._arguments(i, close)
            if len(arguments) > 1:
                self._swap(arguments[0], arguments[1])
            name = i - 1
            if self._text(name) == ">":
                name = self._template_start(name)
            opened = close + 1
        else:
            name, opened = i, i + 1
        if self._text(opened) != "(":
            return
        called = next((f for f in self._functions if f.name == self._text(name)), None)
        if called is None:
            return
        arguments = self._arguments(opened, self._partner[opened])
        pairs = list(zip(arguments, called.parameters, strict=False))
        for (one, p), (two, q) in combinations(pairs, 2):
            if p.type == q.type:
                self._swap(one, two)

    def _swap(self, one: tuple[int, int], two: tuple[int, int]) -> None:
        a, b = self._between(*one), self._between(*two)
        middle = self._source[self._tokens[one[1]].end : self._tokens[two[0]].start]
        self._add("arguments swapped", one[0], two[1], f"{b}{middle}{a}")

    def _branches(self, i: int) -> None:
        """``c ? a : b`` becomes ``c ? b : a``."""
        if self._text(i) != "?":
            return
        j = i + 1
        while self._text(j) not in (":", ";", ""):
            j = self._partner[j] + 1 if self._text(j) in _OPEN else j + 1
        if self._text(j) != ":":
            return
        last = self._reach(j, 1)
        one, two = self._between(i + 1, j - 1), self._between(j + 1, last)
        middle = self._source[self._tokens[j - 1].end : self._tokens[j + 1].start]
        self._add("branches swapped", i + 1, last, f"{two}{middle}{one}")

    def _sizes(self, function: _Function) -> None:
        """Another size in place of each: the next parameter of the same type."""
        sizes = function.sizes
        for i in range(function.start + 1, function.end):
            if self._kind(i) is not TokenKind.NAME or self._text(i - 1) in (".", "->", "::"):
                continue
            own = next((p for p in sizes if p.name == self._text(i)), None)
            if own is None or self._in_rounding(i):
                continue
            alike = [p.name for p in sizes if p.type == own.type]
            other = alike[(alike.index(own.name) + 1) % len(alike)]
            if other != own.name:
                self._add("another size", i, i, other)

    def _accumulators(self, function: _Function) -> None:
        """A sum kept in the data type in place of float: rounded after every step."""
        sums = {
            self._text(i + 1)
            for i in range(function.start + 1, function.end)
            if self._text(i) == "float"
            and self._kind(i + 1) is TokenKind.NAME
            and self._text(i - 1) in (";", "{", "}", ")", ",")
        }
        for i in range(function.start + 1, function.end):
            if self._text(i) not in sums or self._text(i - 1) in (".", "->", "float", "*", "&"):
                continue
            target = i
            while self._text(target + 1) == "[":
                target = self._partner[target + 1]
            if self._text(target + 1) != "+=" or target + 1 in self._step_clauses:
                continue
            last = self._reach(target + 1, 1)
            place, added = self._between(i, target), self._between(target + 2, last)
            rounded = f"static_cast<float>(static_cast<VAR>({place} + {added}))"
            self._add("accumulated in VAR", i, last, f"{place} = {rounded}", narrow=True)


def _merged(tokens: Sequence[Token], source: str) -> list[Token]:
    """The tokens with operators of several characters in one piece."""
    merged: list[Token] = []
    skip = 0
    for token in tokens:
        if token.start < skip or token.kind is TokenKind.END_OF_DEFINE:
            continue
        match = _OPERATORS.match(source, token.start)
        if token.kind is TokenKind.PUNCTUATION and match:
            merged.append(Token(TokenKind.PUNCTUATION, token.start, match.end(), match[0]))
            skip = match.end()
        else:
            merged.append(token)
    return merged


def _brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Each bracket's partner, both ways; an unmatched one is its own."""
    partner: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in _OPEN:
            opened.append(i)
            partner[i] = i
        elif token.text in _CLOSE:
            partner[i] = i
            if opened and _OPEN[tokens[opened[-1]].text] == token.text:
                other = opened.pop()
                partner[i], partner[other] = other, i
    return partner


_PLAIN = re.compile(r"[\w\s+\-*/%()]*")


def _same_number(one: str, two: str) -> bool:
    """Whether two index expressions agree wherever they are tried, as far as that can be told."""
    if not (_PLAIN.fullmatch(one) and _PLAIN.fullmatch(two)):
        return False
    source = random.Random(1)
    names = set(re.findall(r"[A-Za-z_]\w*", one))
    if names & _INTEGERS:
        one, two = (re.sub(r"\b(size_t|int|unsigned)\b", "", text) for text in (one, two))
        names -= _INTEGERS
    for _ in range(4):
        values = {name: source.randint(2, 1000) for name in names}
        try:
            results = [
                eval(text.replace("/", "//"), {"__builtins__": {}}, values) for text in (one, two)
            ]
        except (SyntaxError, TypeError, NameError, ZeroDivisionError):
            return False
        if results[0] != results[1]:
            return False
    return True
