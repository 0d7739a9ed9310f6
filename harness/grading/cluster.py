"""Judges in a Ray cluster: one actor on each GPU, or on so many processors where there is none.

To the list that feeds them (:class:`harness.grading.cards.Cards`) such a judge is like one on a
card of this host. Ray finds it a machine; which file goes where is decided here.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from queue import Empty, SimpleQueue
from typing import cast

from pydantic import ValidationError

from harness.errors import MachineError
from harness.grading.card_wire import (
    Begun,
    BuildAhead,
    Done,
    Order,
    Ready,
    Setup,
    TravellingErrand,
    Unjudged,
)
from harness.grading.cards import Cards
from harness.grading.cluster_connection import (
    UNPROTECTED,
    connect,
    gist,
    on_loopback,
    ray_module,
    require_token,
)
from harness.grading.cluster_room import Room, Wanted, room_of
from harness.grading.cluster_wire import Ended, Hello, Message, Package, code_hash, decode
from harness.grading.give_up import GiveUp
from harness.grading.job import Work
from harness.grading.solution_refs import solution_ref
from harness.problem.package import Problem
from harness.progress.progress import Progress
from harness.records.refs import DeviceRef
from harness.records.result import Result
from harness.solution.model import Solution
from harness.text.plain import plain

_LINES = 16
"""Judges that have a line of their own in the display, at most."""
_ENDS_S = 20.0
"""The time that a judge with nothing more to do may take to end."""


def open_cluster(
    device: str, wanted: Wanted, progress: Progress, told: Callable[[str], None]
) -> Cards:
    """Judges in a cluster, for ``auto``, ``cuda`` or ``cpu``; ends the connection with them.

    Raises:
        UsageError: there is no such kind of GPU, or one of several has to be named.
        NoDeviceError: a GPU is asked for, and the cluster has none.
        MachineError: there is no Ray, no cluster, or one that is open to everybody.
    """
    ray = ray_module()
    connect(wanted.address)
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        addresses = [str(node["NodeManagerAddress"]) for node in nodes]
        safe = on_loopback(addresses)
        if not safe:
            require_token()
        room = room_of([node["Resources"] for node in nodes], device, wanted)
        name = "GPU" if room.gpu else "place"
        lines = progress if room.judges <= _LINES else _Overall(progress)
        places = [
            ClusterPlace(f"{name} {n}", "cuda" if room.gpu else "cpu", room, wanted, token=not safe)
            for n in range(room.judges)
        ]
        builders = room.cpus * room.judges
        return Cards(
            places,
            None,
            lines,
            told=told,
            builders=builders,
            recorded=True,
            closed=ray.shutdown,
        )
    except BaseException:
        ray.shutdown()
        raise


class _Overall(Progress):
    """The line of the whole run, and none of each judge."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown

    def overall(self, done: int, total: int, note: str = "") -> None:
        """As of what shows it."""
        self._shown.overall(done, total, note)

    def finish(self) -> None:
        """As of what shows it."""
        self._shown.finish()


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """Room for one judge somewhere in the cluster; a :class:`~harness.grading.places.Place`."""

    name: str
    device: str
    room: Room
    wanted: Wanted
    token: bool
    """Whether every node must know its cluster's token."""

    def start(self, setup: Setup) -> "ActorJudge":
        """A judge, wherever Ray finds room for it."""
        return ActorJudge(self, setup)


class ActorJudge:
    """One judge in the cluster; a :class:`~harness.grading.places.Judge`.

    A thread says and hears everything, one exchange after the other. What is heard is checked
    before anybody sees it.
    """

    def __init__(self, place: ClusterPlace, setup: Setup) -> None:
        from harness.grading.cluster_actor import Relay

        ray, room = ray_module(), place.room
        self._ray, self._place, self._setup = ray, place, setup
        self.link, self._heard = Pipe(duplex=False)
        self.placed = False
        self.lost = False
        self._why = "its judge was ended"
        self._outbox: SimpleQueue[object] = SimpleQueue()
        self._asked: dict[int, Work | TravellingErrand] = {}
        self._sent: set[str] = set()
        self._about: DeviceRef | None = None
        self._over = threading.Event()
        options: dict[str, object] = {
            "num_cpus": room.cpus,
            "num_gpus": int(room.gpu),
            "max_restarts": 0,
        }
        if room.kind is not None:
            options["accelerator_type"] = room.kind
        self._actor = ray.remote(Relay).options(**options).remote(place.wanted.program)
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def send(self, message: object) -> None:
        """Tell it something, at its next exchange."""
        if isinstance(message, Order):
            task = message.task
            if isinstance(task, Work | GiveUp):
                work = task if isinstance(task, Work) else task.work
                self._asked[message.number] = work
                self._send_package(work)
            else:
                self._asked[message.number] = cast(TravellingErrand, task)
        elif isinstance(message, BuildAhead):
            self._send_package(message.task)
        self._outbox.put(message)

    def _send_package(self, work: Work) -> None:
        problem = work.job.problem
        if isinstance(problem, Problem) and problem.hash not in self._sent:
            self._sent.add(problem.hash)
            self._outbox.put(Package.of(problem))

    def finish(self) -> None:
        """As of :class:`~harness.grading.places.Judge`."""
        self.send(None)
        if self.placed:
            self._thread.join(_ENDS_S)
        self.end()

    def stop(self) -> None:
        """End its actor, with which it ends."""
        self._over.set()
        with contextlib.suppress(Exception):  # gone already, or the cluster is
            self._ray.kill(self._actor)

    def end(self) -> None:
        """End its actor, and wait until that is known."""
        self.stop()
        self._thread.join(_ENDS_S)
        self.link.close()

    def how_it_ended(self) -> str:
        """In words."""
        return self._why

    def _talk(self) -> None:
        errors = self._ray.exceptions
        with self._heard, contextlib.suppress(BrokenPipeError):
            try:
                self._why = self._exchange(self._greet())
            except errors.RayTaskError as error:  # before its cause, whose class it has, too
                self._why = f"its actor failed: {gist(error.cause)}"
            except MachineError as error:
                self._why = str(error)
            except errors.RayActorError as error:
                self.lost = not error.actor_init_failed
                self._why = f"its actor was lost: {gist(error)}"
            except (ValueError, ValidationError) as error:
                self._why = f"what its judge says is no record: {gist(error)}"
            except errors.RayError as error:
                self._why = f"its actor failed: {gist(error)}"

    def _greet(self) -> Hello:
        """Wait for a machine, and look at it.

        Raises:
            MachineError: nothing may be graded there.
        """
        sandbox = self._place.wanted.require_sandbox
        greeting = self._actor.hello.remote(require_sandbox=sandbox)
        hello = Hello.model_validate_json(self._ray.get(greeting))
        self.placed = True
        at = f"node {plain(hello.address, 60)}"
        if self._place.token and not hello.token:
            raise MachineError(f"{at} is part of a cluster beyond this machine, and {UNPROTECTED}")
        if hello.harness != code_hash():
            raise MachineError(f"{at} has another version of the harness: install the same there")
        if hello.open_to:
            can = plain(", ".join(hello.open_to), 400)
            raise MachineError(f"--require-sandbox: on {at} a submission can {can}; harness doctor")
        return hello

    def _exchange(self, hello: Hello) -> str:
        """Say and hear everything until the judge ends; how it did."""
        said: list[object] = [replace(self._setup, judges=self._beside(hello.node))]
        while not self._over.is_set():
            said += _drained(self._outbox)
            heard = self._ray.get(self._actor.exchange.remote(said))
            said = []
            if not isinstance(heard, list):
                raise ValueError("no list")
            for message in map(decode, heard):
                if isinstance(message, Ended):
                    return f"{plain(message.why, 400)} (on node {plain(hello.address, 60)})"
                self._heard.send(self._checked(message))
        return self._why

    def _beside(self, node: str) -> int:
        """How many judges that machine may have."""
        found = [each["Resources"] for each in self._ray.nodes() if each["NodeID"] == node]
        room = self._place.room
        whole = found[0].get("GPU" if room.gpu else "CPU", 1) if found else 1
        return max(1, int(whole) // (1 if room.gpu else max(1, room.cpus)))

    def _checked(self, message: Message) -> Message:
        """The message, which is about what was asked, and asked once.

        Raises:
            ValueError: it is not.
        """
        match message:
            case Ready(about):
                self._about = about
                if about.emulated is self._place.room.gpu:
                    raise ValueError(f"{about.label} is not what was asked for")
            case Done(number, value):
                task = self._asked.pop(number, None)
                if isinstance(task, Work) and isinstance(value, Result):
                    if not _is_of(value, task, self._about):
                        raise ValueError("a result is of another file, problem or device")
                elif task is not None and not isinstance(task, Work) and isinstance(value, str):
                    return Done(number, task.read(value))
                else:
                    raise ValueError("nobody asked for it")
            case Begun(number):
                if number not in self._asked:
                    raise ValueError("nobody asked for it")
            case Unjudged(number, _, _):
                if self._asked.pop(number, None) is None:
                    raise ValueError("nobody asked for it")
        return message


def _is_of(result: Result, work: Work, device: DeviceRef | None) -> bool:
    """Whether a result is of that file, problem and device, as far as they are known here."""
    solution, problem = work.job.solution, work.job.problem
    known = solution_ref(solution) if isinstance(solution, Solution) else solution.reference
    right_file = result.solution == known if known else result.solution.path == work.job.path
    dtypes = (work.options.dtype,) if work.options.dtype else problem.dtypes
    return (
        right_file
        and (result.problem.slug, result.problem.hash) == (problem.slug, problem.hash)
        and result.device == device
        and result.dtype in dtypes
        and not result.origin
    )


def _drained(queue: "SimpleQueue[object]") -> Iterator[object]:
    with contextlib.suppress(Empty):
        while True:
            yield queue.get_nowait()
