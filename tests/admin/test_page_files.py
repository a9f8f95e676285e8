"""The files of the page over HTTP: what a browser gets, with which headers, and how much it is."""

import gzip
import json
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from fauxka.admin.page_files import FOLDER, MEDIA_TYPES
from fauxka.faults.actions import ACTION_TYPES, kind_of

from ..serving_process import Serving

PAGE_BYTES_MAX = 150_000
TIMEOUT_SECONDS = 30
PAGE_NAMES = sorted(file.name for file in FOLDER.iterdir())
DECLARED = "declared.js"


def get(broker: Serving, path: str, accepted: str | None = None) -> tuple[HTTPResponse, bytes]:
    """Return the response and its body as sent. accepted: the encodings that the client accepts."""
    connection = HTTPConnection(urlsplit(broker.admin or "").netloc, timeout=TIMEOUT_SECONDS)
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_every_file_is_what_the_package_has_compressed_or_not(broker: Serving) -> None:
    for name in PAGE_NAMES:
        plain, body = get(broker, f"/page/{name}")
        packed, packed_body = get(broker, f"/page/{name}", "gzip, deflate, br, zstd")

        assert body == gzip.decompress(packed_body) == (FOLDER / name).read_bytes(), name
        assert (plain.getheader("Content-Encoding"), packed.getheader("Content-Encoding")) == (None, "gzip")
        assert plain.getheader("Content-Type") in MEDIA_TYPES.values()
        assert packed.getheader("Vary") == "Accept-Encoding"


def test_declarations_are_a_module_of_the_page(broker: Serving) -> None:
    response, body = get(broker, f"/page/{DECLARED}")

    assert response.getheader("Content-Type") == MEDIA_TYPES[".js"]
    constants = dict(line.removeprefix("export const ").split(" = ", 1) for line in body.decode().splitlines())
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


def test_a_browser_loads_at_most_150_kb(broker: Serving) -> None:
    sizes = [len(get(broker, f"/page/{name}", "gzip")[1]) for name in [*PAGE_NAMES, DECLARED]]

    assert sum(sizes) <= PAGE_BYTES_MAX


@pytest.mark.parametrize("path", ["/page/absent.js", "/page/..%2Fpage_files.py", "/page/", "/page/../page_files.py"])
def test_other_names_are_not_found(broker: Serving, path: str) -> None:
    response, body = get(broker, path)

    assert response.status == 404
    assert b"def page_routes" not in body
