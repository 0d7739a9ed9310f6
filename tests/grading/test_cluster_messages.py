"""What a cluster has room for, who may be in it, and what its machines may say."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.judged_files import Shown
from support.samples import result

from harness.commands.cluster import cluster_options, wanted_cluster
from harness.device.base import Device
from harness.errors import Diagnostic, MachineError, NoDeviceError, ProblemError, UsageError
from harness.grading import cluster
from harness.grading.card_wire import Begun, Broken, Done, Phase, Ready, Steps, Unjudged
from harness.grading.cluster import ActorJudge, _is_of, open_cluster
from harness.grading.cluster_connection import on_loopback
from harness.grading.cluster_room import Room, Wanted, room_of
from harness.grading.cluster_wire import Ended, Hello, Package, code_hash, decode, encode
from harness.grading.dispatch import Dispatch
from harness.grading.job import Job, Options, Work
from harness.problem.package import Problem
from harness.progress.progress import NoProgress, Progress
from harness.records.refs import DeviceRef, SolutionRef
from harness.solution.model import Invalid

AUTO = Wanted(address="auto")
H100 = {"CPU": 64.0, "GPU": 8.0, "accelerator_type:H100": 1.0}
A100 = {"CPU": 32.0, "GPU": 2.0, "accelerator_type:A100": 1.0}
HEAD = {"CPU": 0.0, "memory": 1e9}
PLAIN = {"CPU": 5.0}


def test_one_judge_for_each_gpu_with_its_share_of_processors() -> None:
    assert room_of([HEAD, H100, H100], "auto", AUTO) == Room(True, "H100", 8, 16)
    assert room_of([{"CPU": 4.0, "GPU": 1.0}], "cuda", AUTO) == Room(True, None, 4, 1)
    assert room_of([{"CPU": 256.0, "GPU": 1.0}], "cuda", AUTO).cpus == 16


def test_without_gpus_so_many_processors_make_a_judge() -> None:
    assert room_of([HEAD, PLAIN, {"CPU": 1.0}], "auto", AUTO) == Room(False, None, 1, 3)
    assert room_of([H100], "cpu", AUTO) == Room(False, None, 2, 32)
    assert room_of([PLAIN], "auto", replace(AUTO, judges=9)).judges == 9
    with pytest.raises(NoDeviceError, match="no node has a processor"):
        room_of([HEAD], "auto", AUTO)


@pytest.mark.parametrize("named", ["H100", "h100", "NVIDIA H100 80GB HBM3"])
def test_a_kind_of_gpu_is_named_by_ray_or_as_boards_do(named: str) -> None:
    if " " in named:
        pytest.importorskip("ray")
    assert room_of([H100, A100], "auto", replace(AUTO, gpu=named)) == Room(True, "H100", 8, 8)


def test_of_several_kinds_one_is_named() -> None:
    with pytest.raises(UsageError, match="--gpu one of A100, H100"):
        room_of([H100, A100], "auto", AUTO)
    with pytest.raises(UsageError, match="--gpu B200: there is A100, H100"):
        room_of([H100, A100], "auto", replace(AUTO, gpu="B200"))
    # What an autoscaler brings is not there yet.
    assert room_of([HEAD], "auto", replace(AUTO, gpu="B200", judges=4)) == Room(True, "B200", 1, 4)
    with pytest.raises(NoDeviceError, match="--judges says how many"):
        room_of([HEAD, PLAIN], "cuda", AUTO)
    with pytest.raises(UsageError, match="leave one away"):
        room_of([H100], "cpu", replace(AUTO, gpu="H100"))


@pytest.mark.parametrize(
    ("addresses", "alone"),
    [
        (["127.0.0.1", "127.9.9.9", "::1", "localhost"], True),
        (["127.0.0.1", "10.0.0.7"], False),
        (["0.0.0.0"], False),
        (["head.example"], False),
        (["127.0.0.1.example"], False),
    ],
)
def test_what_is_on_loopback(addresses: list[str], alone: bool) -> None:
    assert on_loopback(addresses) is alone


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MachineError, match=r"pip install 'kernel-harness\[cluster\]'"):
        open_cluster("auto", AUTO, NoProgress(), print)


@pytest.mark.parametrize("address", ["10.0.0.7:6379", "ray://head:10001", "[2001:db8::1]:6379"])
def test_beyond_this_machine_a_token_is_required_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("connected"))
    with pytest.raises(MachineError, match="RAY_AUTH_MODE=token"):
        open_cluster("auto", replace(AUTO, address=address), NoProgress(), print)


MESSAGES = [
    Ready(DeviceRef(kind="cuda", name="NVIDIA H100")),
    Phase("time", 3),
    Phase("build", None),
    Steps(2, "33 %"),
    Begun(7),
    Done(7, result()),
    Unjudged(3, MachineError("no memory"), of_problem=False),
    Broken(MachineError("no context"), final=False),
    Ended("its judge was killed by SIGKILL"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_what_is_said_arrives(message: object) -> None:
    again = decode(encode(message))
    assert type(again) is type(message)
    assert encode(again) == encode(message)


def test_errors_arrive_with_their_places_and_end_no_other_machines_work() -> None:
    mistakes = ProblemError([Diagnostic(Path("problem.md"), 3, "shape", "no")])
    again = decode(encode(Unjudged(1, mistakes, of_problem=True)))
    assert isinstance(again, Unjudged)
    assert isinstance(again.error, ProblemError)
    assert again.error.diagnostics == mistakes.diagnostics
    there = decode(encode(Broken(NoDeviceError("no GPU"), final=True)))
    assert isinstance(there, Broken)
    assert not there.final


DONE = json.loads(encode(Done(7, result())))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"says": "shell"}',
        b'{"says": "steps", "steps": -1, "note": ""}',
        b'{"says": "steps", "steps": "1", "note": ""}',
        b'{"says": "phase", "name": "a", "total": null, "more": 1}',
        json.dumps({**DONE, "result": "{}"}).encode(),
        json.dumps({**DONE, "result": DONE["result"].replace('"ACCEPTED"', '"WON"')}).encode(),
        json.dumps({**DONE, "number": None}).encode(),
        b'{"says": "broken", "error": {"kind": "SystemExit", "text": "", "diagnostics": []}}',
        b'{"says": "broken", "error": {"kind": "ProblemError", "text": "", "diagnostics": [[1]]}}',
        "text",
        None,
    ],
)
def test_what_is_no_message_is_refused(said: object) -> None:
    with pytest.raises(ValueError, match=r"no message|verdict|schema"):
        decode(said)


def test_a_result_is_of_what_was_asked(shift: Problem) -> None:
    job = Job(path="a.cu", solution=Invalid("none"), problem=shift)
    work, device = Work(job, Options()), DeviceRef(kind="cuda", name="H100")
    about = SolutionRef(author="", name="", language="", hash="", path="a.cu")
    fields: dict[str, Any] = {
        "problem": shift.slug,
        "problem_hash": shift.hash,
        "device": device,
        "language": "",
    }
    right = result(**fields, solution=about)
    assert _is_of(right, work, device)
    others: list[Mapping[str, object]] = [
        {"problem": "other"},
        {"problem_hash": "1" * 64},
        {"device": DeviceRef(kind="cuda", name="B200")},
        {"solution": about.model_copy(update={"path": "b.cu"})},
        {"dtype": "int8"},
        {"origin": "a friend"},
    ]
    for change in others:
        assert not _is_of(result(**{**fields, "solution": about, **change}), work, device)
    assert not _is_of(right, replace(work, options=Options(dtype="float16")), device)


class Counted:
    """An errand whose text is a number."""

    def run(self, device: Device, progress: Progress) -> str:
        return "3"

    def read(self, said: str) -> int:
        return int(said)


def test_an_errand_is_answered_once_in_words_of_its_own(shift: Problem) -> None:
    judge = object.__new__(ActorJudge)
    work = Work(Job(path="a.cu", solution=Invalid("none"), problem=shift), Options())
    judge._asked = {0: work, 1: Counted(), 2: Counted(), 3: Counted()}
    assert judge._checked(decode(encode(Done(1, "3")))) == Done(1, 3)
    for lie in (Done(1, "3"), Done(0, "3"), Done(2, result()), Done(3, "none"), Done(9, "3")):
        with pytest.raises(ValueError, match=r"nobody asked|invalid literal"):
            judge._checked(lie)
    assert judge._checked(Steps(1, "on")) == Steps(1, "on")


def test_a_package_arrives_whole_or_not_at_all(shift: Problem, tmp_path: Path) -> None:
    sent = Package.of(shift)
    there = sent.unpacked(tmp_path)
    assert there.hash == shift.hash
    assert there.folder == tmp_path / shift.hash
    assert set(there.baselines) == set(shift.baselines)
    name = next(iter(sent.files))
    changed = replace(sent, files={**sent.files, name: sent.files[name] + b"\n"})
    with pytest.raises(MachineError, match="changed while they were read"):
        changed.unpacked(tmp_path / "other")


def test_the_code_is_known_by_its_hash() -> None:
    assert code_hash() == code_hash()
    assert len(code_hash()) == 64
    with pytest.raises(ValueError, match="validation"):
        Hello.model_validate_json(b'{"node": "1"}')


def test_a_lost_machine_counts_for_its_job_and_not_against_its_place() -> None:
    jobs = Dispatch(3, [0, 1], 1)
    for _ in range(4):
        jobs.give(0)
        jobs.fail(0, "node gone", at_work=False, lost=True)
    assert jobs.live == [0, 1]
    assert jobs.give(0) == [0]
    assert jobs.fail(0, "node gone", lost=True) is None
    assert jobs.give(1) == [0]
    given_up = jobs.fail(1, "node gone", lost=True)
    assert given_up is not None
    assert given_up[0] == 0
    assert jobs.live == [0, 1]
    jobs.again(0)
    assert 0 in (*jobs.give(0), *jobs.give(1))


def test_options_that_go_with_a_cluster_need_one() -> None:
    import click
    from click.testing import CliRunner

    @click.command()
    @cluster_options
    def command() -> None:
        click.echo(wanted_cluster())

    run = CliRunner().invoke
    assert run(command, ["--cluster", "auto", "--gpu", "H100", "--judges", "2"]).output == "auto\n"
    for alone in (["--gpu", "H100"], ["--judges", "2"]):
        refused = run(command, alone)
        assert isinstance(refused.exception, UsageError)
        assert "goes with --cluster" in str(refused.exception)


def test_the_display_of_many_judges_is_that_of_the_run() -> None:
    shown = Shown()
    lines = cluster._Overall(shown)
    lines.beside("GPU 3").phase("time")
    lines.overall(1, 2)
    assert shown.told == ["1/2"]
