"""What the validation cases share: a topic, a batch builder, and the two kinds of case."""

from typing import Unpack

from ...wire.wire_connection import ConnectionClosedError
from ..case_recorder import Answer, Case, CaseRecorder, Heading, Sending, captured_sending
from ..raw_batches import BatchFields, StoredBatch, batch, stored_batches

# Farther than this from what was sent, a stored timestamp is recorded as it is.
FAR_MS = 1_000_000_000


class ValidationScene:
    """One topic with default settings, to which everything right and wrong is sent."""

    def __init__(self, recorder: CaseRecorder) -> None:
        self.recorder = recorder
        self.topic = recorder.create_topic()
        self.unknown_topic = recorder.unique("no-such")

    @property
    def now(self) -> int:
        """The timestamp of all batches that do not ask for another."""
        return self.recorder.started_ms

    def batch(self, record_count: int = 1, *, timestamp: int | None = None, **fields: Unpack[BatchFields]) -> bytes:
        return batch(record_count, self.now if timestamp is None else timestamp, **fields)

    def check(self, case: str, records: bytes | None, **sending: Unpack[Sending]) -> None:
        """Send to the scene's topic and record the answer."""
        self.check_topic(case, self.topic, records, **sending)

    def check_topic(self, case: str, topic: str, records: bytes | None, **sending: Unpack[Sending]) -> None:
        heading = Heading(case, captured_sending(sending), self.now)
        self.recorder.produce_case(heading, topic, records, **sending)

    def check_size(self, case: str, topic: str, records: bytes) -> None:
        """As check_topic; the case says how large the batch was."""
        self.recorder.produce_case(Heading(case, {"size": len(records)}, self.now), topic, records)

    def check_stored(self, case: str, records: bytes, stored_case: str) -> None:
        """Send to the scene's topic, record the answer, and as a second case what is stored."""
        offset = self.recorder.log_end_offset(self.topic)
        self.check(case, records)
        assert isinstance(offset, int)
        self.stored(stored_case, offset)

    def stored(self, case: str, offset: int) -> None:
        """Record the header of the first batch from offset on."""
        partition = self.recorder.fetch(self.topic, offset)
        batches = [stored for stored in stored_batches(partition.data("records")) if stored.base_offset >= offset]
        answer = Answer(partition.integer("error_code"), high_watermark=partition.integer("high_watermark"))
        described = self._described(batches[0], len(batches)) if batches else None
        self.recorder.record(case, None, answer, stored=described)

    def _described(self, stored: StoredBatch, batch_count: int) -> Case:
        since_sent = stored.max_timestamp - self.now
        records = stored.records
        return {
            "base_offset": stored.base_offset,
            "attrs": stored.attributes,
            "leader_epoch": stored.partition_leader_epoch,
            "count": stored.record_count,
            "last_delta": stored.last_offset_delta,
            "crc_ok": stored.is_crc_right,
            "pid": stored.producer_id,
            "base_ts_is_sent": stored.base_timestamp == self.now,
            "max_ts_minus_sent": since_sent if abs(since_sent) < FAR_MS else stored.max_timestamp,
            "record_offsets": None if records is None else [record.offset_delta for record in records],
            "batches": batch_count,
        }

    def check_frame(self, case: str, request: bytes) -> None:
        """Send a whole request, right or wrong, on a connection of its own, and record only whether it is answered."""
        with self.recorder.connect() as connection:
            try:
                connection.send_frame(request)
                result = f"RESPONSE {len(connection.receive_frame())} bytes"
            except ConnectionClosedError:
                result = "CONNECTION_CLOSED"
        self.recorder.record(case, None, Answer(result))
