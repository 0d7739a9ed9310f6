"""What the judge's protocol costs on a machine, as measured by :mod:`harness.judge.calibrate`."""

from dataclasses import dataclass, field

from harness.judge.audit import Usual


@dataclass(frozen=True, slots=True)
class Constants:
    """Seconds that a batch takes beyond its calls, and what probes of an idle device take.

    ``batch_s`` with a runner that was stopped before *go*, ``awake_s`` with one that was not.
    """

    batch_s: float = 0.0
    awake_s: float = 0.0
    usual: Usual = field(default_factory=Usual)
