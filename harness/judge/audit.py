"""What must hold of every timed batch, as properties of the data and of physics.

A batch counts only if every output of every call is right, every input unchanged and every guard
band intact. Audits that need more than one batch belong here, too.
"""

from harness.judge.batch import Batch, Problems


def audit_batch(batch: Batch) -> Problems | None:
    """The first thing that is wrong with a batch that was just timed, or None."""
    return batch.check()
