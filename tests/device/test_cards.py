"""Which card is meant, and which files stand for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.made_up_machine import write

from harness.device import cards as module
from harness.device.cards import (
    Card,
    card_variables,
    choose_card,
    choose_cards,
    device_nodes,
    driver_cards,
    visible_cards,
)
from harness.errors import MachineError, UsageError

CARDS = [
    Card(0, "GPU-11aa0000-0000-0000-0000-000000000000", "0000:10:00.0", "NVIDIA H200"),
    Card(1, "GPU-11bb0000-0000-0000-0000-000000000000", "0000:11:00.0", "NVIDIA H200"),
    Card(2, "MIG-22cc0000-0000-0000-0000-000000000000", "0000:12:00.0", "NVIDIA H200 MIG 1g.18gb"),
]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("0", 0),
        (" 1 ", 1),
        ("GPU-11bb0000-0000-0000-0000-000000000000", 1),
        ("gpu-11A", 0),
        ("11bb", 1),
        ("MIG-22", 2),
        ("22cc", 2),
    ],
)
def test_a_card_is_its_number_or_the_beginning_of_its_uuid(wanted: str, number: int) -> None:
    assert choose_card(wanted, CARDS) == CARDS[number]


@pytest.mark.parametrize(
    "wanted", ["3", "-1", "", "GPU-", "gpu", "MIG-11", "x\x1b[1m", "9" * 40, "١"]
)
def test_another_name_is_refused_with_what_there_is(wanted: str) -> None:
    with pytest.raises(UsageError, match=r"no such card; there are 0 \(GPU-11aa") as raised:
        choose_card(wanted, CARDS)
    assert "\x1b" not in str(raised.value)


def test_a_name_of_several_is_refused() -> None:
    with pytest.raises(UsageError, match="several cards are called so"):
        choose_card("GPU-11", CARDS)


def test_a_list_names_each_card_once() -> None:
    assert choose_cards("all", CARDS) == CARDS
    assert choose_cards("1,0,11bb", CARDS) == [CARDS[1], CARDS[0]]
    for wanted in ("", "0,", "0,,1", "0-1", "5"):
        with pytest.raises(UsageError):
            choose_cards(wanted, CARDS)


def _dev(system: Path, *names: str) -> Path:
    for name in names:
        write(system / "dev" / name, "")
    return system


SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
OTHERS = ("nvidia-modeset", "nvidia-nvswitch0", "nvidia-nvswitchctl")


def _machine(system: Path, minors: dict[str, int]) -> Path:
    _dev(system, *SHARED, *OTHERS, *(f"nvidia{minor}" for minor in minors.values()))
    (system / "dev/nvidia-caps").mkdir()
    for bus, minor in minors.items():
        write(
            system / f"proc/driver/nvidia/gpus/{bus}/information",
            f"Model: \t NVIDIA H200\nGPU UUID: \t GPU-1\nDevice Minor: \t {minor}",
        )
    return system


def test_only_the_cards_own_node_is_there_with_the_drivers(tmp_path: Path) -> None:
    system = _machine(tmp_path, {"0000:10:00.0": 1, "0000:11:00.0": 0, "0000:12:00.0": 11})
    shared = tuple(f"/dev/{name}" for name in SHARED)
    assert device_nodes("0000:10:00.0", "NVIDIA H200", system) == ("/dev/nvidia1", *shared)
    assert device_nodes("0000:12:00.0", "NVIDIA H200", system) == ("/dev/nvidia11", *shared)


def test_a_container_shows_the_nodes_that_it_has(tmp_path: Path) -> None:
    system = _dev(tmp_path, "nvidiactl", "nvidia-uvm", "nvidia3")
    write(system / "proc/driver/nvidia/gpus/0000:10:00.0/information", "Device Minor: \t 3")
    nodes = device_nodes("0000:10:00.0", "NVIDIA H200", system)
    assert nodes == ("/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm")


@pytest.mark.parametrize("text", ["", "Device Minor:", "Device Minor: 7"])
def test_where_its_own_is_not_known_all_cards_are_shown_and_no_switch(
    tmp_path: Path, text: str
) -> None:
    system = _dev(tmp_path, *SHARED, *OTHERS, "nvidia0", "nvidia1")
    write(system / "proc/driver/nvidia/gpus/0000:10:00.0/information", text)
    nodes = {Path(node).name for node in device_nodes("0000:10:00.0", "NVIDIA H200", system)}
    assert nodes == {*SHARED, "nvidia0", "nvidia1"}


def test_a_part_of_a_card_keeps_what_it_had(tmp_path: Path) -> None:
    system = _machine(tmp_path, {"0000:12:00.0": 0})
    nodes = {Path(node).name for node in device_nodes("0000:12:00.0", CARDS[2].name, system)}
    assert nodes == {*SHARED, *OTHERS, "nvidia0", "nvidia-caps"}
    assert card_variables(CARDS[2].uuid, CARDS[2].name) == {}


@pytest.mark.parametrize("uuid", [CARDS[0].uuid, CARDS[0].uuid.removeprefix("GPU-")])
def test_cuda_shows_a_runner_the_card_alone(uuid: str) -> None:
    assert card_variables(uuid, "NVIDIA H200") == {"CUDA_VISIBLE_DEVICES": CARDS[0].uuid}


class Driver:
    """libcuda of a machine with two cards, one of which is in parts."""

    def __init__(self, *, status: int = 0, broken: int = -1) -> None:
        names = [b"NVIDIA H200", b"NVIDIA H200 MIG 1g.18gb"]
        self.cuInit = lambda _: status
        self.cuDeviceGetCount = _writes(lambda: 2)
        self.cuDeviceGet = lambda out, number: _set(out, number)
        self.cuDeviceGetName = lambda out, _, device: _text(out, names[device.value])
        self.cuDeviceGetPCIBusId = lambda out, _, device: (
            int(device.value == broken) or _text(out, b"0000:1%X:00.0" % (device.value + 10))
        )
        self.cuDeviceGetUuid_v2 = self.cuDeviceGetUuid = lambda out, device: _raw(
            out, bytes([device.value + 1] * 16)
        )
        self.cuDeviceGetAttribute = lambda out, attribute, device: (
            device.value or _set(out, {75: 9, 76: 0}[attribute])
        )


def _writes(value: Callable[[], int]) -> Callable[[Any], int]:
    return lambda out: _set(out, value())


def _set(out: Any, value: int) -> int:
    out._obj.value = value
    return 0


def _text(out: Any, text: bytes) -> int:
    out.value = text
    return 0


def _raw(out: Any, data: bytes) -> int:
    out._obj[:] = list(data)
    return 0


def test_the_driver_is_asked_for_its_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.ctypes, "CDLL", lambda _: Driver())
    assert driver_cards() == [
        Card(0, "GPU-01010101-0101-0101-0101-010101010101", "0000:1a:00.0", "NVIDIA H200", "sm_90"),
        Card(1, "MIG-02020202-0202-0202-0202-020202020202", "0000:1b:00.0", CARDS[2].name),
    ]
    monkeypatch.setattr(module.ctypes, "CDLL", lambda _: Driver(broken=0))
    assert [card.number for card in driver_cards()] == [1]
    monkeypatch.setattr(module.ctypes, "CDLL", lambda _: Driver(status=100))
    assert driver_cards() == []


def test_another_process_asks_so_that_this_one_can_still_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = (
        "import json, os; print(json.dumps([[0, os.environ.get('CUDA_DEVICE_ORDER'), '', '']]))"
    )
    monkeypatch.setattr(module, "_LIST", (module._LIST[0], "-c", program))
    assert visible_cards({})[0].uuid == "PCI_BUS_ID"  # as nvidia-smi numbers them
    assert visible_cards({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})[0].uuid == "FASTEST_FIRST"
    assert visible_cards({"CUDA_VISIBLE_DEVICES": "1"})[0].uuid is None  # as whoever set it does


@pytest.mark.parametrize("program", ["raise SystemExit(1)", "print('x')", "print('[1]')"])
def test_a_driver_that_does_not_answer_is_the_machines_fault(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(module, "_LIST", (module._LIST[0], "-c", program))
    with pytest.raises(MachineError, match="does not say which cards"):
        visible_cards()


def test_without_a_driver_there_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> None:
        raise OSError

    monkeypatch.setattr(module.ctypes, "CDLL", none)
    assert driver_cards() == []


def test_the_true_driver_is_asked_as_a_program() -> None:
    assert visible_cards() == driver_cards()
