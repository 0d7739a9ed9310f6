"""A problem author's Python, run in a confined process of its own.

:mod:`~harness.author.client` is the judge's side: it starts the process when it is first asked for
something. :mod:`~harness.author.main` runs in there. What comes back is numbers of declared kinds
in shared memory, or a complaint in words: nothing is unpickled, and no code of the author's is
loaded on this side.
"""
