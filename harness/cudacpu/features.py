"""Find the features of CUDA C++ that this executor does not support, in a file's tokens."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from harness.cudacpu.lexer import Token, TokenKind, directive, line_of


class Unsupported(Exception):
    """The submission uses something that only a GPU can execute.

    `line` is 1-based, in the submitter's file; `feature` names it in a few words.
    """

    def __init__(self, line: int, feature: str) -> None:
        super().__init__(f"line {line}: {feature} cannot be executed on the CPU")
        self.line = line
        self.feature = feature


_HEADERS = {
    r"cub/.*": "the cub library",
    r"thrust/.*": "the thrust library",
    r"cublas.*": "the cuBLAS library",
    r"cudnn.*": "the cuDNN library",
    r"cusparse.*|cusolver.*|cufft.*|curand.*|nvrtc.*|nccl.*": "a CUDA library",
    r"cutlass/.*": "the cutlass library",
    r"cute/.*": "the cute library",
    r"cuda/pipeline|cuda_pipeline.*\.h": "asynchronous copies (cp.async)",
    r"cuda/barrier|cuda_awbarrier.*\.h": "asynchronous barriers (cuda/barrier)",
    r"cuda/.*|nv/.*": "libcu++ (cuda::)",
    r"cooperative_groups/memcpy_async\.h": "asynchronous copies (memcpy_async)",
    r"cuda_fp8\.h(pp)?|cuda_fp6\.h(pp)?|cuda_fp4\.h(pp)?": "8-bit and smaller floats",
    r"cudaTypedefs\.h": "the driver API",
    r"(torch|ATen|c10)/.*": "PyTorch's C++ API",
    r"texture_\w+\.h|surface_\w+\.h": "textures and surfaces",
}

_NAMES = {
    r"bmma_sync|bmmaBitOp|bmmaAccumulateOp": "matrix products of single bits (wmma)",
    r"wgmma\w*|__wgmma\w*": "tensor cores (wgmma)",
    r"__pipeline_\w+|__cp_async\w*|memcpy_async": "asynchronous copies (cp.async)",
    r"cp_async_bulk\w*|CUtensorMap|cuTensorMap\w*": "the tensor memory accelerator (TMA)",
    r"grid_group|this_grid|cudaLaunchCooperativeKernel": "grid-wide synchronisation",
    r"multi_grid_group|this_multi_grid": "multi-grid synchronisation",
    r"cluster_group|this_cluster|__cluster_dims__|cudaLaunchKernelEx\w*": "thread-block clusters",
    r"cudaTextureObject_t|tex[123]D\w*|texCubemap\w*": "textures",
    r"cudaSurfaceObject_t|surf[123]D(read|write)\w*": "surfaces",
    r"__nv_fp[468]\w*": "8-bit and smaller floats",
}

_ASSEMBLY = frozenset({"asm", "__asm__", "__asm"})
_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "goto"})


def check(tokens: Sequence[Token], source: str) -> None:
    """Raise `Unsupported` for the first feature of `source` that cannot be executed."""
    live = _live(tokens)
    for index, token in enumerate(live):
        feature = None
        if token.kind is TokenKind.DIRECTIVE:
            name, rest = directive(token)
            feature = _lookup(_HEADERS, rest.strip('<>" \t')) if name == "include" else None
        elif token.kind is TokenKind.NAME:
            feature = _name_feature(live, index)
        if feature:
            raise Unsupported(line_of(source, token.start), feature)


def _live(tokens: Sequence[Token]) -> list[Token]:
    """The tokens outside of `#if 0` (other conditions are not evaluated: all branches count)."""
    live: list[Token] = []
    conditions: list[bool] = []  # of each open #if: does this branch count?
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE:
            name, rest = directive(token)
            if name in ("if", "ifdef", "ifndef"):
                conditions.append(not (name == "if" and rest in ("0", "false")))
            elif name in ("else", "elif") and conditions:
                conditions[-1] = True
            elif name == "endif" and conditions:
                conditions.pop()
        if all(conditions):
            live.append(token)
    return live


def _lookup(table: Mapping[str, str], text: str) -> str | None:
    """The feature of the pattern in `table` that all of `text` matches."""
    match = _alternatives(*table).fullmatch(text)
    return list(table.values())[int(match.lastgroup[1:])] if match and match.lastgroup else None


@cache
def _alternatives(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<f{i}>{pattern})" for i, pattern in enumerate(patterns)))


def _name_feature(tokens: Sequence[Token], index: int) -> str | None:
    text = tokens[index].text
    if text in _ASSEMBLY:
        return None if _assembly_is_empty(tokens, index) else "inline PTX (asm)"
    if text == "cuda":
        scoped = [token.text for token in tokens[index + 1 : index + 3]] == [":", ":"]
        return "libcu++ (cuda::)" if scoped else None
    own = index and tokens[index - 1].text in (".", ">")  # a member of the submitter's
    return None if own else _lookup(_NAMES, text)


def _assembly_is_empty(tokens: Sequence[Token], index: int) -> bool:
    """`asm volatile("" ::: "memory")` is only a fence for the compiler."""
    index += 1
    while index < len(tokens) and tokens[index].text in _QUALIFIERS:
        index += 1
    bracket_and_code = [token.text for token in tokens[index : index + 2]]
    more = [token.kind for token in tokens[index + 2 : index + 3]]
    return bracket_and_code == ["(", '""'] and more != [TokenKind.STRING]
