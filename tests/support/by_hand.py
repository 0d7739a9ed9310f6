"""What is done to the file of a store behind its back."""

import sqlite3
from pathlib import Path


def execute(file: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(statement, values)
    connection.close()
