"""Read ``problem.md``: the front matter, strictly, with every complaint on its line.

In comes a folder; out comes a :class:`~harness.problem.package.Problem`, or a ``ProblemError`` with
all that is wrong. Text goes through YAML (:mod:`.frontmatter`) and converters (:mod:`.fields`).
"""
