"""Find the features of CUDA C++ that this executor does not support, in a file's tokens."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from harness.cudacpu.build import INCLUDE
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
    r"thrust/.*": "the thrust library",
    r"cublas.*": "the cuBLAS library",
    r"cudnn.*": "the cuDNN library",
    r"cusparse.*|cusolver.*|cufft.*|curand.*|nvrtc.*|nccl.*": "a CUDA library",
    r"cutlass/.*": "the cutlass library",
    r"cute/.*": "the cute library",
    r"cub/device/.*": "device-wide cub",
    r"cub/.*": "this part of the cub library",
    r"cuda_awbarrier.*\.h": "asynchronous barriers (__mbarrier)",
    r"cuda/.*|nv/.*": "this part of libcu++ (cuda::)",
    r"cuda_fp8\.h(pp)?|cuda_fp6\.h(pp)?|cuda_fp4\.h(pp)?": "8-bit and smaller floats",
    r"cudaTypedefs\.h": "the driver API",
    r"(torch|ATen|c10)/.*": "PyTorch's C++ API",
    r"texture_\w+\.h|surface_\w+\.h": "textures and surfaces",
}

_NAMES = {
    r"bmma_sync|bmmaBitOp|bmmaAccumulateOp": "matrix products of single bits (wmma)",
    r"wgmma\w*|__wgmma\w*": "tensor cores (wgmma)",
    r"__mbarrier_\w+|__pipeline_arrive_on": "asynchronous barriers (__mbarrier)",
    r"cp_async_bulk\w*|CUtensorMap|cuTensorMap\w*": "the tensor memory accelerator (TMA)",
    r"grid_group|this_grid|cudaLaunchCooperativeKernel": "grid-wide synchronisation",
    r"multi_grid_group|this_multi_grid": "multi-grid synchronisation",
    r"cluster_group|this_cluster|__cluster_dims__|cudaLaunchKernelEx\w*": "thread-block clusters",
    r"cudaTextureObject_t|tex[123]D\w*|texCubemap\w*": "textures",
    r"cudaSurfaceObject_t|surf[123]D(read|write)\w*": "surfaces",
    r"__nv_fp[468]\w*": "8-bit and smaller floats",
}

_DEVICE_WIDE = re.compile(
    r"Device(Reduce|Scan|Select|Partition|Histogram|RadixSort|MergeSort|RunLengthEncode|For|"
    r"Transform|Copy|Memcpy|Merge|Segmented\w+|AdjacentDifference|SpmvKernel)"
)
_SCOPED = {
    "cub": re.compile(
        r"Block(Exchange|Load|RadixSort|Reduce|Scan|Store)(Algorithm)?|BLOCK_\w+|Warp(Reduce|Scan)|"
        r"(Load|Store)Direct(Blocked|Striped)|Arg(Max|Min)|Max|Min|Sum|Equality|Inequality|"
        r"KeyValuePair|LaneId|NullType|RowMajorTid|WarpId"
    ),
    "cuda": re.compile(
        r"aligned_size_t|barrier|make_pipeline|maximum|memcpy_async|minimum|pipeline(_role|_"
        r"shared_state|_consumer_wait_prior)?|std|thread_scope(_block|_device|_system|_thread)?"
    ),
}
"""What we have of two namespaces."""

_ASSEMBLY = frozenset({"asm", "__asm__", "__asm"})
_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "goto"})


def check(tokens: Sequence[Token], source: str) -> None:
    """Raise `Unsupported` for the first feature of `source` that cannot be executed."""
    live = _live(tokens)
    has_cub = any(re.match(r"#\s*include\s*[<\"]cub/", token.text) for token in live)
    for index, token in enumerate(live):
        feature = None
        if token.kind is TokenKind.DIRECTIVE:
            name, rest = directive(token)
            header = rest.strip('<>" \t') if name == "include" else ""
            feature = None if _is_ours(header) else _lookup(_HEADERS, header)
        elif token.kind is TokenKind.NAME:
            feature = _name_feature(live, index, has_cub)
        if feature:
            raise Unsupported(line_of(source, token.start), feature)


def _is_ours(header: str) -> bool:
    """Whether this executor has `header`."""
    return bool(re.fullmatch(r"[\w/]+(\.\w+)?", header)) and (INCLUDE / header).is_file()


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


def _name_feature(tokens: Sequence[Token], index: int, has_cub: bool) -> str | None:
    text = tokens[index].text
    if text in _ASSEMBLY:
        return None if _assembly_is_empty(tokens, index) else "inline PTX (asm)"
    following = [token.text for token in tokens[index + 1 : index + 4]]
    if text in _SCOPED and following[:2] == [":", ":"]:
        name = following[2] if len(following) == 3 else ""
        return None if _SCOPED[text].fullmatch(name) else f"{text}::{name}"
    if has_cub and _DEVICE_WIDE.fullmatch(text) and following[:2] == [":", ":"]:
        return f"cub::{text}"
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
