"""Ray's own cluster of several nodes on this machine, on loopback."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NODE = {"num_cpus": 2, "object_store_memory": 80 << 20}
LOOPBACK = "127.0.0.2"  # 127.0.0.1 is what Ray takes for the address that others see


@contextlib.contextmanager
def started_nodes(place: Path) -> Iterator[Any]:
    """A head without processors and two nodes with a judge each, who write down things in place."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_PLACE", str(place))
        patch.setenv("FAKE_KIND", "cpu")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_enable_metrics_collection", "0")
        head = {"num_cpus": 0, "include_dashboard": False, "node_ip_address": LOOPBACK}
        cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=NODE | head))
        try:
            for _ in range(2):
                add_node(cluster)
            yield cluster
        finally:
            cluster.shutdown()


def add_node(cluster: Any) -> None:
    """One more."""
    patiently(lambda: cluster.add_node(wait=False, **NODE, node_ip_address=LOOPBACK))
    cluster.wait_for_nodes(timeout=300)


def patiently(start: Callable[[], Any]) -> Any:
    """What ``start`` gives: on a busy machine Ray gives up after a time that is no option."""
    for _ in range(9):
        with contextlib.suppress(Exception):
            return start()
    return start()


def require_none_left(place: Path) -> None:
    """All judges that have written down in ``place`` that they began are gone, after a while."""
    deadline = time.monotonic() + 60
    for line in (place / "started").read_text().splitlines() if place.exists() else []:
        while Path(f"/proc/{line.split()[-1]}").exists():
            assert time.monotonic() < deadline, "a judge is left"
            time.sleep(0.1)
