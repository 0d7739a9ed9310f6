"""Temporary: what the looks see."""

import sys

from harness.judge import early_reads

plain = early_reads.EarlyReads.found


def found(self):
    out = plain(self)
    n = min(int(self._count), 64)
    cyc = self._log[:n, 2 : 2 + self._cycles.numel()].view(n, 2, -1).double()
    below = self._timer.cached_below if self._timer else 0
    hot = ((cyc > 0) & (cyc < below)).double().mean(2)
    print(
        "  looks",
        out.looks,
        "early",
        out.early,
        "cached",
        round(out.cached, 2),
        "below",
        below,
        "med",
        [[int(x) for x in r] for r in cyc.median(2).values[:4].tolist()],
        "hot(later,next)",
        [[round(v, 2) for v in r] for r in hot[:8].tolist()],
        flush=True,
    )
    return out


early_reads.EarlyReads.found = found
sys.argv = ["benchmarks", *sys.argv[1:]]
from benchmarks.__main__ import main

main()
