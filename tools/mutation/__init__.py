"""How good is the judge? Spoil right solutions in one place at a time, and see what it lets pass.

Mutation analysis after DeMillo, Lipton, Sayward, *Hints on test data selection: help for the
practicing programmer*, Computer 11(4), 1978. Method, results and survivors:
docs/explanation/mutants.md.
"""
