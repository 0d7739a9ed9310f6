"""Find the features of CUDA C++ that this executor does not support, in a file's tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.cudacpu.lexer import Lines, Token, TokenKind, directive_name, directive_rest


class Unsupported(Exception):
    """The submission uses something that only a GPU can execute.

    `line` is 1-based, in the submitter's file; `feature` names it in a few words.
    """

    def __init__(self, line: int, feature: str) -> None:
        super().__init__(f"line {line}: {feature} cannot be executed on the CPU")
        self.line = line
        self.feature = feature


_HEADERS: tuple[tuple[str, str], ...] = (
    (r"mma\.h|crt/mma\.h", "tensor cores (mma.h)"),
    (r"cub/.*", "the cub library"),
    (r"thrust/.*", "the thrust library"),
    (r"cublas.*", "the cuBLAS library"),
    (r"cudnn.*", "the cuDNN library"),
    (r"cusparse.*|cusolver.*|cufft.*|curand.*|nvrtc.*|nccl.*", "a CUDA library"),
    (r"cutlass/.*", "the cutlass library"),
    (r"cute/.*", "the cute library"),
    (r"cuda/pipeline|cuda_pipeline.*\.h", "asynchronous copies (cp.async)"),
    (r"cuda/barrier|cuda_awbarrier.*\.h", "asynchronous barriers (cuda/barrier)"),
    (r"cuda/.*|nv/.*", "libcu++ (cuda::)"),
    (r"cooperative_groups/memcpy_async\.h", "asynchronous copies (memcpy_async)"),
    (r"cuda_fp8\.h(pp)?|cuda_fp6\.h(pp)?|cuda_fp4\.h(pp)?", "8-bit and smaller floats"),
    (r"cudaTypedefs\.h", "the driver API"),
    (r"(torch|ATen|c10)/.*", "PyTorch's C++ API"),
    (r"texture_\w+\.h|surface_\w+\.h", "textures and surfaces"),
)

_NAMES: tuple[tuple[str, str], ...] = (
    (r"nvcuda|wmma", "tensor cores (wmma)"),
    (r"wgmma\w*|__wgmma\w*", "tensor cores (wgmma)"),
    (r"__pipeline_\w+|__cp_async\w*|memcpy_async", "asynchronous copies (cp.async)"),
    (r"cp_async_bulk\w*|CUtensorMap|cuTensorMap\w*", "the tensor memory accelerator (TMA)"),
    (r"grid_group|this_grid|cudaLaunchCooperativeKernel", "grid-wide synchronisation"),
    (r"multi_grid_group|this_multi_grid", "multi-grid synchronisation"),
    (r"cluster_group|this_cluster|__cluster_dims__|cudaLaunchKernelEx\w*", "thread-block clusters"),
    (r"cudaTextureObject_t|tex[123]D\w*|texCubemap\w*", "textures"),
    (r"cudaSurfaceObject_t|surf[123]D(read|write)\w*", "surfaces"),
    (r"__nv_fp[468]\w*", "8-bit and smaller floats"),
)

_HEADER_PATTERNS = tuple((re.compile(pattern), feature) for pattern, feature in _HEADERS)
_NAME_PATTERN = re.compile("|".join(f"(?P<f{i}>{p})" for i, (p, _) in enumerate(_NAMES)))
_ASSEMBLY = frozenset({"asm", "__asm__", "__asm"})
_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "goto"})


def check(tokens: Sequence[Token], lines: Lines) -> None:
    """Raise `Unsupported` for the first feature in the file that cannot be executed."""
    for position, feature in _findings(tokens):
        raise Unsupported(lines.line(position), feature)


def _findings(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    live = _live(tokens)
    for index, token in enumerate(live):
        if token.kind is TokenKind.DIRECTIVE:
            if directive_name(token) == "include" and (feature := _header_feature(token)):
                yield token.start, feature
        elif token.kind is TokenKind.NAME and (feature := _name_feature(live, index)):
            yield token.start, feature


def _live(tokens: Sequence[Token]) -> list[Token]:
    """The tokens outside of `#if 0` (other conditions are not evaluated: all branches count)."""
    live: list[Token] = []
    conditions: list[bool] = []  # of each open #if: does this branch count?
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE:
            name = directive_name(token)
            if name in ("if", "ifdef", "ifndef"):
                conditions.append(not (name == "if" and directive_rest(token) in ("0", "false")))
            elif name in ("else", "elif") and conditions:
                conditions[-1] = True
            elif name == "endif" and conditions:
                conditions.pop()
        if all(conditions):
            live.append(token)
    return live


def _header_feature(token: Token) -> str | None:
    name = directive_rest(token).strip('<>" \t')
    return next((feature for pattern, feature in _HEADER_PATTERNS if pattern.fullmatch(name)), None)


def _name_feature(tokens: Sequence[Token], index: int) -> str | None:
    text = tokens[index].text
    if text in _ASSEMBLY:
        return None if _assembly_is_empty(tokens, index) else "inline PTX (asm)"
    if text == "cuda":
        scoped = [token.text for token in tokens[index + 1 : index + 3]] == [":", ":"]
        return "libcu++ (cuda::)" if scoped else None
    match = _NAME_PATTERN.fullmatch(text)
    if match is None:
        return None
    if index and tokens[index - 1].text in (".", ">"):
        return None  # a member of the submitter's own
    return next(
        feature for i, (_, feature) in enumerate(_NAMES) if match.group(f"f{i}") is not None
    )


def _assembly_is_empty(tokens: Sequence[Token], index: int) -> bool:
    """`asm volatile("" ::: "memory")` is only a fence for the compiler."""
    index += 1
    while index < len(tokens) and tokens[index].text in _QUALIFIERS:
        index += 1
    following = [token.text for token in tokens[index : index + 2]]
    return following == ["(", '""'] and not (
        index + 2 < len(tokens) and tokens[index + 2].kind is TokenKind.STRING
    )
