"""CUDA C++ as tokens: its functions, brackets, and what an operator takes."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.cudacpu.lexer import Token, TokenKind, tokenize

_OPERATORS = re.compile(
    r"<<<|>>>|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|::"
)
OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = frozenset(OPEN.values())
INTEGERS = frozenset(
    re.findall(r"\w+", "size_t int unsigned long short int32_t int64_t uint32_t uint64_t Index")
)
_PLAIN = re.compile(r"[\w\s+\-*/%()]*")
WORDS = frozenset(
    re.findall(
        r"\w+",
        "const constexpr static auto return if else for while do break continue sizeof true false "
        "float double void bool char signed struct using typename template inline extern case "
        "switch default static_cast reinterpret_cast const_cast volatile VAR half __half dim3",
    )
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of a function's; its type has a pointee's ``const``, and nothing else that qualifies."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Function:
    """Token numbers of a body, from ``{`` to ``}``."""

    name: str
    parameters: tuple[Parameter, ...]
    start: int
    end: int
    device: bool

    @property
    def sizes(self) -> list[Parameter]:
        """The parameters that are whole numbers."""
        return [p for p in self.parameters if set(p.type.split()) & INTEGERS and "*" not in p.type]


class CudaCode:
    """The tokens of ``source``, which methods name by their numbers."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = _merged(tokenize(source), source)
        self.partner = _brackets(self.tokens)
        self.functions = list(self._find_functions())

    def text(self, i: int) -> str:
        """Of token ``i``; empty beyond the ends."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def kind(self, i: int) -> TokenKind | None:
        """Of token ``i``; None beyond the ends."""
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from token ``first`` to token ``last``, both included."""
        return self.tokens[first].start, self.tokens[last].end

    def between(self, first: int, last: int) -> str:
        """The text from token ``first`` to token ``last``, both included."""
        start, end = self.span(first, last)
        return self.source[start:end]

    def is_operand_end(self, i: int) -> bool:
        """Whether a value can end with token ``i``."""
        if self.kind(i) is TokenKind.NUMBER or self.text(i) in (")", "]"):
            return True
        return self.kind(i) is TokenKind.NAME and self.text(i) not in WORDS

    def is_operand_start(self, i: int) -> bool:
        """Whether a value can begin with token ``i``."""
        if self.kind(i) is TokenKind.NUMBER or self.text(i) in ("(", "-", "!"):
            return True
        word = self.text(i)
        return self.kind(i) is TokenKind.NAME and (
            word not in WORDS or word in ("static_cast", "sizeof", "float", "double")
        )

    def is_spaced(self, i: int) -> bool:
        """Whether spaces stand on both sides of token ``i``."""
        token = self.tokens[i]
        before, after = self.source[token.start - 1], self.source[token.end : token.end + 1]
        return before.isspace() and after.isspace()

    def is_binary(self, i: int) -> bool:
        """Whether an operator stands between two values, and is no pointer or template bracket."""
        if not (self.is_operand_end(i - 1) and self.is_operand_start(i + 1)):
            return False
        token = self.tokens[i]
        tight = not self.source[token.start - 1].isspace() and token.text in "*/%+-"
        return self.is_spaced(i) or (tight and not self.source[token.end].isspace())

    def operand_before(self, i: int) -> int:
        """The first token of the primary expression that ends at token ``i``."""
        while True:
            if self.text(i) in (")", "]"):
                i = self.partner[i]
                if self.text(i - 1) == ">":  # static_cast<float>( … )
                    i = self._template_start(i - 1)
                    continue
                if self.is_operand_end(i - 1) or self.text(i - 1) in ("float", "double", "VAR"):
                    i -= 1
                    continue
                return i
            if self.text(i - 1) in (".", "->", "::"):
                i -= 2
                continue
            return i

    def _template_start(self, i: int) -> int:
        depth = 0
        while i > 0:
            depth += {">": 1, "<": -1}.get(self.text(i), 0)
            if depth == 0:
                return i - 1
            i -= 1
        return i

    def operand_after(self, i: int) -> int:
        """The last token of the primary expression that starts at token ``i``."""
        while self.text(i) in ("-", "!", "&", "*", "+"):
            i += 1
        if self.text(i) in ("static_cast", "reinterpret_cast", "const_cast"):
            depth = 0
            i += 1
            while i < len(self.tokens):
                depth += {"<": 1, ">": -1}.get(self.text(i), 0)
                if depth == 0:
                    break
                i += 1
            i += 1
        if self.text(i) == "(":
            i = self.partner[i]
        while True:
            following = self.text(i + 1)
            if following in ("(", "["):
                i = self.partner[i + 1]
            elif following in (".", "->", "::"):
                i += 2
            else:
                return i

    def _find_functions(self) -> Iterator[Function]:
        """Definitions at namespace scope: ``name(parameters) {``."""
        i = 0
        head = 0  # first token of the current declaration
        while i < len(self.tokens):
            text = self.text(i)
            if text == "{" and self.text(i - 1) == ")":
                opened = self.partner[i - 1]
                close = self.partner[i]
                words = {self.text(j) for j in range(head, opened)}
                yield Function(
                    self.text(opened - 1),
                    tuple(self._parameters(opened, i - 1)),
                    i,
                    close,
                    bool(words & {"__global__", "__device__"}),
                )
                i = head = close + 1
                continue
            if text == "{" and not self._opens_namespace(head):
                i = self.partner[i]
            elif text in (";", "{", "}") or self.kind(i) is TokenKind.DIRECTIVE:
                head = i + 1
            i += 1

    def _opens_namespace(self, head: int) -> bool:
        return self.text(head) in ("namespace", "extern")

    def _parameters(self, opened: int, closed: int) -> Iterator[Parameter]:
        for first, last in self.arguments(opened, closed):
            name = next(
                (j for j in range(last, first - 1, -1) if self.kind(j) is TokenKind.NAME), None
            )
            if name is not None:
                words = [self.text(j) for j in range(first, name) if self.text(j) != "const"]
                words = [word for word in words if word != "__restrict__"]
                const = "const " if "*" in words and self.text(first) == "const" else ""
                yield Parameter(self.text(name), const + " ".join(words))

    def arguments(self, opened: int, closed: int) -> list[tuple[int, int]]:
        """First and last token of everything between the commas inside of a bracket."""
        found: list[tuple[int, int]] = []
        first = i = opened + 1
        while i <= closed:
            if self.text(i) in OPEN and i != closed:
                i = self.partner[i] + 1
                continue
            if self.text(i) == "," or i == closed:
                if i > first:
                    found.append((first, i - 1))
                first = i + 1
            i += 1
        return found

    def is_asserted(self, i: int) -> bool:
        """Whether token ``i`` is part of a static_assert."""
        j = i
        while j > 0 and self.text(j) not in (";", "{", "}"):
            if self.text(j) == "static_assert":
                return True
            j -= 1
        return False

    def between_from(self, closed: int, last: int) -> str:
        """The text after token ``closed``, to the end of token ``last``."""
        return self.source[self.tokens[closed].end : self.tokens[last].end]

    def reach(self, i: int, step: int) -> int:
        """How far the operand of a logical operator goes, to the left (-1) or right (1)."""
        stops = {"&&", "||", "?", ":", ";", ",", "=", "return", "{", "}"}
        j = i + step
        while True:
            text = self.text(j)
            if text in stops or j <= 0 or j >= len(self.tokens) - 1:
                return j - step
            if (step > 0 and text in OPEN) or (step < 0 and text in CLOSE):
                j = self.partner[j]
            elif text in OPEN or text in CLOSE:
                return j - step
            j += step

    def for_parts(self, i: int) -> tuple[int, int, int] | None:
        """The two semicolons and the closing bracket of a ``for`` at token ``i``."""
        if self.text(i) != "for" or self.text(i + 1) != "(":
            return None
        closed = self.partner[i + 1]
        marks = [j for j in range(i + 2, closed) if self.text(j) == ";"]
        return (marks[0], marks[1], closed) if len(marks) == 2 else None


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
        if token.text in OPEN:
            opened.append(i)
            partner[i] = i
        elif token.text in CLOSE:
            partner[i] = i
            if opened and OPEN[tokens[opened[-1]].text] == token.text:
                other = opened.pop()
                partner[i], partner[other] = other, i
    return partner


def same_number(one: str, two: str) -> bool:
    """Whether two index expressions agree wherever they are tried, as far as that can be told."""
    if not (_PLAIN.fullmatch(one) and _PLAIN.fullmatch(two)):
        return False
    source = random.Random(1)
    names = set(re.findall(r"[A-Za-z_]\w*", one))
    if names & INTEGERS:
        one, two = (re.sub(r"\b(size_t|int|unsigned)\b", "", text) for text in (one, two))
        names -= INTEGERS
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
