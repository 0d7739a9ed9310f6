"""A judge for GPU kernels whose verdicts cannot be influenced by what it judges."""

__version__ = "0.1.0"
