"""The devices that submissions run on: what each kind can do, its memory, and how it is held still.

In comes a choice of ``auto``, ``cuda`` or ``cpu``; out comes a device that meets the Protocol of
:mod:`harness.device.base`, with its monitor, its lock and its measured roofline.
"""
