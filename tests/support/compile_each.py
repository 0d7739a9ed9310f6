"""Compiles Triton submissions, each in a fork of a process that has imported what takes seconds.

As the judge has it done. A request is a line of JSON on standard input, the path of a source and a
message, its answer a line on standard output, before the next is read.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import torch  # noqa: F401
import triton.language  # noqa: F401
from triton.runtime.cache import triton_key

from harness.runner.triton.compile import compile_submission
from harness.wire.messages import Compile
from harness.wire.validation import WireRecord


def _compiled(source: str, message: Compile) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)  # what a submission prints must not get between the answers
        with tempfile.TemporaryDirectory() as cache, os.fdopen(writing, "w") as file:
            answer = compile_submission(
                message,
                source=Path(source),
                cache=Path(cache),
                max_configurations=1,
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
    path, request = json.loads(line)
    print(_compiled(path, Compile.from_json(request)), flush=True)
