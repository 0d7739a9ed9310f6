"""The watch over the card, with a stand-in for NVML whose card does as each test says."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from harness.device.base import ClockReading
from harness.device.monitor import GpuMonitor, unranked_reason
from harness.records.measurement import Conditions, describe_conditions

UUID = "12345678-aaaa-bbbb-cccc-123456789abc"
LONG_S = 30.0


class NVMLError(Exception):
    pass


@dataclass
class Card:
    """A module ``pynvml`` with one card; functions in ``unsupported`` answer with an error."""

    clocks: list[int] = field(default_factory=lambda: [1980])
    memory_clock: int = 2619
    temperature: int = 61
    milliwatts: int = 512_000
    reasons: int = 0
    pids: list[int] = field(default_factory=list)
    unsupported: set[str] = field(default_factory=set)
    readings: int = 0
    opened: int = 0
    asked_for: list[object] = field(default_factory=list)

    NVMLError = NVMLError
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_TEMPERATURE_GPU = 0

    def _answer(self, name: str, value: Any) -> Any:
        if name in self.unsupported:
            raise NVMLError(name)
        return value

    def nvmlInit(self) -> None:  # noqa: N802
        self._answer("nvmlInit", None)
        self.opened += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.opened -= 1

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        self.asked_for.append(uuid)
        self._answer("nvmlDeviceGetHandleByUUID", None)
        return "handle"

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:  # noqa: N802
        self.asked_for.append(index)
        return "handle"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        values: dict[str, Callable[[], Any]] = {
            "nvmlDeviceGetClockInfo": self._clock,
            "nvmlDeviceGetTemperature": lambda: self.temperature,
            "nvmlDeviceGetPowerUsage": lambda: self.milliwatts,
            "nvmlDeviceGetCurrentClocksEventReasons": lambda: self.reasons,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda: self.reasons,
            "nvmlDeviceGetComputeRunningProcesses": lambda: [
                SimpleNamespace(pid=pid) for pid in self.pids
            ],
        }
        if name not in values:
            raise AttributeError(name)

        def ask(handle: str, *which: object) -> Any:
            assert handle == "handle"
            assert self.opened > 0
            if which == (self.NVML_CLOCK_MEM,):
                return self._answer(name, self.memory_clock)
            return self._answer(name, values[name]())

        return ask

    def _clock(self) -> int:
        self.readings += 1
        return self.clocks.pop(0) if len(self.clocks) > 1 else self.clocks[0]


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    card = Card()
    monkeypatch.setitem(sys.modules, "pynvml", card)  # type: ignore[arg-type]
    return card


def replace(conditions: Conditions, **changed: Any) -> Conditions:
    return conditions.model_copy(update=changed)


@pytest.fixture
def child() -> Iterator[int]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def watched() -> Conditions | None:
    """What a reading at the start, one between batches and one at the end tell."""
    with GpuMonitor(UUID, every_s=0.0) as watch:
        watch.read()
    return watch.conditions()


def known() -> Conditions:
    found = watched()
    assert found is not None
    return found


def test_reads_at_the_start_between_and_at_the_end(card: Card) -> None:
    assert known().readings == 3


def test_read_looks_at_the_card_not_too_often(card: Card) -> None:
    with GpuMonitor(UUID, every_s=LONG_S) as watch:
        for _ in range(5):
            watch.read()
    found = watch.conditions()
    assert found is not None
    assert found.readings == 2


def test_readings_are_put_together(card: Card) -> None:
    card.clocks = [345, 1900, 1755, 1980, 300]  # the first and the last not at work
    with GpuMonitor(UUID, every_s=0.0) as watch:
        watch.read()
        card.temperature, card.milliwatts, card.reasons = 70, 600_500, 0x4
        watch.read()
        card.temperature, card.milliwatts, card.reasons = 50, 100_000, 0
        watch.read()
    found = watch.conditions()
    assert found == Conditions(
        clock_mhz=(1755, 1980),
        temperature_c=70,
        power_w=600.5,
        throttle=("power cap",),
        other_processes=0,
        readings=5,
    )


def test_readings_add_up_over_two_entries(card: Card) -> None:
    watch = GpuMonitor(UUID, every_s=LONG_S)
    for _ in range(2):
        with watch:
            pass
    found = watch.conditions()
    assert found is not None
    assert found.readings == 4
    assert card.opened == 0


def test_nvml_is_shut_down_at_the_end(card: Card) -> None:
    with GpuMonitor(UUID) as watch:
        assert card.opened == 1
    watch.read()
    assert card.opened == 0
    assert card.readings == 2


@pytest.mark.parametrize(
    ("device", "asked"),
    [(UUID, f"GPU-{UUID}"), (f"GPU-{UUID}", f"GPU-{UUID}"), ("MIG-1", "MIG-1"), (3, 3)],
)
def test_the_card_is_found_by_uuid_or_index(card: Card, device: str | int, asked: object) -> None:
    with GpuMonitor(device):
        pass
    assert card.asked_for == [asked]


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x2, ()),
        (0x4, ("power cap",)),
        (0x8, ("hw slowdown",)),
        (0x10, ("sync boost",)),
        (0x20, ("thermal",)),
        (0x40, ("thermal",)),
        (0x80, ("power brake",)),
        (0x100, ()),
        (0x200, ("board limit",)),
        (0x400, ("reliability",)),
        (0x2C, ("hw slowdown", "power cap", "thermal")),
    ],
)
def test_every_bit_has_its_name(card: Card, bits: int, names: tuple[str, ...]) -> None:
    card.reasons = bits
    assert known().throttle == names


def test_bits_are_those_of_the_real_module() -> None:
    nvml = pytest.importorskip("pynvml")
    for name, bit in {
        "GpuIdle": 0x1,
        "ApplicationsClocksSetting": 0x2,
        "SwPowerCap": 0x4,
        "HwSlowdown": 0x8,
        "SyncBoost": 0x10,
        "SwThermalSlowdown": 0x20,
        "HwThermalSlowdown": 0x40,
        "HwPowerBrakeSlowdown": 0x80,
        "DisplayClockSetting": 0x100,
    }.items():
        assert getattr(nvml, f"nvmlClocksThrottleReason{name}") == bit


def test_functions_are_those_of_the_real_module() -> None:
    nvml = pytest.importorskip("pynvml")
    assert issubclass(nvml.NVMLError, Exception)
    assert (nvml.NVML_CLOCK_SM, nvml.NVML_CLOCK_MEM, nvml.NVML_TEMPERATURE_GPU) == (1, 2, 0)
    for name in (
        "ClockInfo",
        "Temperature",
        "PowerUsage",
        "CurrentClocksEventReasons",
        "CurrentClocksThrottleReasons",
        "ComputeRunningProcesses",
        "HandleByUUID",
        "HandleByIndex",
    ):
        assert callable(getattr(nvml, f"nvmlDeviceGet{name}"))


def test_an_older_driver_knows_the_old_name(card: Card) -> None:
    card.unsupported = {"nvmlDeviceGetCurrentClocksEventReasons"}
    card.reasons = 0x80
    assert known().throttle == ("power brake",)


def test_the_clock_of_an_idle_card_says_nothing(card: Card) -> None:
    card.clocks, card.reasons = [345], 0x1
    with GpuMonitor(UUID, every_s=0.0) as watch:
        watch.read()
        found = watch.conditions()
        assert found is not None
        assert found.clock_mhz == (0, 0)
        card.clocks, card.reasons = [1980], 0x4
        watch.read()
    found = watch.conditions()
    assert found is not None
    assert found.clock_mhz == (1980, 1980)


class TestClocks:
    @pytest.mark.parametrize(
        ("reasons", "capped"), [(0x0, False), (0x2, False), (0x4, True), (0x24, True)]
    )
    def test_clocks_of_a_card_at_work(self, card: Card, reasons: int, *, capped: bool) -> None:
        card.reasons = reasons
        with GpuMonitor(UUID) as watch:
            found = watch.clocks()
        assert found == ClockReading(sm_mhz=1980, memory_mhz=2619, capped=capped)

    def test_an_idle_card_tells_nothing(self, card: Card) -> None:
        card.reasons = 0x1
        with GpuMonitor(UUID) as watch:
            assert watch.clocks() is None

    @pytest.mark.parametrize("function", ["ClockInfo", "CurrentClocksEventReasons"])
    def test_what_is_not_supported_is_not_known(self, card: Card, function: str) -> None:
        card.unsupported = {f"nvmlDeviceGet{function}"}
        with GpuMonitor(UUID) as watch:
            assert (watch.clocks() is None) == (function == "ClockInfo")

    def test_there_is_nothing_to_ask_without_a_card_or_afterwards(self, card: Card) -> None:
        with GpuMonitor(UUID) as watch:
            pass
        assert watch.clocks() is None
        card.unsupported = {"nvmlInit"}
        with GpuMonitor(UUID) as watch:
            assert watch.clocks() is None

    def test_they_are_no_reading_of_conditions(self, card: Card) -> None:
        with GpuMonitor(UUID) as watch:
            card.clocks = [1000]
            watch.clocks()
            card.clocks = [1980]
        found = watch.conditions()
        assert found is not None
        assert (found.readings, found.clock_mhz) == (2, (0, 0))


@pytest.mark.parametrize(
    ("function", "changed"),
    [
        ("ClockInfo", {"clock_mhz": (0, 0)}),
        ("Temperature", {"temperature_c": 0}),
        ("PowerUsage", {"power_w": 0.0}),
        ("ComputeRunningProcesses", {}),
    ],
)
def test_unsupported_queries_are_left_out(
    card: Card, function: str, changed: dict[str, Any]
) -> None:
    whole = known()
    card.unsupported = {f"nvmlDeviceGet{function}"}
    assert known() == replace(whole, **changed)


def test_conditions_without_throttle_reasons(card: Card) -> None:
    card.reasons = 0x8
    card.unsupported = {
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons",
    }
    assert known().throttle == ()
    assert known().clock_mhz == (1980, 1980)


def test_a_card_that_answers_nothing_gives_no_conditions(card: Card) -> None:
    card.unsupported = {
        f"nvmlDeviceGet{name}"
        for name in (
            "ClockInfo",
            "Temperature",
            "PowerUsage",
            "CurrentClocksEventReasons",
            "CurrentClocksThrottleReasons",
            "ComputeRunningProcesses",
        )
    }
    assert watched() is None
    assert card.opened == 0


@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_no_card_or_driver_gives_no_conditions(card: Card, function: str) -> None:
    card.unsupported = {function}
    assert watched() is None
    assert card.opened == 0


def test_no_nvml_gives_no_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # what makes an import fail
    assert watched() is None


def test_our_own_processes_are_not_counted(card: Card, child: int) -> None:
    card.pids = [os.getpid(), child]
    assert known().other_processes == 0


def test_another_program_is_counted(card: Card, child: int) -> None:
    card.pids = [os.getpid(), child, 1]
    assert known().other_processes == 1


def test_the_largest_number_of_other_processes_counts(card: Card) -> None:
    card.pids = [os.getpid()]
    with GpuMonitor(UUID, every_s=0.0) as watch:
        card.pids = [os.getpid(), 1]
        watch.read()
    card.pids = [os.getpid()]
    with watch:
        pass
    found = watch.conditions()
    assert found is not None
    assert found.other_processes == 1


def test_process_ids_of_another_namespace_are_not_counted(card: Card) -> None:
    card.pids = [1]  # no process of ours is listed, so this 1 need not be the 1 of here
    assert known().other_processes == 0


def test_a_process_that_has_ended_is_not_counted(card: Card) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    card.pids = [os.getpid(), gone.pid]
    assert known().other_processes == 0


def test_one_of_ours_that_lost_its_parent_stays_ours(card: Card) -> None:
    # The shell starts a process in the background and ends when it reads a line.
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 >/dev/null & echo $!; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.stdout is not None
        orphan = int(shell.stdout.readline())
        card.pids = [os.getpid(), orphan]
        with GpuMonitor(UUID, every_s=0.0) as watch:
            watch.read()
            shell.communicate("\n")
            watch.read()
    found = watch.conditions()
    assert found is not None
    try:
        assert found.other_processes == 0
        assert known().other_processes == 1  # a watch that never saw it with its parent cannot know
    finally:
        os.kill(orphan, 9)


GOOD = Conditions(
    clock_mhz=(1755, 1980),
    temperature_c=61,
    power_w=512.3,
    throttle=("power cap",),
    other_processes=0,
    readings=100,
)


def test_a_power_cap_is_ranked() -> None:
    assert unranked_reason(GOOD) == ""


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"throttle": ("hw slowdown",)}, "hardware slowed it down"),
        ({"throttle": ("power cap", "thermal")}, "hot"),
        ({"throttle": ("power brake",)}, "power supply"),
        ({"other_processes": 1}, "1 other process used the card"),
        ({"other_processes": 2}, "2 other processes used the card"),
        ({"clock_mhz": (990, 1980)}, "fell to 50 % of its highest, under 70 %"),
    ],
)
def test_unranked_conditions_have_a_reason(changed: dict[str, Any], words: str) -> None:
    conditions = replace(GOOD, **changed)
    reason = unranked_reason(conditions)
    assert words in reason
    assert f"submit again (seen: {describe_conditions(conditions)})" in reason


def test_unranked_reason_names_all_reasons() -> None:
    conditions = replace(GOOD, other_processes=3, clock_mhz=(100, 1980), throttle=("thermal",))
    reason = unranked_reason(conditions)
    assert "hot" in reason and "3 other processes" in reason and "SM clock" in reason


@pytest.mark.parametrize("clock_mhz", [(0, 0), (1386, 1980), (1980, 1980)])
def test_a_steady_or_unknown_clock_is_ranked(clock_mhz: tuple[int, int]) -> None:
    assert unranked_reason(replace(GOOD, clock_mhz=clock_mhz)) == ""


def test_describe_conditions_in_one_line() -> None:
    assert describe_conditions(GOOD) == "1755–1980 MHz, 61 °C, 512 W, power cap"
    crowded = replace(GOOD, clock_mhz=(1980, 1980), throttle=(), other_processes=1)
    assert describe_conditions(crowded) == "1980 MHz, 61 °C, 512 W, 1 other process"


def test_describe_conditions_leaves_out_the_unknown() -> None:
    unknown = Conditions(
        clock_mhz=(0, 0), temperature_c=0, power_w=0.0, throttle=(), other_processes=0, readings=1
    )
    assert describe_conditions(unknown) == ""
    assert unranked_reason(unknown) == ""
