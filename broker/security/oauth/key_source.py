"""Where the key set of a listener comes from: a file, read once, or a URL, fetched again and again.

A thread fetches, so that neither the event loop nor a client waits; only the start of the broker does. It ends when the
fetch has succeeded, or when the broker is gone: between two tries it has only a weak reference to the source. A set is
fetched again with the first token after refresh_ms, and after a token of an unknown key; that token is refused.
Source: JwksFileVerificationKeyResolver, RefreshingHttpsJwks, Kafka 4.3.0. Kafka fetches again when the time has come.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    UnknownHandler,
    url2pathname,  # pyright: ignore[reportDeprecated]
)

from ...config.config_types import ConfigError
from .bearer_token import InvalidToken
from .key_set import KeySet, KeySetError, parse_key_set

logger = logging.getLogger(__name__)

# A set of a hundred keys with certificates has less.
KEY_SET_BYTES_MAX = 1024 * 1024
# The longest silence of a server, and a whole fetch.
READ_SECONDS_MAX = 5.0
FETCH_SECONDS_MAX = 10.0
# Of the configured waits: a server is not asked in a loop, and a thread can wait that long.
BACKOFF_MS_MIN = 10
BACKOFF_MS_MAX = 24 * 3600 * 1000
_PIECE_BYTES = 64 * 1024
THREAD_NAME = "jwks"
_SCHEMES = ("http", "https", "file")


class KeySource(Protocol):
    """Has a key set."""

    def prepare(self) -> None:
        """Get the first key set. May wait for the network, so it is called in a thread."""
        ...

    def key_set(self) -> KeySet:
        """Return the newest key set. Raises InvalidToken without one."""
        ...

    def key_is_missing(self) -> None:
        """Take note that a token has a key that is not in the set."""
        ...


class FileKeySource:
    """The key set of a file: URL."""

    def __init__(self, url: str, key: str) -> None:
        """Read the file. key: of the configuration, for the message. Raises ConfigError."""
        path = Path(url2pathname(urlsplit(url).path))  # pyright: ignore[reportDeprecated]
        try:
            with path.open("rb") as file:
                self._keys = parse_key_set(_bounded(file.read(KEY_SET_BYTES_MAX + 1)))
        except (OSError, ValueError, KeySetError) as error:
            raise ConfigError(f"{key}: {path}: {error}") from error

    def prepare(self) -> None:
        """Do nothing: the file has been read."""

    def key_set(self) -> KeySet:
        """Return the key set."""
        return self._keys

    def key_is_missing(self) -> None:
        """Do nothing: Kafka reads the file once."""


class RefreshTimes(NamedTuple):
    """refresh_ms: the age of a set that is fetched again. backoff_ms, backoff_max_ms: between two tries."""

    refresh_ms: int
    backoff_ms: int
    backoff_max_ms: int


class UrlKeySource:
    """The key set of an http: or https: URL."""

    def __init__(self, url: str, times: RefreshTimes) -> None:
        """Fetch nothing yet."""
        # Java ignores user and password, and urllib takes them for a part of the host.
        self._url = _without_user(url)
        self._times = times
        self._lock = threading.Lock()
        self._is_fetching = False
        self._keys: KeySet | None = None
        self._fetched_at = 0.0
        self._has_tried = threading.Event()

    def prepare(self) -> None:
        """Fetch the first set, and wait for it READ_SECONDS_MAX at most. The thread tries again if that fails."""
        if self._keys is None:
            self._start_fetch()
            self._has_tried.wait(READ_SECONDS_MAX)

    def key_set(self) -> KeySet:
        """Return the newest set, and fetch it again if it is old. Raises InvalidToken without one."""
        if self._keys is None:
            self._start_fetch()
            raise InvalidToken("the key set has not been fetched yet")
        if self._age_ms > self._times.refresh_ms:
            self._start_fetch()
        return self._keys

    def key_is_missing(self) -> None:
        """Fetch the set again, unless it was fetched within backoff_ms: a provider may have changed its keys."""
        if self._age_ms > _bounded_backoff(self._times.backoff_ms):
            self._start_fetch()

    @property
    def _age_ms(self) -> float:
        return (time.monotonic() - self._fetched_at) * 1000

    def _start_fetch(self) -> None:
        with self._lock:
            if self._is_fetching:
                return
            self._is_fetching = True
        arguments = (weakref.ref(self), self._times)
        threading.Thread(target=_fetch_until_it_succeeds, args=arguments, name=THREAD_NAME, daemon=True).start()

    def fetch_ended(self) -> None:
        """Let another thread fetch."""
        with self._lock:
            self._is_fetching = False

    def fetch(self) -> bool:
        """Fetch the set once. Return whether that succeeded."""
        try:
            self._keys = parse_key_set(_read(self._url))
        except (OSError, ValueError, HTTPException, KeySetError) as error:
            if isinstance(error, HTTPError):
                # It holds the connection.
                error.close()
            # The error itself would keep the source, if a handler keeps the record.
            logger.warning("the key set of %s cannot be fetched: %s", _shown(self._url), str(error))
            return False
        finally:
            self._has_tried.set()
        self._fetched_at = time.monotonic()
        return True


def _fetch_until_it_succeeds(reference: weakref.ref[UrlKeySource], times: RefreshTimes) -> None:
    backoff_ms = times.backoff_ms
    while _needs_another_fetch(reference):
        time.sleep(_bounded_backoff(backoff_ms) / 1000)
        backoff_ms = min(2 * backoff_ms, times.backoff_max_ms)


def _needs_another_fetch(reference: weakref.ref[UrlKeySource]) -> bool:
    """Fetch the set once. Return whether that failed; False if the source is gone."""
    source = reference()
    if source is None:
        return False
    has_failed = False
    try:
        has_failed = not source.fetch()
    finally:
        if not has_failed:
            source.fetch_ended()
    return has_failed


def open_key_source(url: str, times: RefreshTimes, key: str) -> KeySource:
    """Return the source of a URL. key: of the configuration, for the message. Raises ConfigError."""
    try:
        scheme, has_host = urlsplit(url).scheme.lower(), bool(urlsplit(url).hostname)
    except ValueError as error:
        raise ConfigError(f"{key}: {error}") from error
    if scheme not in _SCHEMES or (scheme != "file" and not has_host):
        raise ConfigError(f"{key}: expected a URL with {', '.join(_SCHEMES)}, got {_shown(url)}")
    return FileKeySource(url, key) if scheme == "file" else UrlKeySource(url, times)


def _opener_of(scheme: str) -> OpenerDirector:
    """Return what opens URLs of this scheme alone, http or https.

    It follows no redirect to another scheme, as Java: a set of an https: URL does not come over http:.
    """
    opener = OpenerDirector()
    handlers = (ProxyHandler, UnknownHandler, HTTPDefaultErrorHandler, HTTPRedirectHandler, HTTPErrorProcessor)
    for handler in (*handlers, HTTPSHandler if scheme == "https" else HTTPHandler):
        opener.add_handler(handler())
    return opener


def _read(url: str) -> bytes:
    """Return the body of a response. Raises OSError, ValueError and HTTPException."""
    deadline = time.monotonic() + FETCH_SECONDS_MAX
    pieces: list[bytes] = []
    size = 0
    with _opener_of(urlsplit(url).scheme).open(url, timeout=READ_SECONDS_MAX) as response:
        while piece := response.read1(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{size} bytes after {FETCH_SECONDS_MAX} s")
            if size > KEY_SET_BYTES_MAX:
                break
    return _bounded(b"".join(pieces))


def _bounded_backoff(backoff_ms: int) -> int:
    return min(max(backoff_ms, BACKOFF_MS_MIN), BACKOFF_MS_MAX)


def _bounded(data: bytes) -> bytes:
    if len(data) > KEY_SET_BYTES_MAX:
        raise ValueError(f"a key set has at most {KEY_SET_BYTES_MAX} bytes")
    return data


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _shown(url: str) -> str:
    """Return a URL for the log, without user, password and query, which may have a secret."""
    return _without_user(url).partition("?")[0]
