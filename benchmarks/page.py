"""Measures the page of the admin API in headless Chromium: `python -m benchmarks --page [PART ...]`.

start: weight, first timeline and frames while it scrolls. live: blank frames and processor time while requests come,
and the start over a slow network (page_live.py). heap: memory over ten minutes.

- Weight: all files of the page, as they are in the package and as a browser receives them.
- First timeline: from the start of the navigation until the first requests are drawn, with a new browser context.
- Frames: while the timeline of REQUESTS requests scrolls from end to end at three zooms, and while it stands at its end
  and new requests come. A frame of 60 Hz has 16.7 ms; the work of the page in it is measured too.
- Memory: the JavaScript heap after collections of garbage, before and after ten minutes of EVENTS_PER_SECOND requests.
  The journal of the page is full before.

Every 50th response is lost, and its request is repeated.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from fauxka.admin.page_sources import FOLDER
from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

from . import goals, report
from .measurement import Figures, medians
from .page_live import measure_live, measure_start
from .process_tree import process_ids, program_of
from .targets import FAUXKA, Target, running

HOST = "127.0.0.1"
TOPIC = "orders"
VERSION = 9
REQUESTS = 10_000
# Requests beyond a full journal remove others, which a page does in steps.
FULL = REQUESTS + REQUESTS // 10
LOST_EVERY = 50
EVENTS_PER_SECOND = 200
HEAP_SECONDS = 600.0
ZOOMS_OUT = (0, 2, 4)
RULE = {
    "match": {"api": "Produce", "topic": TOPIC},
    "when": {"every": LOST_EVERY},
    "point": "answering",
    "action": {"kind": "close"},
}
TIMEOUT_SECONDS = 30.0
RESPONSE_BYTES_MAX = 1 << 20
MIB = 1 << 20

# Scrolls through the whole chart in 240 frames, or waits as many; returns [ms between frames, ms of work in a frame].
FRAMES = """async ({ isScrolling }) => {
  const chart = document.querySelector(".chart");
  const frame = () => new Promise(requestAnimationFrame);
  const channel = new MessageChannel();
  // A message is handled after the frame's callbacks, layout and paint.
  const painted = () => new Promise((done) => { channel.port1.onmessage = done; channel.port2.postMessage(0); });
  const found = [];
  let last = await frame();
  for (let step = 1; step <= 240; step += 1) {
    if (isScrolling) chart.scrollTop = (chart.scrollHeight - chart.clientHeight) * step / 240;
    const now = await frame();
    await painted();
    found.push([now - last, performance.now() - now]);
    last = now;
  }
  return found;
}"""
HEAP_BYTES = "() => { window.gc(); window.gc(); return performance.memory.usedJSHeapSize; }"


def main(names: list[str], round_count: int) -> dict[str, Figures]:
    """Measure the named parts, or all; print the table and the goals. Raises SystemExit if chromium is missing."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("--page needs chromium")
    print(report.machine())
    with sync_playwright() as playwright:
        # A sandbox of the browser's own cannot start as root.
        arguments = ["--no-sandbox", "--js-flags=--expose-gc", "--enable-precise-memory-info"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        figures: Figures = {}
        for name in names or PARTS:
            rounds = [_with_broker(browser, PARTS[name]) for _ in range(1 if name == HEAP else round_count)]
            figures |= medians(rounds)
        browser.close()
    results = {FAUXKA: figures}
    print(report.table(results), report.checklist(results, goals.PAGE_GOALS), sep="\n\n")
    return results


def _command(port: int, ready_file: Path) -> list[str]:
    return [
        sys.executable, "-m", "fauxka", "serve", "--port", str(port), "--admin-port", str(port + 1),
        "--ready-file", str(ready_file), "-c", "fauxka.busy.poll.us=0",
    ]  # fmt: skip


def _with_broker(browser: Browser, measured: Callable[[Browser, int], Figures]) -> Figures:
    with running(Target(FAUXKA, _command)) as broker:
        body = json.dumps(RULE).encode()
        rule = urllib.request.Request(
            f"http://{HOST}:{broker.port + 1}/v1/rules", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(rule):
            return measured(browser, broker.port)


def _speed(browser: Browser, port: int) -> Figures:
    _produce(port, REQUESTS)
    # The first context of a browser starts a process.
    _opened(browser, port).context.close()
    page = _opened(browser, port)
    figures: Figures = {
        "page as files, KB": sum(file.stat().st_size for file in FOLDER.iterdir()) / 1000,
        goals.PAGE_KB: page.evaluate(
            "() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
            ".filter((each) => !each.name.includes('/v1/')).reduce((sum, each) => sum + each.encodedBodySize, 0)"
        )
        / 1000,
        goals.FIRST_TIMELINE_MS: page.evaluate("() => window.firstTimeline"),
    }
    page.wait_for_function(f"() => document.querySelector('.count').textContent.includes('{REQUESTS:,}')")
    between: list[float] = []
    work: list[float] = []
    for zoom in range(max(ZOOMS_OUT) + 1):
        if zoom in ZOOMS_OUT:
            frames = page.evaluate(FRAMES, {"isScrolling": True})
            between += [each[0] for each in frames]
            work += [each[1] for each in frames]
        page.get_by_role("button", name="Zoom out").click()
    figures |= {
        "scrolling: median of ms between frames": statistics.median(between),
        goals.FRAMES_P99_MS: _p99(between),
        "scrolling: median of ms of work in a frame": statistics.median(work),
        "scrolling: p99 of ms of work in a frame": _p99(work),
    }
    page.context.close()
    return figures


def _live(browser: Browser, port: int) -> Figures:
    page = _opened_full(browser, port)
    # The process of this session's browser: the driver of playwright starts it.
    browser_id = next(each for each in process_ids(os.getpid()) if program_of(each) == "chromium")
    live = measure_live(page, browser_id, lambda count, first: _produce(port, count, first), FULL)
    page.context.close()
    return live | measure_start(browser, f"http://{HOST}:{port + 1}/")


def _opened_full(browser: Browser, port: int) -> Page:
    """Return the page with a full journal, from which new requests remove others."""
    _produce(port, REQUESTS)
    page = _opened(browser, port)
    page.wait_for_function(f"() => document.querySelector('.count').textContent.includes('{REQUESTS:,}')")
    _produce(port, FULL - REQUESTS, first=REQUESTS)
    page.wait_for_timeout(2000)
    return page


def _memory(browser: Browser, port: int) -> Figures:
    page = _opened_full(browser, port)
    before = page.evaluate(HEAP_BYTES)
    sent, begin = 0, time.monotonic()
    frames: list[float] = []
    while (seconds := time.monotonic() - begin) < HEAP_SECONDS:
        due = round(seconds * EVENTS_PER_SECOND) - sent
        _produce(port, due, first=FULL + sent)
        sent += due
        frames += [each[0] for each in page.evaluate(FRAMES, {"isScrolling": False})]
    page.wait_for_timeout(2000)
    after = page.evaluate(HEAP_BYTES)
    return {
        "heap with a full journal, MiB": before / MIB,
        "heap ten minutes later, MiB": after / MIB,
        goals.HEAP_RATIO: after / before,
        "new requests: median of ms between frames": statistics.median(frames),
        "new requests: p99 of ms between frames": _p99(frames),
    }


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[-1]


def _opened(browser: Browser, port: int) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(
        "new MutationObserver((_, observer) => { if (document.querySelector('.row') === null) return;"
        " requestAnimationFrame(() => { window.firstTimeline ??= performance.now(); }); observer.disconnect(); })"
        ".observe(document, { childList: true, subtree: true });"
    )
    page.goto(f"http://{HOST}:{port + 1}/")
    page.wait_for_function("() => window.firstTimeline !== undefined")
    return page


def _produce(port: int, count: int, first: int = 0) -> None:
    """Send batches with the sequences from first on, each again until its response comes."""
    connection = _connection(port)
    for sequence in range(first, first + count):
        options = BatchOptions(producer_id=1, producer_epoch=0, base_sequence=sequence)
        batch = build_batch([Record(b"order %d" % sequence, timestamp=0)], options)
        data = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=0, records=batch)])
        request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[data])
        while True:
            try:
                connection.send_request(ApiKey.PRODUCE, VERSION, request, ProduceResponse.read)
                break
            except ConnectionFailed:
                connection.close()
                connection = _connection(port)
    connection.close()


def _connection(port: int) -> BrokerConnection:
    return BrokerConnection(HOST, port, timeout_seconds=TIMEOUT_SECONDS, response_bytes_max=RESPONSE_BYTES_MAX)


HEAP = "heap"
PARTS: dict[str, Callable[[Browser, int], Figures]] = {"start": _speed, "live": _live, HEAP: _memory}
