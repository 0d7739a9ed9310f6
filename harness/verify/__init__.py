"""A problem package proves itself: ``harness verify``."""
