"""From options to a running cluster and back: options, data folder, start, recovery, crash, reset, snapshot, shutdown.

- Options are checked before anything is created; an error names the option, its value and what is allowed.
- A data folder has one owner at a time (`data_directory.py`). Its metadata file says which topics exist.
- Loading is by Kafka's rules for a clean and an unclean shutdown; a log that cannot be recovered stops the start.
- A node that crashes keeps what was on the disk, and nothing else. The other nodes go on.
- The commands that need no broker of their own, such as health and topics, are here too.
"""
