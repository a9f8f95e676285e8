"""Opens a page in the browser and watches what it logs."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, ConsoleMessage, Error, Page

# None lets playwright say what is missing; the tests of the group are skipped before.
CHROMIUM = shutil.which("chromium")


class ScaledSize(NamedTuple):
    """The size of a window. scale: pixels of a picture for each of the page."""

    width: int
    height: int
    scale: float


@contextmanager
def opened(
    browser: Browser,
    url: str,
    *,
    size: tuple[int, int] | ScaledSize,
    scheme: Literal["light", "dark"] = "light",
    expected: tuple[str, ...] = (),
) -> Generator[Page]:
    """Open the URL. expected: texts in errors that the page may log."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=size.scale if isinstance(size, ScaledSize) else 1,
        color_scheme=scheme,
        reduced_motion="reduce",
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
