"""Our table of types agrees with torch's."""

import pytest
import torch

from harness.problem.dtypes import DTYPES, DataType, DtypeKind
from harness.problem.model import Parameter
from harness.problem.terms import Role


@pytest.mark.parametrize("name", DTYPES)
def test_agrees_with_torch(name: str) -> None:
    ours, theirs = DTYPES[name], getattr(torch, name)
    assert ours.itemsize == theirs.itemsize
    if ours.kind in (DtypeKind.FLOAT, DtypeKind.COMPLEX):
        info = torch.finfo(theirs)
        assert ours.roundoff == info.eps / 2
        assert ours.largest == info.max
        assert ours.smallest == info.smallest_normal * info.eps
    else:
        assert ours.roundoff == ours.smallest == ours.largest == 0


def data_type(c_type: str, dtype: str) -> DataType:
    return Parameter(name="x", type=c_type, role=Role.TENSOR, line=1).data_type(dtype)


def test_the_data_type_of_a_parameter() -> None:
    assert data_type("[VAR]", "float16").name == "float16"
    assert data_type("float", "float16").name == "float32"
    assert data_type("size_t", "float16").itemsize == 8
