"""Runs code where a submission runs, and brings back what it found out."""

import json
import os
import sys
import textwrap
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness import wire
from harness.sandbox.launch import Sandbox
from harness.sandbox.support import packages
from harness.sandbox.zygote import zygote

STAND_IN = Path(__file__).parents[1] / "support/stand_in"
_MARK = "REPORT:"


class Inside:
    """A sandbox whose runner has loaded ``code``; what that gives to ``report`` is `reported()`.

    ``forked``: from a template, not started as a fresh interpreter.
    """

    def __init__(
        self,
        code: str,
        *,
        memory_bytes: int = 1 << 30,
        environment: dict[str, str] | None = None,
        forked: bool = False,
        **options: Any,
    ) -> None:
        environment = environment or {"PATH": "/usr/bin:/bin"}
        path = [str(STAND_IN), *sys.path]
        if forked:
            options["zygote"] = zygote(path, interpret=False, environment=environment)
        readable = packages(path)
        self.sandbox = Sandbox(environment, memory_bytes=memory_bytes, readable=readable, **options)
        self.sandbox.channel.settimeout(30)
        message, _ = wire.receive(self.sandbox.channel)
        assert message["type"] == "confined", message
        self.layers = message["layers"]
        source = os.memfd_create("solution")
        head = f"import json\ndef report(x): print({_MARK!r} + json.dumps(x), flush=True)\n"
        os.write(source, head.encode() + textwrap.dedent(code).encode())
        os.write(source, b"\ndef solution(): ...\n")
        os.lseek(source, 0, os.SEEK_SET)
        mailbox = os.memfd_create("mailbox")
        os.ftruncate(mailbox, wire.MAILBOX_BYTES)
        wire.send(self.sandbox.channel, {"type": "open", "device": "cpu"})
        assert wire.receive(self.sandbox.channel)[0]["type"] == "opened"
        load = {"type": "load", "kind": "python", "interpret": False, "language": ""}
        wire.send(self.sandbox.channel, {**load, "path": path}, (source, mailbox))
        os.close(source)
        os.close(mailbox)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sandbox.close()

    def loaded(self) -> wire.Message:
        """The runner's answer, once the code has run to its end."""
        return wire.receive(self.sandbox.channel)[0]

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
        assert answer["type"] == "loaded", answer
        return inside.reported()
