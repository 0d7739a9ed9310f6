"""Records that messages are made of: the arguments of calls, launches, compiled kernels."""

from dataclasses import dataclass
from typing import ClassVar

from harness.wire.validation import WireRecord

Parameters = tuple[tuple[str, str], ...]
"""Name and kind of each parameter: ``in``, ``out``, ``inout``, ``size`` or ``scalar``."""

AND = ", "
"""Between the names of functions that are an entry point together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorShape(WireRecord):
    """A tensor of which nothing but its form matters."""

    type: ClassVar[str] = "shape"
    dtype: str
    """Torch's name of the data type."""
    shape: tuple[int, ...]
    """Elements along each dimension."""
    strides: tuple[int, ...]
    """Steps along each dimension, in elements; gaps between rows belong to nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorArgument(TensorShape):
    """A tensor of every call of a batch: call *i* has its own at byte ``base + i * stride``."""

    type: ClassVar[str] = "tensor"
    base: int
    """Byte of the arena at which the tensor of call 0 starts."""
    stride: int
    """Bytes from the start of one call's tensor to that of the next."""
    bytes: int
    """Size of one tensor from its first to its last element, gaps included."""
    zeroed: bool = False
    """Whether it is 0 before every call, so that a runner sets it before those that warm it up."""
    seen_as: str = ""
    """Torch's name of the data type that Python files see its bytes as; empty for ``dtype``."""
    on_host: str = ""
    """The bytes of all its calls as hex digits, where a submission on a GPU gets them in the host's
    memory; empty where it gets those of the arena."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarArgument(WireRecord):
    """A number, the same in every call of a batch."""

    type: ClassVar[str] = "scalar"
    ctype: str
    """Its C type, as the problem declares it."""
    value: int | float
    """The number."""


Argument = TensorArgument | ScalarArgument
"""One parameter of every call of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct(WireRecord):
    """The arguments of a submission's class, and of calls, where a format gives them."""

    type: ClassVar[str] = "construct"
    arguments: str
    """JSON of a list: null, booleans, numbers, strings, lists, and objects with one key: `tuple`
    (a list), `dict` (a list of pairs) or `dtype` (torch's name)."""
    call: str = ""
    """Likewise, of each call's arguments, where these are not the parameters in order; an object
    with the key `argument` is the parameter of that name. Where the entry point is several
    functions, a list of two for each: its arguments, and the number of its outputs."""
    seed: int
    """Of all that is random in the constructor."""
    constants: str = ""
    """Likewise, of a list of lists of three: the name of a constant of the submission's file, the
    value that it has in the problem's, and the one that it has here. Where the submission has the
    same, it is replaced."""
    weights: tuple[str, ...] = ()
    """Of the arguments after those of the parameters, in order: the module's own name of the weight
    that has this value in a call; empty where it has none."""


MOST_WEIGHTS = 160
"""Parameters and buffers of a module, as many as a message has room for."""
LONGEST_WEIGHT_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWeight(WireRecord):
    """One parameter or buffer of a module, as it is made."""

    name: str
    """Its name in the module."""
    digest: str
    """Hash (hex) of data type, shape and values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLaunch(WireRecord):
    """One launch of each call of a PTX submission, in numbers: the judge evaluates the header."""

    kernel: str
    """Name of the kernel in the file."""
    grid: tuple[int, ...]
    """Blocks along x, y and z."""
    block: tuple[int, ...]
    """Threads of a block along x, y and z."""
    shared: int
    """Bytes of dynamic shared memory."""
    arguments: tuple[int, ...]
    """The kernel's arguments, by their index among the problem's parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel(WireRecord):
    """The figures of one kernel that Triton and ptxas report."""

    name: str
    """Name of the kernel's function."""
    registers: int = 0
    """Registers of a thread."""
    shared_bytes: int = 0
    """Shared memory of a block, bytes."""
    spill_store_bytes: int = 0
    """Bytes that a thread stores because registers do not suffice."""
    spill_load_bytes: int = 0
    """Bytes that a thread loads for the same reason."""
    threads: int | None = None
    """Threads of a block."""
