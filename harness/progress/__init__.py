"""What a long job shows while it works: phases, steps and the pace of a run over many files.

In come names and counts from whoever works; out comes a line on stderr, if somebody watches it.
Nothing depends on whether it is shown.
"""
