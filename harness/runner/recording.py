"""Finds out what extensions of PyTorch a submission asks for: it is imported with none of them.

It runs submitted code: only in a process of its own, confined like the runner. However it ends,
what was asked for until then is written down.
"""

import contextlib
from pathlib import Path

from harness.runner.entry.contracts import Model, caller, offer_imports
from harness.runner.extensions import Asked, Recorder, own_folders, stand_in
from harness.runner.source import import_source
from harness.runner.triton.fake_cuda import install_fake_cuda
from harness.wire.messages import Record


def record(message: Record, source: Path, asked: int) -> None:
    """Import the file ``source`` on a pretended card, and make its ``ModelNew`` if it has one.

    Each extension that it asks for is written to the descriptor ``asked``.
    """
    if message.interpret:
        from harness.runner.triton import cpu

        cpu.enable()
    else:
        install_fake_cuda(message.arch)
    offer_imports(message.entry)
    stand_in(Recorder(Asked(asked)), own_folders(source.parent))
    with contextlib.suppress(BaseException):  # a submission may raise anything, SystemExit too
        found = caller(import_source(source), message.entry, message.parameters)
        if isinstance(found, Model):
            found.made(message.values, message.construct)
