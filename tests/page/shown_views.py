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


TIMELINE = ShownView("timeline", f"#timeline/{REPETITION}", "Recognised batches now")
TOPIC = ShownView("topic", f"#topics/{ORDERS}", "cold brew")
GROUP_VIEW = ShownView("group", f"#groups/{GROUP}", "Stale member committed")
FAULTS = ShownView("faults", "#faults", "hold at received")
VERDICT = ShownView("verdict", f"#verdict/{PAYMENTS}", "Stored twice")
NODES = ShownView("nodes", "#nodes", "Leader of")

ALL_VIEWS = (
    TIMELINE,
    ShownView("topics", "#topics", "487 B"),
    ShownView("topic", f"#topics/{ORDERS}", "cold brew", open_first_record),
    ShownView("groups", "#groups", GROUP),
    GROUP_VIEW,
    ShownView("transactions", "#transactions", TRANSACTIONAL_ID),
    NODES,
    FAULTS,
    ShownView("file faults", "#faults/files", "Torn write"),
    ShownView("clock and broker", "#faults/broker", "stands until it is advanced"),
    ShownView("session", "#faults/session", "Copy the session"),
    ShownView("verdicts", "#verdict", "1 finding"),
    VERDICT,
    ShownView("dialog of a topic", "#topics", "487 B", press("Create topic")),
    ShownView("dialog of a rule", "#faults", "hold at received", press("New rule…")),
    ShownView("dialog of the reset", "#faults/broker", "stands until it is advanced", press("Reset…")),
)
