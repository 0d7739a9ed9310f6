"""A judge's process that judges nothing: it does what each text says, at once.

``die``: it ends, ``die once``: the first time, ``die always``: however often. ``usage``,
``machine``, ``problem``: an error of that kind. ``wait``: nothing, until ``go`` is in a later text.
With ``right`` in it: accepted, with a speed-up of 4. Anything else is not accepted; in its message
are the order, the process id, and what was dropped.
"""

import json
import os
import socket
import sys
from pathlib import Path

from harness.door.messages import error_parts, line
from harness.errors import Diagnostic, MachineError, ProblemError, UsageError
from harness.records.result import Verdict
from support.samples import result

ROOT = Path(__file__).parents[2]

PROGRAM = f"""\
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from support.door_stand_in import main
main()
"""
NEVER_STARTS = "import sys; sys.exit('no torch here')"

ERRORS = {
    "usage": UsageError("no such problem"),
    "machine": MachineError("the disk is full"),
    "problem": ProblemError([Diagnostic(Path("p/problem.md"), 7, "slug", "is wrong")]),
}

DEADLY = {"die": 2, "die once": 1, "die always": 99}


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.sendall(line(ready=1))
    dropped: list[int] = []
    waiting: list[int] = []

    def answer(number: int, message: str) -> None:
        if message == "right":
            channel.sendall(line(number=number, result=result(speedup=4.0).to_json()))
            return
        found = result(
            verdict=Verdict.INVALID_SUBMISSION,
            message=message,
            cases=(),
            measurements=(),
            score=None,
            shrunk=None,
        )
        channel.sendall(line(number=number, result=found.to_json()))

    for each in channel.makefile("rb"):
        message = json.loads(each)
        if "drop" in message:
            dropped.append(message["drop"])
            continue
        order = message["order"]
        number, text = order["number"], order["text"]
        if text in ERRORS:
            channel.sendall(line(number=number, error=error_parts(ERRORS[text])))
        elif text == "wait":
            waiting.append(number)
        elif order["deaths"] < DEADLY.get(text, 0):
            os._exit(9)
        elif "right" in (text or ""):
            answer(number, "right")
        else:
            if text == "go":
                for earlier in waiting:
                    answer(earlier, "waited")
                waiting.clear()
            told = {"pid": os.getpid(), "dropped": dropped, "order": order}
            answer(number, json.dumps(told))
