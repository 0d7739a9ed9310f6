"""The protocol between the judge and the processes that it starts.

:mod:`.messages` has one record for each message, :mod:`.transport` sends and receives them as JSON
over a Unix socket, :mod:`.mailbox` is the shared page with the two counters of a timed run. What
comes from a runner is checked field by field and never believed. ``docs/reference/protocol.md`` is
made from the records.
"""
