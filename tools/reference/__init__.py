"""The pages and schemas in docs/ that are made from the code: see :mod:`reference.pages`."""
