"""Runs code where a submission runs, and brings back what it found out."""

import json
import os
import sys
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

from harness.sandbox import launch
from harness.sandbox.launch import Sandbox
from harness.sandbox.support import SandboxSupport, packages
from harness.sandbox.zygote import zygote
from harness.session.start_runner import ENTRY, PRELOAD_COMPILED, RUNNER_FILES
from harness.wire import messages, transport
from harness.wire.mailbox import MAILBOX_BYTES

STAND_IN = Path(__file__).parents[1] / "support/stand_in"
_MARK = "REPORT:"


class Inside:
    """A sandbox whose runner has loaded ``code``; what that gives to ``report`` is `reported()`.

    ``forked``: from a zygote, not started as a fresh interpreter. ``confined``: in namespaces,
    where there are any.
    """

    def __init__(
        self,
        code: str,
        *,
        memory_bytes: int = 1 << 30,
        environment: dict[str, str] | None = None,
        forked: bool = False,
        confined: bool = True,
        **options: Any,
    ) -> None:
        environment = environment or {"PATH": "/usr/bin:/bin"}
        path = [str(STAND_IN), *sys.path]
        if forked:
            options["zygote"] = zygote(path, preload=PRELOAD_COMPILED, environment=environment)
        readable = (*RUNNER_FILES, *packages(path))
        none = SandboxSupport(namespaces=False, own_user=False)
        patch = mock.patch.object(launch, "detect_support", lambda: none)
        with nullcontext() if confined else patch:
            self.sandbox = Sandbox(
                ENTRY, environment, memory_bytes=memory_bytes, readable=readable, **options
            )
        self.sandbox.channel.settimeout(30)
        message, _ = transport.receive(self.sandbox.channel)
        assert isinstance(message, messages.Confined), message
        self.layers = list(message.layers)
        source = os.memfd_create("solution")
        head = f"import json\ndef report(x): print({_MARK!r} + json.dumps(x), flush=True)\n"
        os.write(source, head.encode() + textwrap.dedent(code).encode())
        os.write(source, b"\ndef solution(): ...\n")
        os.lseek(source, 0, os.SEEK_SET)
        self._mailbox = os.memfd_create("mailbox")
        os.ftruncate(self._mailbox, MAILBOX_BYTES)
        transport.send(self.sandbox.channel, messages.Open(device="cpu"))
        assert transport.receive(self.sandbox.channel)[0] == messages.Opened()
        load = messages.Load(kind="python", path=tuple(path))
        transport.send(self.sandbox.channel, load, (source, self._mailbox))
        os.close(source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sandbox.close()
        os.close(self._mailbox)

    def loaded(self) -> messages.Message:
        """The runner's answer, once the code has run to its end."""
        return transport.receive(self.sandbox.channel)[0]

    def reported(self, seconds: float = 10.0) -> Any:
        """The last thing reported so far; waits for the first."""
        deadline = time.monotonic() + seconds
        while True:
            text = self.sandbox.output.text(0.02)
            lines = [line for line in text.splitlines() if line.startswith(_MARK)]
            if lines:
                return json.loads(lines[-1].removeprefix(_MARK))
            assert time.monotonic() < deadline, text


def explore(code: str, **options: Any) -> Any:
    """What ``code`` reports from inside a sandbox."""
    with Inside(code, **options) as inside:
        answer = inside.loaded()
        assert answer == messages.Loaded(), answer
        return inside.reported()
