"""Slim headers: what a source needs is in them, and what they cannot serve is left to PyTorch's."""

import pytest

from harness.languages.build.torch_headers import SHADOWED, SLIM, installed_torch, slim_headers

GUARD = "ATen/DeviceGuard.h"
INCLUDE = installed_torch().include


def _slim(text: str) -> str:
    headers = slim_headers(text, INCLUDE)
    assert headers is not None
    assert {*SHADOWED, SLIM} == {*headers} - {GUARD}
    return headers[SLIM]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("torch::Tensor f(torch::Tensor x);", "ATen/core/Tensor.h"),
        ("auto y = torch::empty_like(x);", "ATen/ops/empty_like.h"),
        ("auto y = at::zeros({4});", "ATen/ops/zeros.h"),
        ("using namespace torch; auto y = empty_like(x);", "ATen/ops/empty_like.h"),
        ('AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] {});', "ATen/Dispatch.h"),
        ("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}", "torch/csrc/utils/pybind.h"),
        ("py::object f();", "torch/csrc/utils/pybind.h"),
        ("at::cuda::getCurrentCUDAStream()", "ATen/core/Tensor.h"),
        ("TORCH_LIBRARY(mine, m) {}", "torch/library.h"),
    ],
)
def test_what_a_source_names_is_included(text: str, header: str) -> None:
    assert f"#include <{header}>" in _slim(text)


def test_a_word_that_is_no_operation_includes_nothing() -> None:
    assert "no_such" not in _slim("torch::no_such(x); torch::Tensor y;")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("auto y = torch::empty_like(x);", False),
        ("c10::OptionalDeviceGuard guard(x.device());", False),
        ("at::OptionalDeviceGuard guard(device_of(x));", True),
        ("auto y = torch::cat({x, x});", True),
        ("void f(at::TensorListRef xs);", True),
    ],
)
def test_types_of_torchscript_are_left_out_where_no_list_is_passed(text: str, whole: bool) -> None:
    headers = slim_headers(text, INCLUDE)
    assert headers is not None
    assert (GUARD not in headers) is whole


@pytest.mark.parametrize(
    "text",
    [
        "torch::nn::functional::relu(x)",
        "torch::autograd::Function<F>",
        "x.requires_grad()",
        "torch::cuda::synchronize()",
    ],
)
def test_what_they_do_not_serve_is_left_to_pytorch(text: str) -> None:
    assert slim_headers(text, INCLUDE) is None
