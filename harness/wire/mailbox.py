"""The mailbox: one shared page with two counters, *go* and *done*."""

import mmap

MAILBOX_BYTES = 4096
_GO, _DONE = 0, 8


class Mailbox:
    """Two counters in a page that both processes map."""

    def __init__(self, fd: int) -> None:
        self._page = mmap.mmap(fd, MAILBOX_BYTES)
        self._words = memoryview(self._page).cast("Q")

    @property
    def go(self) -> int:
        """The judge's counter: number of the round that may run."""
        return self._words[_GO]

    @go.setter
    def go(self, value: int) -> None:
        self._words[_GO] = value

    @property
    def done(self) -> int:
        """The runner's counter: number of the last round that it reports as done."""
        return self._words[_DONE]

    @done.setter
    def done(self, value: int) -> None:
        self._words[_DONE] = value

    def close(self) -> None:
        """Unmap the page."""
        self._words.release()
        self._page.close()
