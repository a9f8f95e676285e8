"""The files of the page over HTTP: what a browser gets, with which headers, and how much it is."""

import gzip
import json
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from fauxka.admin.joined_script import join_modules
from fauxka.admin.page_files import MEDIA_TYPES, SCRIPT
from fauxka.admin.page_sources import FOLDER, page_modules
from fauxka.faults.actions import ACTION_TYPES, kind_of

from ..serving_process import Serving

PAGE_BYTES_MAX = 100_000
TIMEOUT_SECONDS = 30
DECLARED = "declared.js"


def get(broker: Serving, path: str, headers: dict[str, str] | None = None) -> tuple[HTTPResponse, bytes]:
    """Return the response and its body as sent."""
    connection = HTTPConnection(urlsplit(broker.admin or "").netloc, timeout=TIMEOUT_SECONDS)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_every_file_is_what_the_package_has_compressed_or_not(broker: Serving) -> None:
    contents = {name: (FOLDER / name).read_bytes() for name in MEDIA_TYPES if name != SCRIPT}
    contents[SCRIPT] = join_modules(page_modules(), SCRIPT).encode()

    for name, content in contents.items():
        plain, body = get(broker, f"/page/{name}")
        packed, packed_body = get(broker, f"/page/{name}", {"Accept-Encoding": "gzip, deflate, br, zstd"})

        assert body == gzip.decompress(packed_body) == content, name
        assert (plain.getheader("Content-Encoding"), packed.getheader("Content-Encoding")) == (None, "gzip")
        assert plain.getheader("Content-Type") == MEDIA_TYPES[name]
        assert packed.getheader("Vary") == "Accept-Encoding"


@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_a_file_that_the_browser_has_is_not_sent_again(broker: Serving, name: str) -> None:
    etag = str(get(broker, f"/page/{name}")[0].getheader("ETag"))

    for known in (etag, f'"other", {etag}'):
        same, body = get(broker, f"/page/{name}", {"If-None-Match": known, "Accept-Encoding": "gzip"})
        assert (same.status, body, same.getheader("ETag")) == (304, b"", etag)
    other, body = get(broker, f"/page/{name}", {"If-None-Match": '"other"'})
    assert other.status == 200
    assert body


def test_declarations_are_a_module_of_the_page() -> None:
    lines = page_modules()[DECLARED].splitlines()

    constants = dict(line.removeprefix("export const ").split(" = ", 1) for line in lines)
    assert json.loads(constants["FAMILIES"].removesuffix(";")) == {
        kind_of(action): action.family.value for action in ACTION_TYPES
    }


def test_the_page_may_run_and_call_nothing_from_elsewhere(broker: Serving) -> None:
    response, body = get(broker, "/")

    assert body == (FOLDER / "index.html").read_bytes()
    policy = dict(part.split(" ", 1) for part in str(response.getheader("Content-Security-Policy")).split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[part] for part in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert response.getheader("X-Content-Type-Options") == "nosniff"


def test_a_browser_loads_at_most_100_kb(broker: Serving) -> None:
    sizes = [len(get(broker, f"/page/{name}", {"Accept-Encoding": "gzip"})[1]) for name in MEDIA_TYPES]

    assert sum(sizes) <= PAGE_BYTES_MAX


@pytest.mark.parametrize("path", ["/page/absent.js", "/page/..%2Fpage_files.py", "/page/", "/page/../page_files.py"])
def test_other_names_are_not_found(broker: Serving, path: str) -> None:
    response, body = get(broker, path)

    assert response.status == 404
    assert b"def page_routes" not in body
