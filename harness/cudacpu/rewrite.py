"""Translate CUDA C++ to C++: rewrite launches and shared memory, and nothing else.

Insertions stay on their line, so that every line keeps its number.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from harness.cudacpu.features import Unsupported, check
from harness.cudacpu.lexer import Token, TokenKind, directive, line_of, tokenize

_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = {")": "(", "]": "[", "}": "{"}
_DEVICE = frozenset({"__global__", "__device__"})
_ATTRIBUTES = frozenset({"__align__", "__builtin_align__", "alignas", "__attribute__"})
_MACRO_ENDS = frozenset({TokenKind.DIRECTIVE, TokenKind.END_OF_DEFINE})
_NOT_A_CALLEE = frozenset({"return", "else", "do", "case", "co_return", "throw", "goto"})


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Scope(NamedTuple):
    """The place of a token: at namespace scope or in a body, in device code or not."""

    is_namespace: bool
    is_device: bool


def translate(source: str, filename: str) -> str:
    """The C++ that stands for the CUDA C++ in `source`; it has one line more, the first.

    Diagnostics and stack traces will name `filename` (which need not be trusted) and the
    submitter's line numbers.

    Raises:
        Unsupported: the source needs something that cannot be executed on a CPU.
    """
    source = source.replace("\r\n", "\n")
    tokens = tokenize(source)
    check(tokens, source)
    edits = _Rewriter(tokens, source).edits()
    # Nothing may break out of the string literal.
    printable = "".join(c if c.isprintable() else "?" for c in filename)
    quoted = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{quoted}"\n' + _apply(source, edits)


def _apply(source: str, edits: Sequence[_Edit]) -> str:
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < done:  # an overlap can only come from malformed source: leave it
            continue
        # What is replaced may span lines, by newlines or comments: keep the newlines.
        newlines = "\n" * source.count("\n", edit.start, edit.end)
        pieces += (source[done : edit.start], edit.text, newlines)
        done = edit.end
    return "".join((*pieces, source[done:]))


class _Rewriter:
    def __init__(self, tokens: Sequence[Token], source: str) -> None:
        self._tokens = tokens
        self._source = source
        self._partner = _brackets(tokens)
        self._plain_kernels = self._find_plain_kernels()
        self._edits: list[_Edit] = []

    def edits(self) -> list[_Edit]:
        scopes = [_Scope(is_namespace=True, is_device=False)]
        saved: list[list[_Scope]] = []  # at each open #if, for its #else
        head = 0  # first token of the current statement
        in_define = False
        for i, token in enumerate(self._tokens):
            if token.kind is TokenKind.DIRECTIVE:
                in_define = directive(token)[0] == "define"
                _follow_conditional(token, scopes, saved)
            elif token.kind is TokenKind.END_OF_DEFINE:
                in_define = False
            elif token.kind is TokenKind.NAME:
                self._name(i, scopes[-1], in_define)
            elif token.text == "<" and self._is_run(i, "<<<"):
                self._launch(i, scopes[-1])
            if in_define or token.text not in ("{", "}", ";"):
                continue
            if token.text == "{":
                scopes.append(self._scope(head, i, scopes[-1]))
            elif token.text == "}" and len(scopes) > 1:
                scopes.pop()
            head = i + 1
        return self._edits

    def _scope(self, head: int, brace: int, outer: _Scope) -> _Scope:
        words = [t.text for t in self._tokens[head:brace] if t.kind is not TokenKind.DIRECTIVE]
        is_namespace = outer.is_namespace and (
            ("namespace" in words and "(" not in words)
            or (len(words) == 2 and words[0] == "extern" and words[1].endswith('"'))
        )
        is_device = outer.is_device or any(word in _DEVICE for word in words)
        return _Scope(is_namespace, is_device and not is_namespace)

    def _name(self, i: int, scope: _Scope, in_define: bool) -> None:
        token = self._tokens[i]
        if token.text == "__noinline__" and self._text(i - 1) != "(":
            # Not a macro: the standard headers say __attribute__((__noinline__)).
            self._replace(token, "__attribute__((noinline))")
        elif token.text == "__shared__" and not in_define:
            start, end = self._declaration(i)
            if end is None:
                return
            if any(t.text == "extern" for t in self._tokens[start:end]):
                self._dynamic_shared(start, end, scope)
            elif not scope.is_namespace:
                self._static_shared(start, end)

    def _replace(self, token: Token, text: str) -> None:
        self._edits.append(_Edit(token.start, token.end, text))

    def _insert(self, position: int, text: str) -> None:
        self._edits.append(_Edit(position, position, text))

    def _text(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def _kind(self, i: int) -> TokenKind | None:
        return self._tokens[i].kind if 0 <= i < len(self._tokens) else None

    def _is_run(self, i: int, run: str) -> bool:
        """Whether the tokens from `i` spell `run` without a gap, and it starts there."""
        tokens = self._tokens[i : i + len(run)]
        spelled = "".join(token.text for token in tokens) == run
        return spelled and all(a.end == b.start for a, b in pairwise(tokens))

    def _launch(self, i: int, scope: _Scope) -> None:
        start = self._callee_start(i)
        end = self._configuration_end(i + 3)
        if start is None or end is None:
            return  # not a launch that we understand: the compiler reports it
        if scope.is_device:
            line = line_of(self._source, self._tokens[i].start)
            raise Unsupported(line, "a launch inside device code (dynamic parallelism)")
        words = self._tokens[start:i]
        name = "".join(t.text for t in words if t.kind is not TokenKind.STRING)
        name = re.sub(r'[\\"\n]', "?", name)[:200]
        before = f'::cudacpu::launcher("{name}", '
        after = "(cudacpu_a...); }, "
        if len(words) == 1 and words[0].text in self._plain_kernels:
            # Not so where the name is overloaded, as libm's are: then the call below decides.
            before += f"[](auto cudacpu_p) -> decltype(cudacpu_p({name})) {{ return {name}; }}, "
        before += "[&](auto... cudacpu_a) { "
        self._insert(words[0].start, before)
        for at, text in ((i, after), (end, ")")):  # of `<<<` and `>>>`
            self._edits.append(_Edit(self._tokens[at].start, self._tokens[at].start + 3, text))

    def _callee_start(self, i: int) -> int | None:
        """The first token of the expression before `<<<` at `i`: a::b<c>, x.k, (*p), f(1)."""
        at = i - 1
        while True:
            if self._text(at) == ">":
                opening = self._template_start(at)
                if opening is None:
                    return None
                at = opening - 1
            elif self._text(at) == ")":
                partner = self._partner.get(at)
                if partner is None:
                    return None
                if not self._is_word(partner - 1) and self._text(partner - 1) != ">":
                    return partner
                at = partner - 1
                continue
            if not self._is_word(at):
                return None
            before = self._text(at - 2) + self._text(at - 1)
            if before in ("::", "->"):
                if not self._is_word(at - 3) and self._text(at - 3) not in (">", ")"):
                    return at - 2 if before == "::" else None
                at -= 3
            elif self._text(at - 1) == ".":
                at -= 2
            else:
                return at

    def _is_word(self, i: int) -> bool:
        return self._kind(i) is TokenKind.NAME and self._text(i) not in _NOT_A_CALLEE

    def _template_start(self, i: int) -> int | None:
        """The `<` for the `>` at `i`, going back."""
        depth = 0
        while i >= 0:
            text = self._text(i)
            depth += {">": 1, "<": -1}.get(text, 0)
            if text == "<" and depth == 0:
                return i
            unmatched = text in _CLOSE and i not in self._partner
            if unmatched or text in (";", "{") or self._kind(i) in _MACRO_ENDS:
                return None
            i = self._partner[i] - 1 if text in _CLOSE else i - 1
        return None

    def _configuration_end(self, i: int) -> int | None:
        """The first `>` of the `>>>` that ends the configuration starting at `i`."""
        for end in self._outside_brackets(i):
            text = self._text(end)
            if text == ">" and self._is_run(end, ">>>"):
                while self._is_run(end + 1, ">>>"):  # `...>>>>`: the first ends a template
                    end += 1
                return end if self._text(end + 3) == "(" else None
            if text in _CLOSE or text == ";" or self._kind(end) is TokenKind.END_OF_DEFINE:
                break
        return None

    def _outside_brackets(self, i: int) -> Iterator[int]:
        """The tokens from `i` on, of brackets the opening one only; ends after an unmatched one."""
        while i < len(self._tokens):
            yield i
            i = self._partner.get(i, len(self._tokens)) + 1 if self._text(i) in _OPEN else i + 1

    def _find_plain_kernels(self) -> frozenset[str]:
        """Kernels declared once, with parameters, but neither a template nor default arguments.

        Their launches can convert the arguments to the parameters' types, as CUDA does.
        """
        seen: dict[str, bool] = {}
        head = 0
        for i, token in enumerate(self._tokens):
            if token.text in (";", "{", "}") or token.kind is TokenKind.DIRECTIVE:
                head = i + 1
            if token.text != "__global__":
                continue
            name, parameters = self._declared_name(i + 1)
            before = [t.text for t in self._tokens[head:i]]
            inside = self._tokens[parameters : self._partner.get(parameters, parameters)]
            plain = len(inside) > 1 and all(t.text != "=" for t in inside)
            plain = plain and "template" not in before
            seen[name] = plain and name not in seen
        return frozenset(name for name, plain in seen.items() if plain)

    def _declared_name(self, i: int) -> tuple[str, int]:
        """The function declared from `i` on ("" for none), and the index of its parameters' `(`."""
        while i + 1 < len(self._tokens) and self._text(i) not in (";", "{", "}"):
            if self._text(i + 1) == "(":
                special = self._text(i) in _ATTRIBUTES or self._text(i) == "__maxnreg__"
                if not (special or self._text(i).startswith("__launch_bounds")):
                    return (self._text(i) if self._kind(i) is TokenKind.NAME else ""), i + 1
                i = self._partner.get(i + 1, i + 1)
            i += 1
        return "", i

    def _declaration(self, i: int) -> tuple[int, int | None]:
        """First token and `;` of the declaration that `__shared__` at `i` is part of."""
        start = i
        while self._text(start - 1) not in ("else", "do"):
            attribute = self._attribute_before(start)
            if attribute is None and self._kind(start - 1) is not TokenKind.NAME:
                break
            start = start - 1 if attribute is None else attribute
        for end in self._outside_brackets(i):
            if self._text(end) == ";":
                return start, end
            if self._text(end) in _CLOSE or self._kind(end) is TokenKind.DIRECTIVE:
                break
        return start, None

    def _attribute_before(self, i: int) -> int | None:
        """The start of an attribute such as `__align__(16)` that ends just before `i`."""
        partner = self._partner.get(i - 1, 0) if self._text(i - 1) == ")" else 0
        return partner - 1 if self._text(partner - 1) in _ATTRIBUTES else None

    def _dynamic_shared(self, start: int, end: int, scope: _Scope) -> None:
        """`extern __shared__ T name[];` becomes a pointer to the block's dynamic memory."""
        words: list[Token] = []
        i = start
        while i < end:
            if self._text(i) in _ATTRIBUTES and self._text(i + 1) == "(":
                i = self._partner.get(i + 1, i + 1)  # the memory is aligned enough
            elif self._text(i) not in ("extern", "__shared__", "static"):
                words.append(self._tokens[i])
            i += 1
        texts = [t.text for t in words]
        if len(texts) < 4 or texts[-2:] != ["[", "]"] or words[-3].kind is not TokenKind.NAME:
            return
        name = texts[-3]
        element = " ".join(texts[:-3]).replace(": :", "::")  # words apart, and `> >` too
        # A parameter of the submission's template may be the type: no typename needed here.
        if scope.is_namespace:
            text = (
                f"static thread_local {element}* {name}; "
                f"static const ::cudacpu::DynamicPointer cudacpu_d_{name}("
                f"[](void* base) {{ {name} = static_cast<{element}*>(base); }})"
            )
        else:
            text = f"auto* const {name} = ::cudacpu::dynamic_shared<{element}>()"
        self._edits.append(_Edit(self._tokens[start].start, self._tokens[end].start, text))

    def _static_shared(self, start: int, end: int) -> None:
        """`__shared__ T a[4], b;` becomes a type for each, and references to their places."""
        names = self._declarators(start, end)
        if not names:
            return  # too unusual: the macro __shared__ makes it thread_local
        for token in self._tokens[start:end]:
            if token.text in ("__shared__", "static", "alignas"):
                self._replace(token, "__align__" if token.text == "alignas" else "")
        self._insert(self._tokens[start].start, "typedef ")
        places: list[str] = []
        for token in names:
            self._insert(token.start, "cudacpu_t_")
            kind, tag = f"cudacpu_t_{token.text}", f"cudacpu_g_{token.text}"
            places.append(
                f"; struct {tag}; "
                f"auto& {token.text} = ::cudacpu::shared<{kind}, alignof({kind}), {tag}>()"
            )
        self._insert(self._tokens[end].start, "".join(places))

    def _declarators(self, start: int, end: int) -> list[Token]:
        """The tokens that are the names declared in `start` to `end`; none if in doubt."""
        names: list[Token] = []
        candidate: Token | None = None
        angle = 0
        for i in takewhile(lambda i: i <= end, self._outside_brackets(start)):
            token = self._tokens[i]
            if token.text in ("[", ",") or i == end:
                if angle != 0:
                    continue
                if candidate is None:
                    return []
                if names[-1:] != [candidate]:
                    names.append(candidate)
                if token.text == ",":
                    candidate = None
            elif token.text in ("<", ">"):
                angle += 1 if token.text == "<" else -1
            elif token.text == "(" and angle == 0:
                if self._text(i - 1) not in (*_ATTRIBUTES, "decltype"):
                    return []  # a function type, an initialiser, a pointer to an array
            elif token.text == "=":
                return []
            elif token.kind is TokenKind.NAME and angle == 0:
                candidate = token
        return names


def _brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """The partner of each bracket, by index, both ways; unmatched ones are missing."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    outside: list[int] = []  # the stack before a macro's body
    for i, token in enumerate(tokens):
        if token.kind is TokenKind.DIRECTIVE and directive(token)[0] == "define":
            outside, stack = stack, []
        elif token.kind is TokenKind.END_OF_DEFINE:
            stack = outside
        elif token.text in _OPEN:
            stack.append(i)
        elif stack and tokens[stack[-1]].text == _CLOSE.get(token.text):
            opening = stack.pop()
            partner[opening], partner[i] = i, opening
    return partner


def _follow_conditional(token: Token, scopes: list[_Scope], saved: list[list[_Scope]]) -> None:
    """Branches of one #if often open the same brace twice: each starts where #if did."""
    name, _ = directive(token)
    if name in ("if", "ifdef", "ifndef"):
        saved.append(list(scopes))
    elif name in ("else", "elif") and saved:
        scopes[:] = saved[-1]
    elif name == "endif" and saved:
        saved.pop()
