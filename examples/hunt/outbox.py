"""An outbox: a table of orders that a relay sends, in the folder that outlives a restart of the relay."""

import os
import sqlite3
from pathlib import Path

from settings import EVENTS


def opened() -> sqlite3.Connection:
    """Return the outbox; the first call fills it."""
    outbox = sqlite3.connect(Path(os.environ["FAUXKA_HUNT_FOLDER"]) / "outbox.db", isolation_level=None)
    if not outbox.execute("SELECT 1 FROM sqlite_master WHERE name = 'orders'").fetchone():
        outbox.execute("BEGIN")
        outbox.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, event BLOB, is_sent INTEGER DEFAULT 0)")
        outbox.executemany("INSERT INTO orders (event) VALUES (?)", [(event,) for event in EVENTS])
        outbox.execute("COMMIT")
    return outbox
