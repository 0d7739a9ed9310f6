"""*Done* is seen at once, and what keeps a runner from it is looked for meanwhile."""

from typing import cast

import pytest

from harness.session import done
from harness.session.done import DoneWatch
from harness.wire.mailbox import Mailbox


@pytest.mark.parametrize("look_s", [1.3e-3, 0.045])
@pytest.mark.parametrize("after_s", [0.0205, 0.025, 0.0415, 0.3, 1.0])
def test_what_is_expected_is_not_seen_late(
    monkeypatch: pytest.MonkeyPatch, after_s: float, look_s: float
) -> None:
    """However long a look at the runner takes; others come all the same."""

    class Clock:
        now = 0.0

        def perf_counter(self) -> float:
            self.now += 1e-5
            return self.now

    def awaited(expected_s: float) -> tuple[float, list[float]]:
        clock, looks = Clock(), list[float]()

        class MadeUp:
            @property
            def done(self) -> int:
                return int(clock.now >= after_s)

        def look() -> None:
            looks.append(clock.now)
            clock.now += look_s

        monkeypatch.setattr(done, "time", clock)
        monkeypatch.setattr(done, "_SPIN_CHECKS", 1)
        watch = DoneWatch(cast(Mailbox, MadeUp()), naps=False)
        watch._look_s = look_s
        assert watch.wait(1, clock.now, look, None, expected_s) is None
        return clock.now - after_s, looks

    for about in (0.9, 1.0, 1.1) if after_s < 0.3 else (0.98, 1.0, 1.02):
        late_s, looks = awaited(about * after_s)
        assert 0 <= late_s < 5e-5
        assert looks or after_s < 0.2
    _, looks = awaited(after_s / 4)  # it takes longer than that
    assert bool(looks) == (after_s > max(0.02, 1.25 * after_s / 4 + look_s))
