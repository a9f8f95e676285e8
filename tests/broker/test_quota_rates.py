"""The measures of client quotas, with the numbers that Kafka's classes have for the same calls."""

from fauxka.broker.runtime.quota_rates import SampledRate, TokenBucket, Window, rounded

WINDOW = Window(samples=11, sample_ms=1000)
START = 1_700_000_000_000


def test_first_value_counts_over_all_samples_but_one() -> None:
    rate = SampledRate(WINDOW, START)

    rate.record(20_000, START)

    assert rate.throttle_time_ms(2000, START) == 0
    assert rate.throttle_time_ms(1000, START) == 10_000
    assert rate.throttle_time_ms(1990, START) == 50


def test_part_of_a_sample_lengthens_the_window_and_a_whole_one_does_not() -> None:
    rate = SampledRate(WINDOW, START)
    rate.record(20_000, START)

    # 20,000 bytes in 10.5 s are 1904.76 bytes a second.
    assert rate.throttle_time_ms(1000, START + 500) == 9500
    assert rate.throttle_time_ms(1000, START + 1000) == 10_000
    assert rate.throttle_time_ms(1000, START + 1999) == 9001


def test_value_counts_until_its_sample_is_eleven_samples_old() -> None:
    rate = SampledRate(WINDOW, START)
    rate.record(20_000, START)

    assert rate.throttle_time_ms(1, START + 10_999) == 19_989_001
    assert rate.throttle_time_ms(1, START + 11_000) == 0


def test_sample_that_overlaps_the_start_of_the_window_counts_whole() -> None:
    rate = SampledRate(WINDOW, START)
    rate.record(1000, START)
    rate.record(1000, START + 999)
    for second in range(1, 12):
        rate.record(100, START + 1000 * second)

    # The window begins with the first sample, whose last value is 10,001 ms old.
    assert rate.throttle_time_ms(100, START + 11_000) == 20_000


def test_value_that_is_taken_back_does_not_count() -> None:
    rate = SampledRate(WINDOW, START)
    rate.record(20_000, START)

    rate.record(-20_000, START)

    assert rate.throttle_time_ms(1, START) == 0


def test_bucket_begins_with_the_tokens_of_the_whole_window() -> None:
    bucket = TokenBucket(WINDOW, START)

    bucket.take(22, 2, START)
    assert bucket.throttle_time_ms(2, START) == 0

    bucket.take(3, 2, START)
    assert bucket.throttle_time_ms(2, START) == 1500
    assert bucket.throttle_time_ms(2, START + 1499) == 1
    assert bucket.throttle_time_ms(2, START + 1500) == 0


def test_bucket_never_has_more_than_the_tokens_of_the_window() -> None:
    bucket = TokenBucket(WINDOW, START)
    bucket.take(1, 2, START)

    bucket.take(23, 2, START + 1_000_000)

    assert bucket.throttle_time_ms(2, START + 1_000_000) == 500


def test_throttle_time_is_rounded_as_in_java() -> None:
    assert [rounded(value) for value in (0.4, 0.5, 1.5, 2.5, float("nan"), float("inf"))] == [0, 1, 2, 3, 0, 2**31 - 1]
