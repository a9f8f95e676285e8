"""Segment files in an object store that throttles, fails for a moment, cuts responses short, hangs or is down."""

import threading
from collections.abc import Callable, Iterator
from errno import EACCES
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read import store_address
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.object_store import ArrowFiles, store_errors
from fauxka.pipeline.read.store_attempts import UNANSWERED_ATTEMPTS_MAX, attempted, waits_of_process
from fauxka.pipeline.read.stores import store_of

from ..object_store import BUCKET, Bucket, running_bucket, set_variables
from ..storage_proxy import HANG, SHORT, THROTTLE, StorageProxy, storage_proxy
from .logs_on_disk import batches, options_of, read, rows_of, write_segment
from .plain_rows import Row

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as bucket, pytest.MonkeyPatch.context() as patch:
        set_variables(patch, bucket)
        yield bucket


@pytest.fixture
def proxy(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorageProxy]:
    """A proxy in front of the bucket, through which this process reads."""
    with storage_proxy(bucket.endpoint) as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{running.endpoint}")
        yield running


@pytest.fixture(scope="module")
def log(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of segment files, and its URI."""
    folder = tmp_path_factory.mktemp("log")
    for partition in range(2):
        write_segment(folder / f"t-{partition}", batches(0, 120, bytes(300)), index_every=4)
    return folder, bucket.upload(folder, "throttled")


def without_file(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_throttled_log_has_the_same_rows(proxy: StorageProxy, log: tuple[Path, str], share: float) -> None:
    folder, uri = log
    before = waits_of_process()
    proxy.throttle(share)

    rows = read(path=uri, splitBytes=2 * 1024, storageAttempts=20)

    waits = waits_of_process().since(before)
    assert without_file(rows) == without_file(read(path=folder))
    assert waits.count == sum(proxy.counts.values()) > 0
    assert waits.seconds > 0


@pytest.mark.parametrize("what", [THROTTLE, SHORT])
@pytest.mark.parametrize("kind", ["LIST", "HEAD", "GET"])
def test_a_request_that_fails_once_is_sent_again(
    proxy: StorageProxy, log: tuple[Path, str], kind: str, what: str
) -> None:
    if (kind, what) == ("HEAD", SHORT):
        pytest.skip("a HEAD has no body")
    folder, uri = log
    proxy.once(kind, what)

    rows = read(path=uri, splitBytes=16 * 1024)

    assert without_file(rows) == without_file(read(path=folder))
    assert proxy.counts == {(what, kind): 1}


def test_a_write_that_fails_once_is_sent_again(proxy: StorageProxy, bucket: Bucket) -> None:
    store, place = store_of("json", f"s3://{BUCKET}/written/a.json")
    proxy.once("PUT", THROTTLE)

    store.write(place, b"{}")

    assert bucket.get("written/a.json") == b"{}"
    assert proxy.counts == {(THROTTLE, "PUT"): 1}


def test_readers_of_streams_see_no_failure(proxy: StorageProxy, bucket: Bucket) -> None:
    content = b"\n".join(b"line %d" % number for number in range(100_000))
    uri = bucket.put("lines.txt", content)
    store, place = store_of("sent", uri)
    assert isinstance(store, ArrowFiles)
    proxy.throttle(0.4)

    with store.open_stream(place) as stream:
        found = stream.read()

    assert found == content
    assert proxy.counts


def test_a_store_that_always_throttles_is_one_line_with_its_reason(proxy: StorageProxy, log: tuple[Path, str]) -> None:
    _, uri = log
    splits = FileLog(options_of(path=uri, storageAttempts=2)).splits()
    proxy.throttle(1)

    with pytest.raises(BadOption, match=r"^path: [^\n]*t-0[^\n]* cannot be read: [^\n]*HTTP status 503[^\n]*$"):
        rows_of(splits)

    assert sum(proxy.counts.values()) == 2


def test_a_listing_that_is_throttled_has_all_attempts(proxy: StorageProxy, log: tuple[Path, str]) -> None:
    _, uri = log
    proxy.throttle(1)

    with pytest.raises(BadOption, match="cannot be read"):
        read(path=uri, storageAttempts=UNANSWERED_ATTEMPTS_MAX + 2)

    assert proxy.counts == {(THROTTLE, "LIST"): UNANSWERED_ATTEMPTS_MAX + 2}


def test_a_listing_without_a_response_is_attempted_a_few_times_only(
    proxy: StorageProxy, log: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "REQUEST_SECONDS_MAX", 0.5)
    _, uri = log
    proxy.hang()

    with pytest.raises(BadOption, match="cannot be read"):
        read(path=uri)

    assert proxy.counts == {(HANG, "LIST"): UNANSWERED_ATTEMPTS_MAX}


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(EACCES, "opening HDFS path '/log' failed"),
        OSError("google::cloud::Status(PERMISSION_DENIED: Permanent error in Read: 403 Forbidden)"),
        OSError("google::cloud::Status(UNAUTHENTICATED: Permanent error in Read: Invalid credentials)"),
        OSError("GetProperties failed. Azure Error: [AuthorizationFailure] 403 This request is not authorized."),
        OSError("GetProperties failed. Azure Error: [NoAuthenticationInformation] 401 Server failed to authenticate"),
    ],
    ids=lambda error: str(error)[:40],
)
def test_denied_access_fails_at_once(error: OSError) -> None:
    before = waits_of_process()

    def call() -> None:
        with store_errors("gs://bucket/log"):
            raise error

    with pytest.raises(OSError, match=r"gs://bucket/log") as raised:
        attempted(call, 2)

    assert raised.value.errno == EACCES
    assert waits_of_process() == before


def test_a_number_in_a_path_is_no_status() -> None:
    before = waits_of_process()

    def call() -> None:
        with store_errors("abfs://container/403/log"):
            raise OSError("Connection reset while reading container/403/log")

    with pytest.raises(OSError, match="Connection reset"):
        attempted(call, 2)

    assert waits_of_process().since(before).count == 1


def test_the_variable_of_amazons_clients_sets_the_attempts(
    proxy: StorageProxy, log: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    proxy.throttle(1)

    with pytest.raises(BadOption, match="cannot be read"):
        read(path=log[1])
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "many")
    with pytest.raises(BadOption, match=r"^AWS_MAX_ATTEMPTS: must be a whole number of 1 or more, not many$"):
        read(path=log[1])

    assert proxy.counts == {(THROTTLE, "LIST"): 1}


@pytest.mark.parametrize("stop", [StorageProxy.close, StorageProxy.hang], ids=["down", "hangs"])
def test_a_store_that_is_gone_is_one_line(
    proxy: StorageProxy, log: tuple[Path, str], stop: Callable[[StorageProxy], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "REQUEST_SECONDS_MAX", 0.5)
    splits = FileLog(options_of(path=log[1], storageAttempts=3)).splits()
    stop(proxy)

    with pytest.raises(BadOption, match=r"^path: [^\n]* cannot be read: [^\n]*$"):
        rows_of(splits)


def test_a_store_that_comes_back_is_read_on(proxy: StorageProxy, log: tuple[Path, str]) -> None:
    folder, uri = log
    splits = FileLog(options_of(path=uri, splitBytes=16 * 1024)).splits()
    proxy.throttle(1)
    back = threading.Timer(1.0, lambda: proxy.throttle(0))
    back.start()

    rows = rows_of(splits)

    assert without_file(rows) == without_file(read(path=folder))
    assert proxy.counts
