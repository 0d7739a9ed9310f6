"""Our table of types agrees with torch's."""

import pytest
import torch

from harness.problem.dtypes import DTYPES, DataType, DtypeKind, dtype_meant
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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fp16", "float16"), ("half", "float16"), ("bf16", "bfloat16"), ("FP32", "float32"),
        ("torch.half", "float16"), ("flaot16", "float16"), ("double", None), ("int8", None),
        ("float64", None), ("int", "int32"), ("xyz", None),
    ],
)  # fmt: skip
def test_other_names_of_types_are_understood(name: str, meant: str | None) -> None:
    told = dtype_meant(name, ["float32", "float16", "bfloat16", "int32"])
    assert told == (f" (did you mean {meant}?)" if meant else "")
