"""What the tests of the faults view click and read."""

import json
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer
from playwright.sync_api import Locator, Page, expect

from ..broker.topic_client import TOPIC
from ..serving_process import Serving

# Without a response a test ends here; a broker in the same machine responds within milliseconds.
FLUSH_SECONDS_MAX = 60

HOLD = {
    "match": {"api": "Produce"},
    "when": {"times": None},
    "point": "received",
    "action": {"kind": "hold"},
}


def open_faults(page: Page, tab: str = "Requests") -> None:
    """Show a tab of the faults view."""
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Faults").click()
    page.get_by_role("navigation", name="Faults of").get_by_role("link", name=tab).click()
    expect(page.get_by_role("navigation", name="Faults of").get_by_role("link", name=tab)).to_have_attribute(
        "aria-current", "page"
    )


def recipe(page: Page, label: str) -> Locator:
    """Return the button that arms a recipe."""
    return page.get_by_role("button", name=label, exact=True)


def rules(page: Page) -> Locator:
    """Return the rows of the rules in force."""
    return page.get_by_role("list", name="rules in force").get_by_role("listitem")


def rule(page: Page, name: str) -> Locator:
    """Return the row of a rule. name: its id and its name, such as "1 lost ack"."""
    return page.locator("li.rule").filter(has_text=name)


def shown_text(page: Page, language: str) -> str:
    """Return the text to copy of the open dialog or of the session, in a language."""
    panel = page.locator("section.copy").last
    panel.get_by_role("button", name=language, exact=True).click()
    return panel.locator("code").inner_text()


def json_to_copy(page: Page) -> dict[str, Any]:
    """Return the rule that the open dialog shows."""
    found: dict[str, Any] = json.loads(shown_text(page, "JSON"))
    return found


def close_dialog(page: Page) -> None:
    """Close the open dialog."""
    page.get_by_role("button", name="Close dialog").click()


def produce(broker: Serving, value: bytes = b"one coffee", client_id: str = "shop") -> None:
    """Produce a record with the idempotent producer of confluent-kafka, and wait for its acknowledgement."""
    settings = {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "client.id": client_id}
    producer = Producer({**settings, "linger.ms": 0, "retry.backoff.ms": 10})
    producer.produce(TOPIC, value)
    assert producer.flush(FLUSH_SECONDS_MAX) == 0


@contextmanager
def producing(broker: Serving, page: Page, *names: str) -> Generator[None]:
    """Produce a record by a client of each name, in this order, within the block; the block releases them."""
    with ThreadPoolExecutor(len(names)) as threads:
        pending: list[Future[None]] = []
        for name in names:
            pending.append(threads.submit(produce, broker, name.encode(), name))
            expect(held_row(page, name)).to_be_visible()
        yield
        for each in pending:
            each.result()


def held_rows(page: Page) -> Locator:
    """Return the rows of the held requests."""
    return page.get_by_role("list", name="Held requests").get_by_role("listitem")


def held_row(page: Page, client_id: str) -> Locator:
    """Return the row of the held request of a client."""
    return held_rows(page).filter(has_text=f"Produce of {client_id}")
