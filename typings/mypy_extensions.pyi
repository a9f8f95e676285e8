"""Read by pyright only, which does not know that mypy converts an int to an i64 where one is expected."""

i64 = int
