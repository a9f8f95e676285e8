"""The measures of client quotas: a rate over samples, and a token bucket (Kafka: common/metrics/stats).

Source: Rate, SampledStat, TokenBucket, QuotaUtils and ControllerMutationQuotaManager, Kafka 4.3.0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_MS_PER_SECOND = 1000
# Wire integers have 32 bits.
_THROTTLE_MS_MAX = 2**31 - 1


class Window(NamedTuple):
    """The samples of a measure: their number (quota.window.num) and length (quota.window.size.seconds)."""

    samples: int
    sample_ms: int


class _Sample:
    """What was recorded from its start on, for the length of a sample."""

    __slots__ = ("last_event_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_event_ms = now_ms
        self.value = 0.0


class SampledRate:
    """The rate of values a second, over the last samples."""

    __slots__ = ("_current", "_samples", "_window", "last_used_ms")

    def __init__(self, window: Window, now_ms: int) -> None:
        """Begin without a value."""
        self._window = window
        self._samples = [_Sample(now_ms)]
        self._current = 0
        self.last_used_ms = now_ms

    def record(self, value: float, now_ms: int) -> None:
        """Add a value; a negative one takes back what was recorded."""
        self.last_used_ms = now_ms
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._window.sample_ms:
            sample = self._advance(now_ms)
        sample.value += value
        sample.last_event_ms = now_ms

    def _advance(self, now_ms: int) -> _Sample:
        # One more than the samples of the window, for the one that overlaps its start.
        self._current = (self._current + 1) % (self._window.samples + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].reset(now_ms)
        return self._samples[self._current]

    def throttle_time_ms(self, bound: float, now_ms: int) -> int:
        """Return how long nothing may be recorded until the rate is at most bound; 0 if it is."""
        window_ms = self._measured_ms(now_ms)
        rate = sum(sample.value for sample in self._samples) / (window_ms / _MS_PER_SECOND)
        if rate <= bound:
            return 0
        return rounded((rate - bound) / bound * window_ms)

    def _measured_ms(self, now_ms: int) -> int:
        """Return the length of what is measured: at least all samples but one."""
        sample_ms = self._window.sample_ms
        for sample in self._samples:
            if now_ms - sample.last_event_ms >= self._window.samples * sample_ms:
                sample.reset(now_ms)
        elapsed_ms = now_ms - min(sample.start_ms for sample in self._samples)
        missing = self._window.samples - 1 - elapsed_ms // sample_ms
        return max(elapsed_ms + max(missing, 0) * sample_ms, 1)


class TokenBucket:
    """Tokens that are refilled with a rate. A full one has those of the whole window."""

    __slots__ = ("_tokens", "_updated_ms", "_window", "last_used_ms")

    def __init__(self, window: Window, now_ms: int) -> None:
        """Begin with a full bucket."""
        self._window = window
        self._tokens = math.inf
        self._updated_ms = self.last_used_ms = now_ms

    def take(self, count: float, bound: float, now_ms: int) -> None:
        """Take tokens; the bucket may then owe some."""
        self.last_used_ms = now_ms
        self._refill(bound, now_ms)
        self._tokens -= count

    def throttle_time_ms(self, bound: float, now_ms: int) -> int:
        """Return how long the bucket will owe tokens; 0 if it owes none."""
        self._refill(bound, now_ms)
        return 0 if self._tokens >= 0 else rounded(-self._tokens / bound * _MS_PER_SECOND)

    def _refill(self, bound: float, now_ms: int) -> None:
        burst = self._window.samples * self._window.sample_ms / _MS_PER_SECOND * bound
        self._tokens = min(burst, self._tokens + bound * (now_ms - self._updated_ms) / _MS_PER_SECOND)
        self._updated_ms = now_ms


def rounded(throttle_ms: float) -> int:
    """Return a throttle time as an integer, rounded as in Java."""
    if math.isnan(throttle_ms):
        return 0
    return _THROTTLE_MS_MAX if throttle_ms >= _THROTTLE_MS_MAX else math.floor(throttle_ms + 0.5)
