"""The extensions of the files that are submissions: one per language family, named once."""

CUDA = ".cu"
PTX = ".ptx"
PYTHON = ".py"
SOURCES = (CUDA, PTX, PYTHON)
"""CUDA C++, PTX, and Python with whatever it imports."""
GENERATIONS = (".txt", ".md")
"""What a language model said."""
RECORDS = (".jsonl", ".ndjson", ".json")
"""Records of what models said; those of the last are passed over in folders."""
KNOWN = sorted({*SOURCES, *GENERATIONS})
"""The extensions of submissions; a record is one by its number."""

NAMED = ", ".join(SOURCES[:-1]) + f" or {SOURCES[-1]}"
"""The same in words."""
