"""What the judge's protocol costs on a machine, as measured by :mod:`harness.judge.calibrate`."""

from dataclasses import dataclass, field

from harness.judge.audit import Usual


@dataclass(frozen=True, slots=True)
class Constants:
    """Seconds that a batch takes beyond its calls, and what probes of an idle device take."""

    batch_s: float = 0.0
    usual: Usual = field(default_factory=Usual)
