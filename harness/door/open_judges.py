"""Where the judge's process behind the door grades: one card, several, or a cluster's."""

import os
from collections.abc import Callable, Mapping

from harness.commands.common import require_device
from harness.device.cards import present_cards
from harness.door.messages import Setup
from harness.errors import NoDeviceError
from harness.grading.cards import Cards
from harness.grading.executor import InProcess, open_executor
from harness.progress.progress import NoProgress


def open_judges(setup: Setup, told: Callable[[str], None]) -> InProcess | Cards:
    """What grades as ``setup`` says; ``told`` is called with what becomes of several judges.

    Raises:
        UsageError: there are no such cards, or not of one kind.
        NoDeviceError: there is no such card, or none at all.
        MachineError: there is no such cluster, or the machine lacks something.
    """
    if setup.cluster is not None:
        from harness.grading.cluster import open_cluster
        from harness.grading.cluster_room import Wanted

        wanted = Wanted(
            address=setup.cluster,
            gpu=setup.gpu,
            judges=setup.judges,
            require_sandbox=setup.require_sandbox,
        )
        return open_cluster(setup.device, wanted, NoProgress(), told)
    if setup.cards is not None:
        from harness.grading.host_cards import open_host_cards

        there = present_cards(_as_seen(setup.cards))
        return open_host_cards(setup.cards, there, NoProgress(), told=told, recorded=True)
    if setup.card is not None:
        _use_card(setup.card)
    require_device(setup.device)
    return open_executor(setup.device)


def _as_seen(cards: str) -> Mapping[str, str]:
    """The environment in which cards are looked for: those that are named may be hidden here."""
    if cards.strip().lower() == "all":
        return os.environ
    hiding = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
    return {name: value for name, value in os.environ.items() if name not in hiding}


def _use_card(wanted: str) -> None:
    """Let this process, before it asks CUDA for anything, see one card, whatever its caller sees.

    Raises:
        NoDeviceError: there is none of that number or UUID.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
        by_number = wanted.isdecimal()
        handle = (
            pynvml.nvmlDeviceGetHandleByIndex(int(wanted))
            if by_number
            else pynvml.nvmlDeviceGetHandleByUUID(wanted)
        )
        os.environ["CUDA_VISIBLE_DEVICES"] = pynvml.nvmlDeviceGetUUID(handle)
    except pynvml.NVMLError as error:
        raise NoDeviceError(f"card {wanted!r}: {error}; nvidia-smi -L lists them") from error
