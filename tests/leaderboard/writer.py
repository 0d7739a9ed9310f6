"""A process that adds results to a store and prints each id once the store has taken it.

Usage: writer.py FILE PREFIX COUNT
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from support.samples import result  # noqa: E402 (the path comes first)

from leaderboard.store import Store  # noqa: E402


def main(file: str, prefix: str, count: int) -> None:
    with Store.open(file) as store:
        for number in range(count):
            store.add(result(id=f"{prefix}-{number}"))
            print(f"{prefix}-{number}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
