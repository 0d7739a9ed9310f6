"""A package to verify, written where a test wants it."""

from support.verify_packages import package as package
