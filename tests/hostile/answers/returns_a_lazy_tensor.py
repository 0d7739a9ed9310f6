# Returns a tensor of a class of its own that computes only when it is copied.
# threat: 32
# problem: vector-add
# verdict: accepted (it is copied within the call, so that the work is in its time)

import torch


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.copy_ and isinstance(args[1], Lazy):
            x, y = args[1].operands
            return torch.add(x, y, out=args[0])
        return super().__torch_function__(function, types, args, kwargs or {})


def custom_kernel(data):
    x, y, z = data
    result = torch.empty_like(x).as_subclass(Lazy)
    result.operands = (x, y)
    return result
