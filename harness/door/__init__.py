"""The Python door: sources in, results out, from any program, trainer or notebook.

:class:`~harness.door.judge.Judge` is all that callers need; ``import harness`` shows it. It starts
the judge as a process of its own (:mod:`.worker`), so that the torch, CUDA, threads and signals of
neither disturb the other, and talks to it (:mod:`.connection`) in lines of JSON
(:mod:`.messages`). On the caller's side neither torch nor a command is imported.
"""
