"""The partition of a key: Kafka's own examples."""

import pytest

from fauxka.protocol.murmur2 import murmur2, partition_of_key

# From UtilsTest.testMurmur2, Kafka 4.3.0, as Java's int.
KAFKA_EXAMPLES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", KAFKA_EXAMPLES, ids=bytes.decode)
def test_hash_is_that_of_kafka(key: bytes) -> None:
    assert murmur2(key) == KAFKA_EXAMPLES[key] % 2**32


def test_partition_is_that_of_the_positive_hash() -> None:
    # A negative int in Java, made positive by its low 31 bits.
    assert partition_of_key(b"foobar", 7) == (-790332482 & 0x7FFFFFFF) % 7
