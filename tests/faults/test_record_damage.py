"""One damaged record in the records of a Fetch response."""

import pytest

from fauxka.faults.record_damage import find_record
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from fauxka.protocol.batches.whole_batches import split_batches, whole_batches
from fauxka.protocol.fetch_codec import FetchedPartition

VALUES = [f"value-{number}" for number in range(6)]
DAMAGED = VALUES[4].replace("u", "t")


@pytest.mark.parametrize("codec", Compression)
@pytest.mark.parametrize("keeps_crc", [True, False])
def test_batches_stay_whole_and_only_one_crc_is_wrong(codec: Compression, keeps_crc: bool) -> None:
    batches = [
        build_batch(
            [Record(value.encode(), b"k") for value in VALUES[start : start + 3]],
            BatchOptions(base_offset=start, compression=codec),
        )
        for start in (0, 3)
    ]
    fetched = FetchedPartition(0, records=[memoryview(b"".join(batches))])

    found = find_record([fetched], offset=4, nth=1)
    assert found is not None
    found.damage(keeps_crc=keeps_crc)

    data = b"".join(fetched.records)
    split = [bytes(batch.data) for batch in split_batches(memoryview(data))]
    values = [(record.value or b"").decode() for batch in split for record in decode_batch(batch)]
    assert values == [*VALUES[:4], DAMAGED, VALUES[5]]
    assert (split[0], len(data), fetched.records_bytes) == (batches[0], sum(map(len, split)), len(data))
    assert len(list(whole_batches(data))) == (1 if keeps_crc else 2)


@pytest.mark.parametrize(("offset", "nth"), [(6, 1), (None, 7), (2, 1)])
def test_record_that_is_missing_or_has_no_value_is_not_found(offset: int | None, nth: int) -> None:
    batch = build_batch([Record(b"a"), Record(b"b"), Record(None, b"k")])
    fetched = FetchedPartition(0, records=[memoryview(batch)])

    assert find_record([fetched], offset=offset, nth=nth) is None
