"""Options of the data source: parsing and validation. Each error is one line that names the option."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from ...client.client_security import PLAINTEXT, ClientSecurity
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..decode.id_hashes import HashedId, HashSet
from ..decode.row_source import OFFSET_MAX
from ..decode.views import ViewName
from .connection_options import COMMAND_CONFIG, KAFKA_PREFIX, connection_options, parse_security

Default = TypeVar("Default", int, None)
Made = TypeVar("Made")

# The special timestamps of ListOffsets; also accepted as offsets in JSON.
EARLIEST = -2
LATEST = -1

# The bytes of a file that one task reads.
SPLIT_BYTES_DEFAULT = 32 * 1024 * 1024
SPLIT_BYTES_MIN = 1024
# The offsets of a partition that one task fetches.
SPLIT_RECORDS_DEFAULT = 1_000_000
TIMEOUT_MS_DEFAULT = 30_000

# Internal topics are read only if the option topics names them.
INTERNAL_TOPICS = frozenset(
    {
        *("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", "@metadata"),
        "__remote_log_metadata",
    }
)

# In the order of docs/pipeline.md.
OPTION_NAMES = (
    "path",
    "tier",
    "bootstrap",
    "view",
    "topics",
    "topicPattern",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestampStrategy",
    "isolationLevel",
    "splitBytes",
    "splitRecords",
    "failOnDataLoss",
    "timeoutMs",
    "storageAttempts",
    COMMAND_CONFIG,
)
# Set by a job for its own readers: stored_listing.py, and id_hashes.py.
LISTING, HASHED_ID, HASH_SET = "listing", "hashedid", "hashset"
_OWN_NAMES = (LISTING, HASHED_ID, HASH_SET)
# The characters of an invalid one in its message.
_SHOWN_MAX = 40
_PLACE_OPTIONS = frozenset({"path", "bootstrap", "storageattempts", LISTING})


@dataclass(frozen=True, slots=True)
class OffsetChoice:
    """A start or an end of reading: offsets by topic and partition, and EARLIEST or LATEST for all other partitions.

    timestamp: in milliseconds; replaces both by the offset of the first record at or behind that time, or LATEST.
    is_record_needed: a partition without such a record is an error.
    """

    default: int
    offsets: dict[tuple[str, int], int]
    timestamp: int | None = None
    is_record_needed: bool = False

    def of(self, topic: str, partition: int) -> int:
        """Return an offset, EARLIEST or LATEST."""
        return self.offsets.get((topic, partition), self.default)


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Validated options. Exactly one of path and bootstrap is set.

    storage_attempts: of each request to an object store; None for those of the environment. listing: the content
    that stored_listing.py writes; None lists the files. tier: the path of the remote tier of the log at path. hashed,
    wanted: see Decoder.
    """

    path: str | None
    bootstrap: tuple[tuple[str, int], ...]
    view: ViewName
    topics: frozenset[str] | None
    topic_pattern: str | None
    starting: OffsetChoice
    ending: OffsetChoice
    is_committed: bool
    split_bytes: int
    split_records: int
    is_loss_failure: bool
    timeout_ms: int
    security: ClientSecurity = PLAINTEXT
    storage_attempts: int | None = None
    listing: str | None = None
    tier: str | None = None
    hashed: HashedId | None = None
    wanted: HashSet | None = None

    @property
    def isolation_level(self) -> int:
        """The isolation level of the wire protocol: 1 is read_committed."""
        return int(self.is_committed)

    def is_wanted(self, topic: str) -> bool:
        """Whether the options select the topic."""
        if self.topics is not None:
            return topic in self.topics
        if topic in INTERNAL_TOPICS:
            return False
        return self.topic_pattern is None or re.fullmatch(self.topic_pattern, topic) is not None


def parse_options(given: Mapping[str, str]) -> LogOptions:
    """Parse the options of a data source; names are case-insensitive. Raises BadOption."""
    options = {name.lower(): value for name, value in given.items()}
    known = {name.lower() for name in (*OPTION_NAMES, *_OWN_NAMES)}
    unknown = sorted(name for name in options.keys() - known if not name.startswith(KAFKA_PREFIX))
    if unknown:
        name = next(name for name in given if name.lower() == unknown[0])
        raise BadOption(f"option {name} is not known; known options are {', '.join(OPTION_NAMES)} and {KAFKA_PREFIX}*")
    path, bootstrap = options.get("path"), options.get("bootstrap")
    if (path is None) == (bootstrap is None):
        raise BadOption("set exactly one of the options path (segment files) and bootstrap (a broker's host:port)")
    if path is None and "tier" in options:
        raise BadOption("tier: needs the option path, because a broker reads its remote tier by itself")
    if "topics" in options and "topicpattern" in options:
        raise BadOption("set only one of the options topics and topicPattern, not both")
    starting, ending = _choice("starting", options), _choice("ending", options)
    if ending.default == EARLIEST or EARLIEST in ending.offsets.values():
        raise BadOption("endingOffsets: must be latest or offsets, not earliest (-2)")
    return LogOptions(
        path=path,
        bootstrap=_addresses(bootstrap),
        view=_view(options),
        topics=_topics(options.get("topics")),
        topic_pattern=_pattern(options.get("topicpattern")),
        starting=starting,
        ending=ending,
        is_committed=_is_committed(options.get("isolationlevel", "read_uncommitted")),
        split_bytes=_number("splitBytes", options, SPLIT_BYTES_DEFAULT, SPLIT_BYTES_MIN),
        split_records=_number("splitRecords", options, SPLIT_RECORDS_DEFAULT, 1),
        is_loss_failure=_flag("failOnDataLoss", options.get("failondataloss", "true")),
        timeout_ms=_number("timeoutMs", options, TIMEOUT_MS_DEFAULT, 1),
        security=parse_security(options),
        storage_attempts=_number("storageAttempts", options, None, 1),
        listing=options.get(LISTING),
        tier=options.get("tier"),
        hashed=_of_audit(HASHED_ID, options, HashedId.from_text),
        wanted=_of_audit(HASH_SET, options, HashSet.from_text),
    )


def _of_audit(name: str, options: Mapping[str, str], parse: Callable[[str], Made]) -> Made | None:
    if name not in options:
        return None
    text = options[name]
    try:
        return parse(text)
    except ValueError:
        raise BadOption(f"{name}: must be the text that an audit has made, not {text[:_SHOWN_MAX]}") from None


def _is_committed(text: str) -> bool:
    if text not in ("read_uncommitted", "read_committed"):
        raise BadOption(f"isolationLevel: must be read_uncommitted or read_committed, not {text}")
    return text == "read_committed"


def _view(options: Mapping[str, str]) -> ViewName:
    match options.get("view", "records"):
        case ("records" | "batches") as view:
            return view
        case "id_hashes" if HASHED_ID in options:
            return "id_hashes"
        case text:
            raise BadOption(f"view: must be records or batches, not {text}")


def _addresses(bootstrap: str | None) -> tuple[tuple[str, int], ...]:
    if bootstrap is None:
        return ()
    addresses: list[tuple[str, int]] = []
    for address in bootstrap.split(","):
        host, separator, port = address.strip().rpartition(":")
        if not separator or not host or not port.isdecimal() or not 0 < int(port) < 2**16:
            raise BadOption(f"bootstrap: must be host:port, or several separated by commas, not {bootstrap}")
        addresses.append((host.strip("[]"), int(port)))
    return tuple(addresses)


def _topics(text: str | None) -> frozenset[str] | None:
    if text is None:
        return None
    topics = frozenset(name.strip() for name in text.split(",") if name.strip())
    if not topics:
        raise BadOption("topics: must be names separated by commas")
    return topics


def _pattern(text: str | None) -> str | None:
    if text is not None:
        try:
            re.compile(text)
        except re.error as error:
            raise BadOption(f"topicPattern: {text} is not a regular expression: {error}") from None
    return text


def options_of_same_place(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that read another topic of the same broker or of the same listing of a path."""
    place = {name: value for name, value in options.items() if name.lower() in _PLACE_OPTIONS}
    return place | connection_options(options)


def _number(name: str, options: Mapping[str, str], default: Default, least: int) -> int | Default:
    text = options.get(name.lower())
    if text is None:
        return default
    if not text.isdecimal() or int(text) < least:
        raise BadOption(f"{name}: must be a whole number of {least} or more, not {text}")
    return int(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise BadOption(f"{name}: must be true or false, not {text}")
    return text.lower() == "true"


def _choice(side: str, options: Mapping[str, str]) -> OffsetChoice:
    """Return the start or the end of reading. side: starting or ending, the beginning of the options' names."""
    default = EARLIEST if side == "starting" else LATEST
    text = options.get(f"{side}timestamp")
    offsets = options.get(f"{side}offsets")
    if text is None:
        return OffsetChoice(default, {}) if offsets is None else parse_offsets(f"{side}Offsets", offsets)
    if offsets is not None:
        raise BadOption(f"set only one of the options {side}Offsets and {side}Timestamp, not both")
    if not text.isdecimal() or int(text) > OFFSET_MAX:
        raise BadOption(f"{side}Timestamp: must be milliseconds since 1970, not {text}")
    strategy = options.get("startingoffsetsbytimestampstrategy", "error")
    if strategy not in ("error", "latest"):
        raise BadOption(f"startingOffsetsByTimestampStrategy: must be error or latest, not {strategy}")
    return OffsetChoice(default, {}, int(text), is_record_needed=side == "starting" and strategy == "error")


def parse_offsets(name: str, text: str) -> OffsetChoice:
    """Return the choice of earliest, latest, or JSON by topic and partition. name: of the option. Raises BadOption."""
    default = EARLIEST if name == "startingOffsets" else LATEST
    if text.lower() in ("earliest", "latest"):
        return OffsetChoice(EARLIEST if text.lower() == "earliest" else LATEST, {})
    shape = f'{name}: must be earliest, latest or JSON such as {{"topic": {{"0": 5}}}}, not {text}'
    try:
        topics: object = json.loads(text)
    except ValueError:
        raise BadOption(shape) from None
    offsets: dict[tuple[str, int], int] = {}
    for topic, partitions in _items(topics, shape):
        for partition, offset in _items(partitions, shape):
            is_offset = isinstance(offset, int) and not isinstance(offset, bool) and EARLIEST <= offset <= OFFSET_MAX
            if not partition.isdecimal() or not is_offset:
                raise BadOption(shape)
            offsets[topic, int(partition)] = cast(int, offset)
    return OffsetChoice(default, offsets)


def _items(value: object, shape: str) -> list[tuple[str, object]]:
    if not isinstance(value, dict):
        raise BadOption(shape)
    return list(cast(dict[str, object], value).items())


def check_record_found(choice: OffsetChoice, offsets: Mapping[PartitionName, int]) -> None:
    """Raise BadOption for a partition without a record at or behind the time, if the choice needs one.

    offsets: by ListOffsets; LATEST for a partition without such a record.
    """
    missing = sorted(name for name, offset in offsets.items() if offset == LATEST)
    if missing and choice.is_record_needed:
        topic, partition = missing[0]
        raise BadOption(
            f"startingTimestamp: {topic}-{partition} has no record at or behind {choice.timestamp};"
            " startingOffsetsByTimestampStrategy=latest begins at its end"
        )
