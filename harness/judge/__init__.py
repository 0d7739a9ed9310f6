"""The trusted side: holds inputs, reference, clock and verdict; never loads submitted code."""
