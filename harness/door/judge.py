"""A judge to be called from Python: ``grade``, ``Judge`` and their ``async`` twins."""

import asyncio
import itertools
import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Self

from pydantic import PrivateAttr

from harness.door.connection import Connection
from harness.door.messages import Order, Setup
from harness.door.orders import Options, Problem, Source, order_of, orders_of
from harness.door.setup import Cards, setup_of
from harness.errors import JudgeError, MachineError, NoDeviceError
from harness.records.effort import Effort
from harness.records.result import Result


class Graded(Result):
    """A result, and the place of its source among those that were given."""

    _number: int = PrivateAttr(default=0)

    @property
    def number(self) -> int:
        """Which source it is of, from 0."""
        return self._number


class Judge:
    """A judge that keeps its process, templates and baselines warm from one grade to the next.

    With ``cards`` or ``cluster`` it is as many as there are GPUs, each on its own and fed from one
    list; a source that fails on one is tried on another, and what fails twice is an
    ``INTERNAL_ERROR``.

    Its process starts with the ``with`` (or ``async with``) block, without one at the first grade;
    it ends with the block, with :meth:`close`, or with this process, however that ends. A judge may
    be called from several threads and from asyncio at once; a fork, or a process that it is pickled
    into, gets a process of its own.

    Args:
        device: ``auto``, ``cuda`` or ``cpu``.
        card: which GPU, by its number in nvidia-smi or its UUID, also one that this process does
            not see; by default the first that it does. A GPU grades one source at a time.
        cards: several GPUs of one kind, with a judge on each: ``all`` that this process sees, or
            some as ``card`` names them (``"0,2"``, ``[0, 2]``).
        cluster: a Ray cluster, with a judge on each GPU: ``auto``, that of this machine, or an
            address: docs/how-to/many-gpus.md.
        gpu: in a cluster: on GPUs of this kind, such as ``H100``.
        judges: in a cluster: how many; by default one for each GPU that is there at the start.
        effort: ``full``, ``quick`` or ``verdict``, which is never ranked: docs/how-to/rewards.md.
        problems: folder of problem packages; by default ``$HARNESS_PROBLEMS``, else ``./problems``,
            else those shipped.
        functional_times: take times without a GPU, too; they say nothing of a GPU's. Also
            ``$HARNESS_FUNCTIONAL_TIMES``.
        require_sandbox: refuse to grade where submissions cannot be confined. Also
            ``$HARNESS_REQUIRE_SANDBOX``.

    Raises:
        UsageError: one of these cannot be.
    """

    def __init__(
        self,
        *,
        device: str = "auto",
        card: int | str | None = None,
        cards: Cards | None = None,
        cluster: str | None = None,
        gpu: str | None = None,
        judges: int | None = None,
        effort: Effort = "full",
        problems: str | os.PathLike[str] | None = None,
        functional_times: bool = False,
        require_sandbox: bool = False,
    ) -> None:
        self._setup = setup_of(
            device=device,
            card=card,
            cards=cards,
            cluster=cluster,
            gpu=gpu,
            judges=judges,
            effort=effort,
            problems=problems,
            functional_times=functional_times,
            require_sandbox=require_sandbox,
        )
        self._connect()

    def _connect(self) -> None:
        self._folder = os.getcwd()  # noqa: PTH109
        self._connection = Connection(self._setup)
        weakref.finalize(self, self._connection.close)

    def __getstate__(self) -> Setup:
        return self._setup

    def __setstate__(self, setup: Setup) -> None:
        self._setup = setup
        self._connect()

    def __enter__(self) -> Self:
        self._connection.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.__enter__)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End the judge, or all of them; who waits for a result gets a UsageError."""
        self._connection.close()

    def grade(
        self,
        source: Source,
        problem: Problem | None = None,
        *,
        dtype: str | None = None,
        language: str | None = None,
        author: str | None = None,
        seed: str | None = None,
    ) -> Result:
        """The result of one source; whatever the submission does wrong is in its verdict.

        Args:
            source: code or a model's output as a ``str``, or the ``Path`` of a file.
            problem: slug, or path of a foreign problem; None: the place of the file says it
                (``solutions/<problem>/…``), or the header of the model's output.
            dtype: None: the problem's first that the source is written for.
            language: of a ``str``: ``cuda``, ``ptx``, ``triton``, ``pytorch``, …, ``text`` for a
                model's output; None: what it looks like.
            author: whose it is, for the record.
            seed: of an earlier grade, to draw the same cases; never ranked.

        Raises:
            UsageError: there is no such problem, type, language or file, or the judge is closed.
            ProblemError: the problem's package has mistakes.
            MachineError: the machine lacks something, or has failed.
        """
        options = Options(dtype, language, author, seed)
        number, future = self._ask(order_of(self._folder, 0, source, problem, options))
        try:
            return future.result()
        finally:  # after an interrupt, too
            self._connection.drop(number)

    async def agrade(
        self,
        source: Source,
        problem: Problem | None = None,
        *,
        dtype: str | None = None,
        language: str | None = None,
        author: str | None = None,
        seed: str | None = None,
    ) -> Result:
        """As :meth:`grade`; a source whose task is cancelled before its turn is not graded."""
        options = Options(dtype, language, author, seed)
        order = order_of(self._folder, 0, source, problem, options)
        number, future = await asyncio.to_thread(self._ask, order)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._connection.drop(number)

    def grade_many(
        self,
        sources: Iterable[Source],
        problem: Problem | Sequence[Problem] | None = None,
        *,
        dtype: str | None = None,
        language: str | None = None,
        author: str | None = None,
    ) -> Iterator[Graded]:
        """The result of each of ``sources``, as soon as it is there; ``number`` says of which.

        ``problem`` is one for all, or one for each; the others are as for :meth:`grade`. Sources
        are taken as they are needed, so they may be endless.

        Raises:
            UsageError, ProblemError, NoDeviceError: as :meth:`grade`, at once.
            MachineError: likewise, after the results of the others.
        """
        orders = orders_of(self._folder, sources, problem, Options(dtype, language, author))
        return self._many(orders)

    def _many(self, orders: Iterator[Order]) -> Iterator[Graded]:
        came: SimpleQueue[_Came] = SimpleQueue()
        run = _Run(self, orders, came.put)
        try:
            while run.more():
                if (graded := run.take(came.get())) is not None:
                    yield graded
        finally:
            run.drop()

    def agrade_many(
        self,
        sources: Iterable[Source],
        problem: Problem | Sequence[Problem] | None = None,
        *,
        dtype: str | None = None,
        language: str | None = None,
        author: str | None = None,
    ) -> AsyncIterator[Graded]:
        """As :meth:`grade_many`, to be used in ``async for``."""
        orders = orders_of(self._folder, sources, problem, Options(dtype, language, author))
        return self._amany(orders)

    async def _amany(self, orders: Iterator[Order]) -> AsyncIterator[Graded]:
        loop = asyncio.get_running_loop()
        came: asyncio.Queue[_Came] = asyncio.Queue()
        run = _Run(self, orders, lambda each: loop.call_soon_threadsafe(came.put_nowait, each))
        try:
            while await asyncio.to_thread(run.more):
                if (graded := run.take(await came.get())) is not None:
                    yield graded
        finally:
            run.drop()

    def _ask(self, order: Order) -> tuple[int, Future[Result]]:
        return self._connection.ask(order)


class _Came(NamedTuple):
    """The end of an order: its number in the connection, and its future."""

    number: int
    future: Future[Result]


class _Run:
    """One call of ``grade_many``: some orders are with the judge, others are still to be made."""

    def __init__(self, judge: Judge, orders: Iterator[Order], put: Callable[[_Came], Any]) -> None:
        self._judge = judge
        self._orders = orders
        self._put = put
        self._asked: dict[int, int] = {}
        self._failed: MachineError | None = None

    def more(self) -> bool:
        """Ask for as many as may be with the judge; whether a result is still to come.

        Raises:
            JudgeError: the caller has made a mistake; or all is done, but for what has failed.
        """
        for order in itertools.islice(
            self._orders, self._judge._connection.ahead - len(self._asked)
        ):
            number, future = self._judge._ask(order)
            self._asked[number] = order.number
            future.add_done_callback(partial(self._came, number))
        if not self._asked and self._failed is not None:
            raise self._failed
        return bool(self._asked)

    def _came(self, number: int, future: Future[Result]) -> None:
        self._put(_Came(number, future))

    def take(self, came: _Came) -> Graded | None:
        """What has come; None if the machine has failed for it.

        Raises:
            JudgeError: the caller has made a mistake, or nothing can be graded.
        """
        place = self._asked.pop(came.number)
        try:
            result = came.future.result()
        except JudgeError as error:
            error.add_note(f"source {place}")
            if not isinstance(error, MachineError) or isinstance(error, NoDeviceError):
                raise
            self._failed = self._failed or error
            return None
        graded = Graded.model_construct(**dict(result))
        graded._number = place
        return graded

    def drop(self) -> None:
        """Nobody waits for the rest any more."""
        for number in self._asked:
            self._judge._connection.drop(number)


def grade(
    source: Source,
    problem: Problem | None = None,
    *,
    device: str = "auto",
    dtype: str | None = None,
    effort: Effort = "full",
    language: str | None = None,
    author: str | None = None,
    seed: str | None = None,
) -> Result:
    """The result of one source, by a judge of its own; for more than one a :class:`Judge` is quick.

    ``device`` and ``effort`` are as for :class:`Judge`, the others as for :meth:`Judge.grade`,
    which says what is raised.
    """
    with Judge(device=device, effort=effort) as judge:
        return judge.grade(
            source, problem, dtype=dtype, language=language, author=author, seed=seed
        )


async def agrade(
    source: Source,
    problem: Problem | None = None,
    *,
    device: str = "auto",
    dtype: str | None = None,
    effort: Effort = "full",
    language: str | None = None,
    author: str | None = None,
    seed: str | None = None,
) -> Result:
    """As :func:`grade`."""
    async with Judge(device=device, effort=effort) as judge:
        return await judge.agrade(
            source, problem, dtype=dtype, language=language, author=author, seed=seed
        )
