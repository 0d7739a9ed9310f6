"""The far side of a judge in a Ray cluster: an actor that starts a judge's process beside itself.

The process is the one of :mod:`harness.grading.card_process`; the actor hands on what the command
and the judge say. With the actor the judge ends, and with the judge all that it has started.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.device.cards import opened_as, visible_cards
from harness.errors import NoDeviceError
from harness.grading.card_process import JudgeProcess, Seated
from harness.grading.card_wire import Broken, BuildAhead, Errand, Order, Setup
from harness.grading.cluster_wire import Ended, Hello, Package, code_hash, encode
from harness.grading.give_up import GiveUp
from harness.grading.job import Work
from harness.problem.package import Problem
from harness.sandbox import scratch

_POLL_S = 0.5
"""So long an exchange waits for what the judge says."""


class Relay:
    """One judge, on the GPU that Ray has given to this actor or on the CPU.

    Args:
        program: what the judge's process runs instead of a judge, in tests.
    """

    def __init__(self, program: str | None = None) -> None:
        self._program = program
        self._judge: JudgeProcess | None = None
        self._problems: dict[str, Problem] = {}

    def hello(self, *, require_sandbox: bool) -> bytes:
        """What there is to know of this machine before it gets work: a :class:`Hello`."""
        import ray
        from ray._private.authentication.authentication_utils import is_token_auth_enabled

        context = ray.get_runtime_context()
        hello = Hello(
            node=context.get_node_id(),
            address=ray.util.get_node_ip_address(),
            harness=code_hash(),
            token=is_token_auth_enabled(),
            open_to=_breaches() if require_sandbox else [],
        )
        return hello.model_dump_json().encode()

    def exchange(self, orders: list[object]) -> list[bytes]:
        """Take what the command says; what the judge has said, after a wait if that is nothing."""
        for order in orders:
            match order:
                case Setup():
                    try:
                        self._judge = JudgeProcess(_seat(order.device), order, self._program)
                    except NoDeviceError as error:
                        return [encode(Broken(error, final=False))]
                case Package():
                    self._problems[order.hash] = order.unpacked(scratch.home())
                case Order(number, task):
                    self._send(Order(number, self._with_package(task)))
                case BuildAhead(number, task):
                    self._send(BuildAhead(number, self._of_here(task)))
                case _:
                    self._send(None)
        return [encode(message) for message in self._said()]

    def _send(self, message: object) -> None:
        if self._judge is not None:
            self._judge.send(message)

    def _with_package(self, task: Work | Errand) -> Work | Errand:
        """The same task, of the problem as it lies on this machine."""
        match task:
            case Work():
                return self._of_here(task)
            case GiveUp(work, _):
                return replace(task, work=self._of_here(work))
        return task

    def _of_here(self, work: Work) -> Work:
        problem = work.job.problem
        if not isinstance(problem, Problem):
            return work
        return replace(work, job=replace(work.job, problem=self._problems[problem.hash]))

    def _said(self) -> Iterator[object]:
        judge = self._judge
        if judge is None:
            return
        try:
            wait = _POLL_S
            while judge.link.poll(wait):
                yield judge.link.recv()
                wait = 0.0
        except (EOFError, OSError):
            yield Ended(judge.how_it_ended())


def _breaches() -> list[str]:
    from harness.sandbox.selftest import breaches

    return list(breaches())


def _seat(device: str) -> Seated:
    """The first of the cards that this actor sees, or the CPU.

    Raises:
        NoDeviceError: it sees none.
    """
    if device == "cpu":
        return Seated("cpu", "cpu", {})
    if not (cards := visible_cards()):
        raise NoDeviceError("the cluster says that there is a GPU, and CUDA shows none")
    return Seated(f"card {cards[0].number}", *opened_as(cards[0]))
