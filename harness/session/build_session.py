"""Runners that help to build Python submissions, without a card: nothing they do is judged."""

import os
from collections.abc import Mapping

from harness.problem.terms import Construction
from harness.session import start_runner as runners
from harness.session.fault import Fault
from harness.session.runs import construct
from harness.session.session import Session
from harness.wire import messages
from harness.wire.arguments import ScalarArgument, TensorShape
from harness.wire.extensions import ROOM, ExtensionRequest, read_requests
from harness.wire.memory import sealed_memory


class BuildSession(Session):
    """A session that finds out what a Python submission would have compiled, and compiles it."""

    def compile(
        self,
        calls: tuple[tuple[TensorShape | ScalarArgument, ...], ...],
        arch: int,
        kernels: int | None = None,
        *,
        within_s: float | None = None,
    ) -> messages.Compiled | Fault:
        """Have a Triton submission's launches compiled for ``sm_<arch>``; nothing is executed.

        What is built is packed into the descriptor ``kernels``, if there is one, with all
        configurations that an autotuner may choose. After ``within_s`` seconds of the processor
        nothing more is begun. The answer is untrusted.
        """
        self.start()
        contract = self._program.contract
        message = messages.Compile(
            calls=calls,
            arch=arch,
            seconds=self._limits.build_s if within_s is None else within_s,
            path=tuple(runners.search_path()),
            entry=contract.called,
            parameters=contract.parameters,
        )
        with self._program.open() as (artifact,):
            given = (artifact,) if kernels is None else (artifact, kernels)
            return self._channel.ask(message, messages.Compiled, self._limits.build_s, given)

    def record(
        self, values: Mapping[str, int | float], arch: int, construction: Construction | None
    ) -> tuple[tuple[ExtensionRequest, ...], Fault | None]:
        """The extensions of PyTorch that a Python submission asks for when it is imported.

        Its ``ModelNew`` is made by ``construction``, else with ``values`` (sizes and scalars), on a
        pretended ``sm_<arch>``. Where that ends with a fault, what was asked for until then;
        untrusted.
        """
        self.start()
        contract = self._program.contract
        message = messages.Record(
            interpret=self._program.interpret,
            arch=arch,
            path=tuple(runners.search_path()),
            values=dict(values),
            construct=None if construction is None else construct(construction),
            entry=contract.called,
            parameters=contract.parameters,
        )
        asked = sealed_memory("asked", ROOM)
        try:
            with self._program.open() as (artifact,):
                given = (artifact, asked)
                seconds = self._limits.prepare_s
                answer = self._channel.ask(message, messages.Recorded, seconds, given)
            return read_requests(asked), answer if isinstance(answer, Fault) else None
        finally:
            os.close(asked)
