"""Problems in the formats of others, graded as they are: read from the user's checkout, kept there.

:mod:`~harness.formats.base` has the Protocol of a format and the record of such a problem;
:mod:`~harness.formats.known` lists the formats. Nothing of a checkout is imported into the judge:
a format reads names, and all else is told by a confined process, in which
:mod:`~harness.formats.process` runs the problem's Python.
"""
