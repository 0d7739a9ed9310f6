"""Generations: submissions that are raw outputs of language models.

In goes the text of a dump. Out comes the code in it, or why there is none, with what the dump says
of itself: :func:`.extract.extract`. Nothing is imported here, so that a file's name can be judged
at once.
"""
