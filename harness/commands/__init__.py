"""The commands, by what they are about; :mod:`harness.cli` puts them together."""
