"""Recipes of the page: two clicks arm a fault, and each is the recipe of the Python API with its name."""

import re
from typing import Any

import pytest
from msgspec import to_builtins
from playwright.sync_api import Page, expect

from fauxka.admin.client.recipe_commands import recipe_names
from fauxka.faults.rules import recipes
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.strict_json import convert

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .faults_page import close_dialog, json_to_copy, open_faults, produce, recipe, rule, rules, shown_text

pytestmark = pytest.mark.page


class RecordedCalls:
    """Stands for `broker.faults`: its methods are the recipes, and `add` reads a rule."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.rules: list[FaultRule] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **keywords: Any) -> None:
            self.called.append(name)
            self.rules.append(getattr(recipes, name)(*arguments, **keywords))

        return call

    def add(self, body: dict[str, object]) -> None:
        self.called.append("add")
        self.rules.append(convert(body, FaultRule))


def evaluated(python: str) -> RecordedCalls:
    """Return what the last line of a copied Python text calls."""
    calls = RecordedCalls()
    broker = type("Broker", (), {"faults": calls})()
    exec(python.splitlines()[-1], {"broker": broker})
    return calls


@pytest.mark.slice
def test_recipe_loses_the_acknowledgement_of_the_chosen_topic_and_the_timeline_marks_it(
    page: Page, broker: Serving
) -> None:
    open_faults(page)
    page.get_by_label("Topic").fill(TOPIC)
    recipe(page, "Lose the next acknowledgement").click()
    expect(rule(page, "1 lost ack")).to_contain_text("0 hits · 1 left")

    produce(broker)

    # A busy machine makes a client send the request more than twice.
    expect(rule(page, "1 lost ack")).to_contain_text(re.compile(r"1 hit of \d matches · none left"))
    page.get_by_role("link", name="Timeline").click()
    lost = page.get_by_role("listbox", name="Requests").get_by_role("option", name="close by rule 1")
    expect(lost).to_have_count(1)
    expect(page.get_by_role("option", name="duplicate of offset 0")).to_have_count(1)


def test_request_of_the_timeline_is_lost_the_next_time(page: Page, broker: Serving, admin: AdminClient) -> None:
    produce(broker, client_id="shop")
    page.get_by_role("option", name="offset 0").click()
    page.get_by_role("button", name="Lose the next acknowledgement like this", exact=True).click()
    expect(page.get_by_role("status").get_by_text("Lose the next acknowledgement like this")).to_be_visible()

    produce(broker, client_id="another")
    produce(broker, client_id="shop")

    (armed,) = admin.get("/v1/rules")["items"]
    assert armed["match"] == {"api": "Produce", "topic": TOPIC, "partition": 0, "client_id": "shop"}
    assert armed["hits"] == 1


def test_page_has_every_recipe_of_python_and_copies_the_same_rule_in_both_languages(page: Page) -> None:
    open_faults(page)
    page.get_by_label("Topic").fill("orders")
    page.get_by_label("Partition").fill("2")
    called: list[str] = []

    for button in page.locator(".card .recipes:not(:has([aria-label=Producers])) .copy-action").all():
        button.click()
        calls = evaluated(shown_text(page, "Python"))
        assert [to_builtins(each) for each in calls.rules] == [to_builtins(convert(json_to_copy(page), FaultRule))]
        called += calls.called
        close_dialog(page)

    assert sorted(called) == sorted(recipe_names())


def test_texts_of_a_rule_with_every_kind_of_value_are_the_same_rule(page: Page, admin: AdminClient) -> None:
    posted = {
        "name": 'it\'s "quoted" \\ \u202e',
        "enabled": False,
        "match": {
            "api": ["Produce", "Fetch"],
            "topic": {"regex": "orders-.*"},
            "header": {"name": "id", "value": "a=b"},
        },
        "when": {"skip": 2, "times": None, "probability": 0.5, "seed": 7},
        "point": "received",
        "action": {"kind": "delay", "ms": 100, "release_order": True},
    }
    admin.post("/v1/rules", posted)
    open_faults(page)

    page.get_by_role("button", name="Copy: rule 1").click()

    assert json_to_copy(page) == posted
    calls = evaluated(shown_text(page, "Python"))
    assert (calls.called, calls.rules) == (["add"], [convert(posted, FaultRule)])
    assert "\u202e" not in shown_text(page, "curl")


def test_invalid_argument_of_a_recipe_is_shown_below_the_recipe(refused_page: Page, admin: AdminClient) -> None:
    page = refused_page
    open_faults(page)
    field = page.get_by_label("error of: Respond with an error")

    field.fill("NOT_LEADER")
    recipe(page, "Respond with an error").click()

    expect(page.get_by_role("alert").filter(has_text="Kafka has no error 'NOT_LEADER'")).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("NOT_LEADER_OR_FOLLOWER")
    recipe(page, "Respond with an error").click()
    expect(rules(page)).to_have_count(1)
    expect(page.get_by_role("alert").filter(has_text="Kafka has no error")).to_have_count(0)
    assert len(admin.get("/v1/rules")["items"]) == 1


def test_hits_are_those_of_the_target_and_no_limit_if_empty(page: Page) -> None:
    open_faults(page)
    page.get_by_label("Hits").fill("")
    recipe(page, "Deliver twice").click()
    expect(rule(page, "1 delivered twice")).to_contain_text("0 hits · no limit")

    page.get_by_label("Hits").fill("3")
    recipe(page, "Hold").click()

    expect(rule(page, "2 held")).to_contain_text("0 hits · 3 left")


def test_producer_is_fenced(page: Page, broker: Serving, admin: AdminClient) -> None:
    produce(broker)
    open_faults(page)
    page.get_by_label("Topic").fill(TOPIC)
    expect(page.get_by_label("Producer", exact=True)).to_contain_text(f"producer 0, epoch 0, {TOPIC}-0")

    recipe(page, "Fence this producer").click()

    expect(page.get_by_label("Producer", exact=True)).to_contain_text("epoch 1")
    assert admin.get("/v1/producers")["items"][0]["producer_epoch"] == 1


def test_recipe_is_armed_with_the_keyboard_alone(page: Page, admin: AdminClient) -> None:
    open_faults(page)
    page.get_by_label("Topic").focus()

    page.keyboard.type("orders")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(recipe(page, "Lose the next acknowledgement")).to_be_focused()
    page.keyboard.press("Enter")

    expect(rules(page)).to_have_count(1)
    assert admin.get("/v1/rules")["items"][0]["match"]["topic"] == "orders"
