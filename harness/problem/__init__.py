"""Problems: what they declare, their cases, the right answers, and how much error is allowed.

In comes a folder with ``problem.md`` and ``reference.py``; out comes an object that meets
:class:`~.gradable.Gradable`, which is all the judge asks for. Another format meets it in its own
way: read :mod:`.gradable` first.
"""
