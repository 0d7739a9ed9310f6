"""Entry points of Python submissions: a module and arguments come in, filled outputs go out.

Returned outputs are made in the judge's buffers, or copied there.
"""
