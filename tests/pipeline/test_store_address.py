"""URIs of stores: their addresses, the paths of pyarrow that they stand for, and the environment."""

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.store_address import StoreAddress, is_uri, local_path_of, open_store, parse_uri

ENDPOINT = ("endpoint_override", "127.0.0.1:9000")


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        ("s3://bucket/a/b?endpoint_override=127.0.0.1:9000", "bucket/a/b"),
        ("s3a://bucket/a/b/?endpoint_override=127.0.0.1:9000", "bucket/a/b"),
        ("s3://bucket?endpoint_override=127.0.0.1:9000", "bucket"),
        ("gs://bucket/a/b", "bucket/a/b"),
        ("gs://anonymous@bucket/a?endpoint_override=127.0.0.1:9000&scheme=http", "bucket/a"),
        ("abfs://container@account.dfs.core.windows.net/a/b", "container/a/b"),
        ("abfss://container@account.dfs.core.windows.net", "container"),
        ("abfs://account.blob.core.windows.net/container/a", "container/a"),
    ],
)
def test_a_uri_stands_for_a_path_of_pyarrow_and_back(uri: str, key: str) -> None:
    address, place = parse_uri("path", uri, {})

    store = open_store(address)

    assert store.key_of(place) == key
    assert store.uri_of(key) == place
    assert "?" not in place


@pytest.mark.parametrize(
    ("uri", "variables", "parameters"),
    [
        ("s3://b/x", {}, ()),
        (
            "s3://b/x",
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000/"},
            (ENDPOINT, ("region", "us-east-1"), ("scheme", "http")),
        ),
        (
            "s3://b/x",
            {"AWS_ENDPOINT_URL_S3": "https://127.0.0.1:9000", "AWS_ENDPOINT_URL": "http://other", "AWS_REGION": "eu"},
            (ENDPOINT, ("region", "eu"), ("scheme", "https")),
        ),
        (
            "s3://b/x?endpoint_override=127.0.0.1:9000&region=here",
            {"AWS_ENDPOINT_URL": "http://other", "AWS_DEFAULT_REGION": "eu"},
            (ENDPOINT, ("region", "here")),
        ),
        ("gs://b/x", {"AWS_ENDPOINT_URL": "http://other"}, ()),
    ],
)
def test_the_endpoint_is_that_of_the_uri_or_of_the_environment(
    uri: str, variables: dict[str, str], parameters: tuple[tuple[str, str], ...]
) -> None:
    address, place = parse_uri("path", uri, variables)

    assert address == StoreAddress(uri[:2], "b", parameters)
    assert place == f"{uri[:2]}://b/x"


@pytest.mark.parametrize("uri", ["s3://key:secret@b/x", "gs://key:secret@b/x", "abfs://c:secret@account/x"])
def test_credentials_in_a_uri_are_rejected_and_not_printed(uri: str) -> None:
    with pytest.raises(BadOption, match=r"^sent: a URI must not contain credentials; set them in the environment$"):
        parse_uri("sent", uri, {})


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/a/b", "/a/b"),
        ("a:b/c", "a:b/c"),
        ("file:/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("file:a/b", "a/b"),
        ("FILE:///a/b", "/a/b"),
        ("s3://bucket/a", None),
        ("hdfs://host:9000/a", None),
    ],
)
def test_a_path_is_of_this_machine_or_of_a_store(path: str, local: str | None) -> None:
    assert local_path_of(path) == local
    assert is_uri(path) == (local is None or path.lower().startswith("file:"))
