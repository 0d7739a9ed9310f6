"""What a long job shows while it works: phases, steps and the pace of a run over many files.

In come names and counts of a job; out comes a line on stderr, if that is a terminal.
Nothing depends on whether it is shown.
"""
