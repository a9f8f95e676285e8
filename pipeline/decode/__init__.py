"""Decoding of record batches to Arrow columns, with numpy and without a loop over records where that is possible.

- Input is the bytes of batches and where they were (row_source.py). Nothing here reads a file, a socket or an option.
- A damaged batch is one row that says what is wrong. It is never an exception, and never hides the batches behind it.
- The columns and types of both views are in views.py.
"""
