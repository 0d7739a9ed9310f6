"""Runs Triton submissions on a machine without a GPU, in Triton's own interpreter, made honest.

As it comes, the interpreter computes bfloat16 wrongly, takes TF32 for full precision, lets any
address be read or written, and cannot autotune. Here

* an access outside of the tensors that a launch was given raises :class:`.memory.OutOfBounds`;
* bfloat16 is right: every operation rounds once, to nearest even, as on a card (a sum over a block
  is rounded once at its end; a card may round at every step);
* ``tl.dot`` of float32 under TF32, Triton's default, rounds its operands to TF32, as on a card;
* ``@triton.autotune`` takes the first configuration;
* builtins work under any name (:mod:`.language`), kernels keep what they hold (:mod:`.kernels`),
  and libdevice's usual functions are computed (:mod:`.libdevice`);
* what cannot be run raises ``NotEmulated``, or is told from what a submission does wrong by where
  its error arose (:mod:`.lacking`): "not executable here", never a wrong verdict.

Not imitated: races between programs (they run one after the other), limits on shared memory and
registers (:mod:`harness.runner.triton.compile` looks at those), time.
"""

import os
import sys
from collections.abc import Iterable

import torch

from harness.runner.triton.fake_cuda import install_fake_cuda
from harness.runner.triton.lacking import watch_libraries
from harness.runner.triton.memory import LaunchMemory

ARCH = 90
"""Architecture of the card that solutions seem to run on."""

_MEMORY = LaunchMemory()
"""One per process, as is the interpreter that it guards."""

_enabled = False


def enable() -> None:
    """Set up this process to run Triton without a GPU; once is enough, forked ones included.

    Raises:
        RuntimeError: Triton was imported before, so that its library is already compiled-only.
    """
    global _enabled
    if not _enabled and "triton" in sys.modules:
        raise RuntimeError("triton was imported before the interpreter was enabled")
    os.environ["TRITON_INTERPRET"] = "1"
    if _enabled:
        return
    install_fake_cuda(ARCH)
    # Not at the top: importing Triton fixes the choice between interpreter and compiler.
    from harness.runner.triton import interpreter as triton_interpreter

    triton_interpreter.install(ARCH, _MEMORY)
    watch_libraries()
    _enabled = True


def watch(tensors: Iterable[torch.Tensor]) -> None:
    """Declare the tensors of the submission's next calls, in place of earlier ones.

    A launch may touch the whole storage of each tensor it is passed. Tensors named here are held to
    their own extent instead, so that guard bands around them in the same storage count as outside.
    """
    _MEMORY.watch(tensors)
