"""Counting the kernels of a graph, with a driver that is made up."""

# ruff: noqa: N802  (the made-up driver's functions have the driver's names)

from typing import Any

import pytest

from harness.runner.driver import Driver

KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY = 0, 1, 2, 3, 4, 5
Graph = list[Any]


class MadeUp:
    """Graphs are lists; a node is a type, or a list for a child graph. Handles are made up."""

    def __init__(self, graph: Graph, *, tells: bool = True) -> None:
        self._objects: dict[int, Any] = {}
        self._tells = tells
        self.graph = self._handle(graph)

    def _handle(self, thing: Any) -> int:
        self._objects[handle := (1 << 40) + 8 * len(self._objects)] = thing
        return handle

    def cuGetErrorString(self, code: int, text: Any) -> int:
        text._obj.value = f"error {code}".encode()
        return 0

    def cuGraphGetNodes(self, graph: Any, nodes: Any, count: Any) -> int:
        if not self._tells:
            return 801
        inside = self._objects[graph.value]
        if nodes is None:
            count._obj.value = len(inside)
            return 0
        assert len(nodes) == count._obj.value == len(inside)
        for place, node in enumerate(inside):
            nodes[place] = self._handle(node)
        return 0

    def cuGraphNodeGetType(self, node: Any, kind: Any) -> int:
        thing = self._objects[node.value]
        kind._obj.value = CHILD if isinstance(thing, list) else thing
        return 0

    def cuGraphChildGraphNodeGetGraph(self, node: Any, graph: Any) -> int:
        graph._obj.value = node.value
        return 0


def driver(library: MadeUp) -> Driver:
    made = Driver.__new__(Driver)
    made._lib = library
    return made


@pytest.mark.parametrize(
    ("graph", "kernels"),
    [
        ([], 0),
        ([KERNEL], 1),
        ([KERNEL, MEMCPY, KERNEL, MEMSET, HOST, EMPTY], 2),
        ([KERNEL, [KERNEL, [KERNEL, MEMCPY], []]], 3),
    ],
)
def test_kernel_nodes_are_counted_and_nothing_else(graph: Graph, kernels: int) -> None:
    library = MadeUp(graph)
    assert driver(library).count_kernels(library.graph) == kernels


def test_endless_child_graphs_end_the_count() -> None:
    endless: Graph = [KERNEL]
    endless.append(endless)
    library = MadeUp(endless)
    assert driver(library).count_kernels(library.graph) == 8


def test_the_kernel_count_is_none_where_the_driver_fails() -> None:
    library = MadeUp([KERNEL], tells=False)
    assert driver(library).count_kernels(library.graph) is None


def test_end_capture_counts_kernels_and_destroys_the_graph() -> None:
    class Capturing(MadeUp):
        destroyed = 0

        def cuStreamEndCapture(self, _stream: Any, graph: Any) -> int:
            graph._obj.value = self.graph
            return 0

        def cuGraphInstantiateWithFlags(self, executable: Any, graph: Any, flags: Any) -> int:
            assert (graph.value, flags.value) == (self.graph, 1)
            executable._obj.value = 77
            return 0

        def cuGraphDestroy(self, _graph: Any) -> int:
            self.destroyed += 1
            return 0

    library = Capturing([KERNEL, KERNEL])
    assert driver(library).end_capture(2) == (77, 2)
    nothing = Capturing([])
    assert driver(nothing).end_capture(2) is None
    assert library.destroyed == nothing.destroyed == 1
