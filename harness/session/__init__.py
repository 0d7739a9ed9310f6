"""The judge's side of one runner: starts it, sends it messages, times it, ends it.

A program and the batches to run come in; answers, times and faults go out.
"""
