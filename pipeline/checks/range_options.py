"""The options --since and --until as options of the data source."""

from __future__ import annotations

import os

from ..bad_option import BadOption
from ..option_time import find_milliseconds
from ..read.file_store import LOCAL_FILES
from ..read.options import parse_offsets
from ..read.stores import store_of

OFFSETS_SUFFIX = ".json"


def range_options(since: str | None, until: str | None, now_ms: int) -> dict[str, str]:
    """Return the options of the data source that read the records from since up to, not including, until.

    since, until: a time (see option_time), or a file of offsets by topic and partition; a since file that does not
    exist is the beginning of the log. now_ms: the time from which a duration counts. Raises BadOption.
    """
    starting = {} if since is None else _options_of("since", since, now_ms)
    ending = {} if until is None else _options_of("until", until, now_ms)
    names = ("startingTimestamp", "endingTimestamp")
    start, end = starting.get(names[0]), ending.get(names[1])
    if start is not None and end is not None and int(start) >= int(end):
        raise BadOption(f"until: {until} is not later than since: {since}")
    if start is not None:
        # A partition without such records has nothing to audit.
        starting["startingOffsetsByTimestampStrategy"] = "latest"
    return starting | ending


def is_first_run(since: str | None, now_ms: int) -> bool:
    """Whether since is a file of offsets that no earlier audit has written."""
    return since is not None and find_milliseconds(since, now_ms) is None and not _is_file("since", since)


def _options_of(name: str, text: str, now_ms: int) -> dict[str, str]:
    side = "starting" if name == "since" else "ending"
    timestamp = find_milliseconds(text, now_ms)
    if timestamp is not None:
        return {f"{side}Timestamp": str(timestamp)}
    if not _is_file(name, text):
        store, place = store_of(name, text)
        if name == "since" and place.endswith(OFFSETS_SUFFIX) and not (store is LOCAL_FILES and os.path.exists(place)):
            return {f"{side}Offsets": "earliest"}
        raise BadOption(
            f"{name}: must be a time such as 2026-01-31T12:00:00Z, milliseconds since 1970, a duration such as 24h,"
            f" or a file of offsets, not {text}"
        )
    return {f"{side}Offsets": _offsets_in(name, text)}


def _is_file(name: str, text: str) -> bool:
    store, place = store_of(name, text)
    try:
        return store.list_files(place).is_file(place)
    except OSError as error:
        raise BadOption(f"{name}: {text} cannot be read: {error.strerror}") from error


def _offsets_in(name: str, file: str) -> str:
    store, place = store_of(name, file)
    try:
        content = store.read(place).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadOption(f"{name}: {file} cannot be read: {reason}") from error
    try:
        # An empty object is valid: all partitions are read from their beginning, or up to their end.
        if content.lstrip().startswith("{"):
            parse_offsets(name, content)
            return content
    except (BadOption, RecursionError):
        pass
    raise BadOption(f'{name}: {file} must contain JSON such as {{"topic": {{"0": 5}}}}')
