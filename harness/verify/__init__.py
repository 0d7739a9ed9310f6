"""``harness verify``: prove that a problem package rejects what is wrong and accepts what is right.

In comes a package; out comes a :class:`~.findings.PackageReport`: which impostors (wrong answers
made from the problem itself) its judge lets through, which honest variants it rejects, what its
reference, statement and examples lack.
"""
