"""A browser for all tests, and a broker and a page of it for each one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving, serving
from .open_page import CHROMIUM, opened
from .shop import CONFIGS, open_shop

WIDE = (1280, 800)
NARROW = (390, 800)
# The broker looks for changes twice a second, and less often on a machine that does much else.
SHOWN_MS_MAX = 30_000
REFUSED = ("status of 400", "status of 404", "status of 409")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # It has an event loop until the end, and tests of coroutines cannot run beside it: the next file may have some.
    with sync_playwright() as playwright:
        expect.set_options(timeout=SHOWN_MS_MAX)
        # Tests run as root in containers, where the browser's own sandbox cannot start.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A broker with something in each view, the same in each run."""
    folder = tmp_path_factory.mktemp("shop")
    # Without a folder the broker has no file faults.
    with serving(folder, "--admin-port", "0", "--data-dir", str(folder / "data"), *CONFIGS) as started:
        assert started.admin is not None
        with open_shop(started.bootstrap, AdminClient(started.admin)) as filled:
            filled.do_everything()
            yield started


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Serving]:
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC, "-c", "fauxka.busy.poll.us=0") as started:
        yield started


@pytest.fixture
def admin(broker: Serving) -> AdminClient:
    assert broker.admin is not None
    return AdminClient(broker.admin)


@pytest.fixture
def page(browser: Browser, broker: Serving) -> Iterator[Page]:
    """The page of the broker, at its timeline. The test fails if the page has logged an error."""
    with opened(browser, f"{broker.admin}/", size=WIDE) as shown:
        yield shown


@pytest.fixture
def refused_page(browser: Browser, broker: Serving) -> Iterator[Page]:
    """The page, whose calls the broker may refuse: the browser logs each of them as an error."""
    with opened(browser, f"{broker.admin}/", size=WIDE, expected=REFUSED) as shown:
        yield shown
