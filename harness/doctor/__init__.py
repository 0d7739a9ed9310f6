"""What this machine can do: compilers, frameworks, devices, sandbox and stores, tried one by one.

In comes the environment; out come findings, each with its state and remedy, and how a terminal
shows them. Nothing that is submitted is involved.
"""
