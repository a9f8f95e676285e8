"""Opens a page in the browser and watches what it logs."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Error, Page

# None lets playwright say what is missing; the tests of the group are skipped before.
CHROMIUM = shutil.which("chromium")


@contextmanager
def opened(
    browser: Browser,
    url: str,
    *,
    size: tuple[int, int],
    scheme: Literal["light", "dark"] = "light",
    expected: tuple[str, ...] = (),
) -> Generator[Page]:
    """Open the URL. expected: texts in errors that the page may log."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    logged: list[str] = []

    def log(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            logged.append(message.text)

    def fail(error: Error) -> None:
        logged.append(str(error))

    page.on("console", log)
    page.on("pageerror", fail)
    try:
        page.goto(url)
        yield page
        assert [text for text in logged if not any(each in text for each in expected)] == []
    finally:
        context.close()
