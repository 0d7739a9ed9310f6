"""Text for people and programs: escaping, plain lines, numbers with units, did-you-mean.

In comes text that may be hostile, or a number in SI units; out comes text that is safe to print.
Knows of no record.
"""
