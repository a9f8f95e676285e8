"""The views of the page with the shop in them, one address each."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from .shop import GROUP, ORDERS, PAYMENTS, TRANSACTIONAL_ID

# The request with the order whose acknowledgement was lost before.
REPETITION = 9


def press(button: str) -> Callable[[Page], None]:
    """Return what presses a button."""
    return lambda page: page.get_by_role("button", name=button, exact=True).first.click()


def open_first_record(page: Page) -> None:
    page.locator(".record summary").first.click()


def chart_is_drawn(page: Page) -> None:
    """Wait for the marks, which come after the requests, and for the overview, which is drawn after the chart."""
    expect(page.locator(".marks > *").first).to_be_visible()
    page.wait_for_function(
        "() => document.querySelector('.overview canvas').height ==="
        " Math.round(document.querySelector('.chart').clientHeight * devicePixelRatio)"
    )


@dataclass(frozen=True)
class ShownView:
    """A view: its address, a text by which it is complete, and what is done then."""

    name: str
    address: str
    text: str
    act: Callable[[Page], None] | None = None

    def show(self, page: Page) -> None:
        """Wait for the view."""
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        expect(page.locator("#view").get_by_text(self.text).first).to_be_visible()
        if self.act is not None:
            self.act(page)


TIMELINE = ShownView("timeline", f"#timeline/{REPETITION}", "Recognised batches now", chart_is_drawn)
TOPICS = ShownView("topics", "#topics", "1 finding")
TOPIC = ShownView("topic", f"#topics/{ORDERS}", "cold brew")
GROUPS = ShownView("groups", "#groups", GROUP)
GROUP_VIEW = ShownView("group", f"#groups/{GROUP}", "Stale member committed")
TRANSACTIONS = ShownView("transactions", "#transactions", TRANSACTIONAL_ID)
NODES = ShownView("nodes", "#nodes", "Leader of")
VERDICTS = ShownView("verdicts", "#verdict", "1 finding")
VERDICT = ShownView("verdict", f"#verdict/{PAYMENTS}", "Stored twice")
FAULTS = ShownView("faults", "#faults", "hold at received")
FILES = ShownView("file faults", "#faults/files", "Torn write")
BROKER = ShownView("clock and broker", "#faults/broker", "stands until it is advanced")
SESSION = ShownView("session", "#faults/session", "Copy the session")

ALL_VIEWS = (
    TIMELINE,
    TOPICS,
    ShownView("topic", f"#topics/{ORDERS}", "cold brew", open_first_record),
    GROUPS,
    GROUP_VIEW,
    TRANSACTIONS,
    NODES,
    FAULTS,
    FILES,
    BROKER,
    SESSION,
    VERDICTS,
    VERDICT,
    ShownView("dialog of a topic", "#topics", "1 finding", press("Create topic")),
    ShownView("dialog of a record", f"#topics/{ORDERS}", "cold brew", press("Append record")),
    ShownView("dialog of a rule", "#faults", "hold at received", press("New rule…")),
    ShownView("dialog of the reset", "#faults/broker", "stands until it is advanced", press("Reset…")),
)
