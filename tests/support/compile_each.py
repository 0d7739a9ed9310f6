"""Compiles Triton submissions, each in a fork of a process that has imported what takes seconds.

A request is a line of JSON on standard input: the paths of a source and of a cache, how many
configurations to build, and a message. Its answer is a line on standard output, before the next
request is read.
"""

import json
import os
import sys
from pathlib import Path

import torch  # noqa: F401
import triton.language  # noqa: F401
from triton.runtime.cache import triton_key

from harness.runner.triton.compile import compile_submission
from harness.wire.messages import Compile
from harness.wire.validation import WireRecord


def _compiled(source: str, cache: str, max_configurations: int, message: Compile) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)  # what a submission prints must not get between the answers
        with os.fdopen(writing, "w") as file:
            answer = compile_submission(
                message,
                source=Path(source),
                cache=Path(cache),
                max_configurations=max_configurations,
                launchers=False,
            )
            json.dump(answer, file, default=WireRecord.to_json)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


triton_key()  # a hash over all of Triton, which takes 1.5 s: forks have it from here
for line in sys.stdin:
    *request, data = json.loads(line)
    print(_compiled(*request, Compile.from_json(data)), flush=True)
