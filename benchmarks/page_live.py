"""The page while requests come, and its start over a slow network, for `python -m benchmarks --page live`.

- Blank frames: after each painted frame, each request in view must have its row. The frame is blank if one has none.
- Processor time: of all processes of the browser, in seconds a minute, without the watching of frames.
- First content: from the start of the navigation until the view is drawn, with LATENCY_MS and BYTES_PER_SECOND.

The journal of the page is full before. The timeline follows its end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page

from . import goals
from .measurement import Figures
from .process_tree import cpu_seconds

RATES = (0, 100, 300, 1000)
FRAMES_SECONDS = 8.0
CPU_SECONDS = 15.0
SECONDS_A_MINUTE = 60.0
# Long enough for the page to draw the first of the requests.
SETTLE_MS = 1500
TICK_SECONDS = 0.01
LATENCY_MS = 150
BYTES_PER_SECOND = 1_600_000 / 8

# Returns [frames, blank frames]. The height of a row is that of any row.
BLANK_FRAMES = """async (ms) => {
  const chart = document.querySelector(".chart");
  const channel = new MessageChannel();
  // A message is handled after the frame's callbacks, layout and paint.
  const painted = () => new Promise((done) => { channel.port1.onmessage = done; channel.port2.postMessage(0); });
  const isBlank = () => {
    const box = chart.getBoundingClientRect();
    const body = chart.firstElementChild.getBoundingClientRect();
    let covered = 0;
    for (const row of chart.querySelectorAll(".row")) {
      const { top, bottom } = row.getBoundingClientRect();
      covered += Math.max(0, Math.min(bottom, box.bottom) - Math.max(top, box.top));
    }
    return covered < Math.min(body.bottom, box.bottom) - Math.max(body.top, box.top) - 1;
  };
  let frames = 0;
  let blank = 0;
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await new Promise(requestAnimationFrame);
    await painted();
    frames += 1;
    if (isBlank()) blank += 1;
  }
  return [frames, blank];
}"""
VIEW_IS_DRAWN = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("#view > *")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstContent = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
Produce = Callable[[int, int], None]


def measure_live(page: Page, browser_id: int, produce: Produce, first: int) -> Figures:
    """Return blank frames and processor time at each rate.

    browser_id: the process id of the browser. produce(count, first): sends requests, from the number first on.
    """
    figures: Figures = {}
    sent = first
    for rate in RATES:
        with _load(rate, produce, sent) as load:
            page.wait_for_timeout(SETTLE_MS)
            before = cpu_seconds(browser_id)
            page.wait_for_timeout(CPU_SECONDS * 1000)
            used = cpu_seconds(browser_id) - before
            frames, blank = page.evaluate(BLANK_FRAMES, FRAMES_SECONDS * 1000)
        sent += load.sent
        figures[goals.blank_frames(rate)] = 100 * blank / frames
        figures[goals.page_cpu(rate)] = used * SECONDS_A_MINUTE / CPU_SECONDS
    return figures


def measure_start(browser: Browser, url: str) -> Figures:
    """Return the time until the view is drawn, over a slow network."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")  # pyright: ignore[reportUnknownMemberType]
    network = {"offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", network)  # pyright: ignore[reportUnknownMemberType]
    page.add_init_script(VIEW_IS_DRAWN)
    page.goto(url, wait_until="commit")
    page.wait_for_function("() => window.firstContent !== undefined")
    first_content: float = page.evaluate("() => window.firstContent")
    page.context.close()
    return {goals.FIRST_CONTENT_MS: first_content}


class _Load:
    """Requests at a rate, sent by a thread until `end` is set."""

    def __init__(self, rate: int, produce: Produce, first: int) -> None:
        self.sent = 0
        self.end = threading.Event()
        self._rate = rate
        self._produce = produce
        self._first = first
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        begin = time.monotonic()
        while not self.end.wait(TICK_SECONDS):
            due = int((time.monotonic() - begin) * self._rate) - self.sent
            if due:
                self._produce(due, self._first + self.sent)
                self.sent += due


@contextmanager
def _load(rate: int, produce: Produce, first: int) -> Generator[_Load]:
    load = _Load(rate, produce, first)
    load.thread.start()
    try:
        yield load
    finally:
        load.end.set()
        load.thread.join()
