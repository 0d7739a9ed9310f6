"""A stand-in for torch, put before it on a runner's path: the runner starts at once, not in 3 s.

It has what the runner itself asks for. Tensors are flat: indexing and assignment of elements.
"""

import struct
from types import SimpleNamespace
from typing import Any, NamedTuple


class DType(NamedTuple):
    code: str
    itemsize: int


uint8, float16, float32, float64 = DType("B", 1), DType("e", 2), DType("f", 4), DType("d", 8)
backends = SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace()))


class Tensor:
    def __init__(self, data: memoryview, dtype: DType = uint8) -> None:
        self.data = data
        self.dtype = dtype

    def __len__(self) -> int:
        return len(self.data) // self.dtype.itemsize

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Tensor(self.data[at])
        return struct.unpack_from(self.dtype.code, self.data, self._offset(at))[0]

    def __setitem__(self, at: int, value: Any) -> None:
        struct.pack_into(self.dtype.code, self.data, self._offset(at), value)

    def _offset(self, at: int) -> int:
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return at % len(self) * self.dtype.itemsize

    def view(self, what: DType) -> "Tensor":
        return Tensor(self.data, what)

    def as_strided(self, _shape: Any, _strides: Any) -> "Tensor":
        return self


def frombuffer(buffer: Any, dtype: DType) -> Tensor:
    return Tensor(memoryview(buffer), dtype)
