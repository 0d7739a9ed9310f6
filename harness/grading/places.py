"""Where judges are, as the list that feeds them sees it: a card of this host, or a cluster's."""

from multiprocessing.connection import Connection
from typing import Protocol

from harness.grading.card_wire import Setup


class Judge(Protocol):
    """One judge, from its start to its end."""

    @property
    def link(self) -> Connection:
        """What it says can be received from here; closed at its end."""

    @property
    def placed(self) -> bool:
        """It has a machine, and is not waiting for one."""

    @property
    def lost(self) -> bool:
        """It ended with its machine, or by a hand from outside: that says nothing of the card."""

    def send(self, message: object) -> None:
        """Tell it something; if it is gone, that shows when it is listened to."""

    def finish(self) -> None:
        """There is nothing more to do: let it end by itself, or end it."""

    def stop(self) -> None:
        """Tell it to end now; returns at once."""

    def end(self) -> None:
        """End it and all below it, and wait until they are gone."""

    def how_it_ended(self) -> str:
        """In words, after its channel has closed."""


class Place(Protocol):
    """Room for one judge at a time."""

    @property
    def name(self) -> str:
        """What people are told: ``card 0``."""

    @property
    def device(self) -> str:
        """What a judge there opens: ``cuda``, the only card that it sees, or ``cpu``."""

    def start(self, setup: Setup) -> Judge:
        """A judge there; returns at once."""
