"""The cards that CUDA shows to this process, and the files and variables that stand for one.

Asked of the driver by ctypes: no torch, no context on a card.
"""

import contextlib
import ctypes
import json
import os
import re
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.device.present import NO_GPU
from harness.errors import MachineError, NoDeviceError, UsageError
from harness.sandbox import python_command
from harness.text.plain import plain

_ASK_S = 120.0
"""A driver that has to wake eight cards takes half a minute."""
_LIST = python_command("from harness.device.cards import main; main()")
_OF_ALL = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""Nodes of the driver, which belong to no card."""
_TEXT_BYTES = 256
_MAJOR, _MINOR = 75, 76
"""The driver's attributes that are a card's compute capability."""


class Card(NamedTuple):
    """One card, or a part of one (MIG)."""

    number: int
    """As this process counts them."""
    uuid: str
    """Such as ``GPU-…``, or ``MIG-…`` of a part."""
    bus: str
    """The PCI address, as the system writes it."""
    name: str
    """As the card calls itself."""
    architecture: str = ""
    """Target of the compilers, such as ``sm_90``; empty where that is not known."""


def visible_cards(environment: Mapping[str, str] = os.environ) -> list[Card]:
    """The cards that CUDA shows, in the order of nvidia-smi, or of ``CUDA_VISIBLE_DEVICES``.

    Asked in another process: which cards this one shall use can still be chosen afterwards.

    Raises:
        MachineError: the driver does not answer.
    """
    order = {} if "CUDA_VISIBLE_DEVICES" in environment else {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    try:
        done = subprocess.run(
            _LIST,
            env={**order, **environment},
            capture_output=True,
            text=True,
            check=True,
            timeout=_ASK_S,
            stdin=subprocess.DEVNULL,
        )
        return [Card(*each) for each in json.loads(done.stdout)]
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as error:
        raise MachineError(f"the CUDA driver does not say which cards there are: {error}") from None


def present_cards(environment: Mapping[str, str] = os.environ) -> list[Card]:
    """As :func:`visible_cards`, of which there is at least one.

    Raises:
        NoDeviceError: there is none.
        MachineError: the driver does not answer.
    """
    if not (found := visible_cards(environment)):
        raise NoDeviceError(NO_GPU)
    return found


def main() -> None:
    """Print the driver's cards as JSON."""
    print(json.dumps(driver_cards()))  # noqa: T201 - to the process that asks


def driver_cards() -> list[Card]:
    """The cards of the driver in this process; none without one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = []
    for number in range(count.value):
        device = ctypes.c_int(0)
        name, bus = (ctypes.create_string_buffer(_TEXT_BYTES) for _ in range(2))
        raw = (ctypes.c_ubyte * 16)()
        ask_uuid = getattr(driver, "cuDeviceGetUuid_v2", driver.cuDeviceGetUuid)
        if (
            driver.cuDeviceGet(ctypes.byref(device), number)
            or driver.cuDeviceGetName(name, _TEXT_BYTES, device)
            or driver.cuDeviceGetPCIBusId(bus, _TEXT_BYTES, device)
            or ask_uuid(ctypes.byref(raw), device)
        ):
            continue
        called = name.value.decode("utf-8", "replace")
        kind = "MIG" if _is_part(called) else "GPU"
        address = bus.value.decode("ascii", "replace").lower()
        named = f"{kind}-{uuid.UUID(bytes=bytes(raw))}"
        found.append(Card(number, named, address, called, _architecture(driver, device)))
    return found


def _architecture(driver: ctypes.CDLL, device: ctypes.c_int) -> str:
    numbers = []
    for attribute in (_MAJOR, _MINOR):
        number = ctypes.c_int(0)
        if driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device):
            return ""
        numbers.append(str(number.value))
    return "sm_" + "".join(numbers)


def choose_card(wanted: str, cards: Sequence[Card]) -> Card:
    """The one of ``cards`` that ``wanted`` names: its number, or the beginning of its UUID.

    Raises:
        UsageError: there is none, or there are several; the message says what there is.
    """
    wanted = wanted.strip()
    if re.fullmatch(r"[0-9]{1,9}", wanted, re.ASCII):
        found = [card for card in cards if card.number == int(wanted)]
    else:
        found = [card for card in cards if _begins(card.uuid, wanted)]
    if len(found) == 1:
        return found[0]
    what = "several cards are called so" if found else "there is no such card"
    there = ", ".join(f"{card.number} ({card.uuid}, {plain(card.name, 40)})" for card in cards)
    raise UsageError(f"card {plain(wanted, 60) or 'without a name'}: {what}; there are {there}")


def choose_cards(wanted: str, cards: Sequence[Card]) -> list[Card]:
    """The ``cards`` that a list such as ``0,2`` names, each once, or all of them for ``all``.

    Raises:
        UsageError: one of them is not there.
    """
    if wanted.strip().lower() == "all":
        return list(cards)
    return list(dict.fromkeys(choose_card(part, cards) for part in wanted.split(",")))


def _begins(uuid_: str, wanted: str) -> bool:
    """Whether a UUID begins so, with or without its prefix."""
    uuid_, wanted = uuid_.lower(), wanted.lower()
    if wanted.startswith(("gpu-", "mig-")):
        return len(wanted) > 4 and uuid_.startswith(wanted)
    return bool(wanted) and uuid_[4:].startswith(wanted)


def opened_as(card: Card) -> tuple[str, dict[str, str]]:
    """What a judge of its own opens, and the environment in which that is ``card`` alone."""
    return "cuda", {"CUDA_VISIBLE_DEVICES": card.uuid}


def card_variables(uuid_: str, name: str) -> dict[str, str]:
    """The environment in which CUDA shows the card with this UUID, prefix or not, and no other.

    Of a part of a card (MIG) nothing: what this process has says which.
    """
    if _is_part(name):
        return {}
    return {"CUDA_VISIBLE_DEVICES": f"GPU-{uuid_.removeprefix('GPU-')}"}


def device_nodes(bus: str, name: str, system: Path = Path("/")) -> tuple[str, ...]:
    """The files in ``/dev`` that the card at ``bus`` needs: its own, and the driver's.

    Of all cards where the driver does not say which is its own, or it is a part of a card (MIG),
    whose rights are files, too. ``system`` is where ``/dev`` and ``/proc`` are.
    """
    dev = system / "dev"
    every = sorted(path.name for path in dev.glob("nvidia*"))
    own = f"nvidia{_minor(bus, system)}"
    if _is_part(name):
        names = every
    elif own in every:
        names = [own, *(each for each in _OF_ALL if each in every)]
    else:
        names = [each for each in every if each in _OF_ALL or re.fullmatch(r"nvidia\d+", each)]
    return tuple(f"/dev/{each}" for each in names)


def _minor(bus: str, system: Path) -> str:
    with contextlib.suppress(OSError):
        file = system / f"proc/driver/nvidia/gpus/{bus}/information"
        if found := re.search(r"^Device Minor:\s*(\d+)", file.read_text(), re.MULTILINE):
            return found[1]
    return ""


def _is_part(name: str) -> bool:
    return "MIG" in name.split()
