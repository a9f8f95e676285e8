"""Faults planted in a log and its ledgers, to compare with the findings of an audit.

- A fault is a function that appends batches to a PlantedLog (planted_log.py) and adds the findings they must cause.
- A log is valid except for its faults, so an audit that finds anything else is wrong too.
- The faults are in modules by subject; plants.py lists them and draws logs.
- `python -m tests.planted` audits drawn logs by the command of users and prints a table of what was planted and found.
"""
