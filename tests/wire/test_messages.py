"""Messages: what JSON holds is a record, or a WireError that names the field."""

import json
from dataclasses import fields
from typing import Any

import pytest

from harness.wire import messages
from harness.wire.arguments import KernelLaunch, ScalarArgument, TensorArgument
from harness.wire.messages import MESSAGES, FaultCode, parse
from harness.wire.validation import WireError

TENSOR = {
    "type": "tensor", "base": 4096, "stride": 512, "bytes": 8, "shape": [2], "strides": [1],
    "dtype": "float32",
}  # fmt: skip
SCALAR = {"type": "scalar", "ctype": "size_t", "value": 4}
LAUNCH = {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "arguments": [0]}
COMPILED = {
    "type": "compiled", "status": "ok", "message": "", "line": None, "configurations": 0,
    "seconds": 1, "kernels": [],
}  # fmt: skip
PREPARE = {"type": "prepare", "calls": 2, "arguments": [TENSOR, SCALAR], "launches": [LAUNCH]}


def read(data: dict[str, Any]) -> messages.Message:
    return parse(json.dumps(data).encode())


def test_arguments_and_launches_become_records() -> None:
    message = read(PREPARE)
    assert message == messages.Prepare(
        calls=2,
        arguments=(
            TensorArgument(
                base=4096, stride=512, bytes=8, shape=(2,), strides=(1,), dtype="float32"
            ),
            ScalarArgument(ctype="size_t", value=4),
        ),
        launches=(
            KernelLaunch(kernel="k", grid=(1, 1, 1), block=(32, 1, 1), shared=0, arguments=(0,)),
        ),
    )


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"type": "result"}, "no message has the type 'result'"),
        ({"type": "\ud800"}, r"no message has the type '\\ud800'"),
        ({"type": "x" * 100}, "no message has the type '" + "x" * 40 + "'"),
        ({"type": "ready", "seconds": 1}, "ready has no field 'seconds'"),
        ({"type": "ready", "\x1b[31m": 1}, r"ready has no field '\\x1b\[31m'"),
        ({"type": "map"}, "map.bytes is missing"),
        ({"type": "map", "bytes": "8"}, "map.bytes is '8'"),
        ({"type": "map", "bytes": True}, "map.bytes is True"),
        ({"type": "map", "bytes": 8.0}, "map.bytes is 8.0"),
        ({"type": "map", "bytes": "9" * 500}, "map.bytes is '9+\\.\\.\\."),
        ({"type": "run", "round": None}, "run.round is None"),
        ({"type": "run", "round": 1, "cpu": "0"}, "run.cpu is '0'"),
        ({"type": "prepared", "captured": {"a": [1]}}, "prepared.captured is an object"),
        ({"type": "failed", "message": "x"}, "failed.fault is missing"),
        ({"type": "failed", "fault": "driver"}, "failed.fault is 'driver'"),
        ({"type": "failed", "fault": ["cuda"]}, "failed.fault is an array"),
        ({"type": "failed", "fault": "cuda", "message": 1}, "failed.message is 1"),
        ({"type": "open", "device": "tpu"}, "open.device is 'tpu'"),
        ({"type": "confined", "version": 1, "layers": "all"}, "confined.layers is 'all'"),
        ({"type": "confined", "version": 1, "layers": [1]}, r"confined.layers\[0\] is 1"),
        ({**PREPARE, "arguments": [{**SCALAR, "type": "vector"}]}, r"arguments\[0\] is an object"),
        ({**PREPARE, "arguments": [TENSOR, 4]}, r"prepare.arguments\[1\] is 4"),
        ({**PREPARE, "arguments": [{**TENSOR, "shape": [2, "3"]}]}, r"\[0\].shape\[1\] is '3'"),
        ({**PREPARE, "launches": [{**LAUNCH, "type": "x"}]}, r"\[0\] has no field 'type'"),
        ({**PREPARE, "launches": [[]]}, r"prepare.launches\[0\] is an array, not an object"),
        ({**COMPILED, "kernels": [{"name": 5}]}, r"compiled.kernels\[0\].name is 5"),
        ({**COMPILED, "seconds": int("9" * 400)}, "compiled.seconds is 9+"),
        ({**COMPILED, "status": "fine"}, "compiled.status is 'fine'"),
        ({"type": "fork", "environment": {"A": 1}, "spec": ""}, r"environment\['A'\] is 1"),
        (
            {"type": "load", "kind": "python", "path": [], "parameters": [["x"]]},
            r"load.parameters\[0\] is an array",
        ),
    ],
)
def test_a_wrong_field_is_named(data: dict[str, Any], error: str) -> None:
    with pytest.raises(WireError, match=error) as caught:
        read(data)
    assert str(caught.value).isascii()


def test_a_whole_number_is_read_as_a_float() -> None:
    message = read(COMPILED)
    assert isinstance(message, messages.Compiled)
    assert isinstance(message.seconds, float)


def test_counts_of_a_finished_batch_may_be_anything() -> None:
    message = read({"type": "finished", "kernels": [1], "copied": "no"})
    assert message == messages.Finished(kernels=[1], copied="no")


def test_faults_are_text() -> None:
    assert json.loads(json.dumps({"fault": FaultCode.CUDA})) == {"fault": "cuda"}


@pytest.mark.parametrize("kind", MESSAGES.values())
def test_answers_of_a_message_are_messages_of_the_runner(kind: type[messages.Message]) -> None:
    assert all(issubclass(MESSAGES[each], messages.Answer) for each in kind.answers)
    assert not (issubclass(kind, messages.Answer) and (kind.answers or kind.descriptors))
    assert "type" not in {field.name for field in fields(kind)}
