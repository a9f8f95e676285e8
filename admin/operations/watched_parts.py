"""The parts of the state whose changes streams of events tell, each as pages of the operation that lists it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..control import Control
from ..paging import NamePage, NumberPage
from ..state_watch import Page, Parts
from .clock_operations import get_clock
from .file_operations import list_file_rules
from .group_operations import list_groups
from .held_operations import list_held
from .node_operations import list_nodes
from .rule_operations import list_rules
from .topic_operations import list_topics
from .transaction_operations import TransactionQuery, list_transactions

# The items of one part that are compared; a page shows fewer.
ITEMS_MAX = 10_000
# The items of one page, which is made in one step.
PAGE_ITEMS = 100


def watched_parts(control: Control) -> Parts:
    """Return the pages of each part."""
    return {part: partial(pages, control) for part, pages in _PARTS.items()}


def _by_name(list_page: Callable[[str], tuple[Page, str | None]]) -> Iterator[Page]:
    """Yield the pages of a list that is sorted by name. list_page: takes `since`, returns a page and its `next`."""
    since = ""
    for _ in range(ITEMS_MAX // PAGE_ITEMS):
        page, following = list_page(since)
        yield page
        if following is None:
            return
        since = following


def _topics(control: Control) -> Iterator[Page]:
    def list_page(since: str) -> tuple[Page, str | None]:
        page = list_topics(control, NamePage(since=since, limit=PAGE_ITEMS))
        return [(item.name, item) for item in page.items], page.next

    return _by_name(list_page)


def _groups(control: Control) -> Iterator[Page]:
    def list_page(since: str) -> tuple[Page, str | None]:
        page = list_groups(control, NamePage(since=since, limit=PAGE_ITEMS))
        return [(item.group_id, item) for item in page.items], page.next

    return _by_name(list_page)


def _transactions(control: Control) -> Iterator[Page]:
    def list_page(since: str) -> tuple[Page, str | None]:
        page = list_transactions(control, TransactionQuery(since=since, limit=PAGE_ITEMS))
        return [(item.transactional_id, item) for item in page.items], page.next

    return _by_name(list_page)


def _rules(control: Control) -> Iterator[Page]:
    yield [(str(rule.id), rule) for rule in list_rules(control, NumberPage(limit=ITEMS_MAX)).items]


def _file_rules(control: Control) -> Iterator[Page]:
    if control.has_files:
        yield [(str(rule.id), rule) for rule in list_file_rules(control, NumberPage(limit=ITEMS_MAX)).items]


def _held(control: Control) -> Iterator[Page]:
    yield [(str(held.id), held) for held in list_held(control, NumberPage(limit=ITEMS_MAX)).items]


def _nodes(control: Control) -> Iterator[Page]:
    yield [(str(node.node), node) for node in list_nodes(control).items]


def _clock(control: Control) -> Iterator[Page]:
    clock = get_clock(control)
    # The time of a real clock changes always; how far it was advanced does not.
    yield [("clock", (clock.mode, control.clock.ahead_ms if clock.mode == "real" else clock.now_ms))]


_PARTS: dict[str, Callable[[Control], Iterator[Page]]] = {
    "topics": _topics,
    "groups": _groups,
    "transactions": _transactions,
    "rules": _rules,
    "files": _file_rules,
    "held": _held,
    "nodes": _nodes,
    "clock": _clock,
}
