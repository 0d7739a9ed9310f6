"""All that outputs are placed with and that PyTorch keeps to itself: see :mod:`.output_placement`.

A version of PyTorch that lacks one of them fails a test. With :data:`PLACE_OUTPUTS` off none is
touched: then returned outputs are copied, in the time of the call.
"""

from typing import TYPE_CHECKING, Any

PLACE_OUTPUTS = True
"""Whether what calls return is made in the judge's buffers where that can be done."""

if TYPE_CHECKING or PLACE_OUTPUTS:
    import sys

    import torch
    from torch import Tensor
    from torch.multiprocessing.reductions import StorageWeakRef as StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode
    from torch.utils._pytree import tree_leaves as tree_leaves

    def tensor_in(
        buffer: Tensor, shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype
    ) -> Tensor:
        """A tensor in the buffer's memory, with a storage of its own: see :func:`weak_storage`."""
        size = buffer.numel() * buffer.itemsize
        storage = torch._C._construct_storage_from_data_pointer(
            buffer.data_ptr(), buffer.device, size
        )
        return torch.empty(0, dtype=dtype, device=buffer.device).set_(storage, 0, shape, strides)

    def weak_storage(tensor: Tensor) -> StorageWeakRef:
        """A reference to the tensor's storage that expires with it."""
        return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]

    def all_expired(storages: list[StorageWeakRef]) -> bool:
        """Whether nobody holds any of them."""
        return all(each.expired() for each in storages)  # type: ignore[no-untyped-call]

    def storage_id(tensor: Tensor) -> int:
        """A number that tensors share that share their storage."""
        return int(tensor.untyped_storage()._cdata)

    def schema(operation: object) -> Any:
        """Arguments and results of an operation; None for operators that take functions."""
        return getattr(operation, "_schema", None)

    def has_compiled() -> bool:
        """Whether ``torch.compile`` has compiled anything in this process."""
        dynamo = sys.modules.get("torch._dynamo.utils")
        return dynamo is not None and bool(dynamo.counters["frames"])
