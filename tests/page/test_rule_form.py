"""The form of a rule: every field, the points of each action, and errors at their fields; and the list of rules."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from fauxka.faults.rules.match import Match
from fauxka.faults.rules.rule_checks import ACTIONS_AT

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .faults_page import close_dialog, json_to_copy, open_faults, produce, rule, rules, shown_text

pytestmark = pytest.mark.page

OBSERVE = {"point": "received", "action": {"kind": "observe"}}


def open_form(page: Page, button: str = "New rule…") -> Locator:
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def field(form: Locator, label: str) -> Locator:
    return form.get_by_label(label, exact=True)


def test_form_has_every_field_of_match_and_sends_what_was_typed(page: Page, admin: AdminClient) -> None:
    open_faults(page)
    form = open_form(page)
    for name in Match.__struct_fields__:
        expect(field(form, name.replace("_", " "))).to_be_visible()

    field(form, "kind").select_option("delay")
    field(form, "ms").fill("250")
    field(form, "release order").check()
    field(form, "point").select_option("received")
    field(form, "api").fill("Produce")
    field(form, "api version").fill("9..12")
    field(form, "topic").fill("/orders-.*/")
    field(form, "partition").fill('[0, {"from": 5}]')
    field(form, "header").fill("id=a=b")
    field(form, "times").fill("")
    field(form, "probability").fill("0.5")
    field(form, "name").fill("late")
    expected = {
        "name": "late",
        "match": {
            **{"api": "Produce", "api_version": {"from": 9, "to": 12}, "topic": {"regex": "orders-.*"}},
            **{"partition": [0, {"from": 5}], "header": {"name": "id", "value": "a=b"}},
        },
        "when": {"times": None, "probability": 0.5},
        "point": "received",
        "action": {"kind": "delay", "ms": 250, "release_order": True},
    }
    assert json_to_copy(page) == expected
    form.get_by_role("button", name="Add rule").click()

    expect(form).to_have_count(0)
    expect(rule(page, "1 late")).to_contain_text("delay release order true ms 250 at received")
    (added,) = admin.get("/v1/rules")["items"]
    assert [added[name] for name in ("name", "match", "point")] == [
        expected[name] for name in ("name", "match", "point")
    ]
    # The API adds the fields that were not given.
    assert added["action"] == {"kind": "delay", "ms": 250, "release_order": True, "mute": False}
    assert (added["when"]["times"], added["when"]["probability"]) == (None, 0.5)


def test_two_quick_clicks_add_one_rule(page: Page, admin: AdminClient) -> None:
    open_faults(page)
    form = open_form(page)
    field(form, "kind").select_option("observe")

    form.get_by_role("button", name="Add rule").dblclick()

    expect(form).to_have_count(0)
    expect(rules(page)).to_have_count(1)
    assert len(admin.get("/v1/rules")["items"]) == 1


def test_form_offers_only_the_points_that_each_action_allows(page: Page) -> None:
    open_faults(page)
    form = open_form(page)
    kinds = field(form, "kind").get_by_role("option").all_inner_texts()
    offered: dict[str, set[str]] = {}

    for kind in kinds:
        field(form, "kind").select_option(kind)
        for point in field(form, "point").get_by_role("option").all_inner_texts():
            offered.setdefault(point, set()).add(kind)

    assert offered == {point: set(allowed) for point, allowed in ACTIONS_AT.items()}


@pytest.mark.parametrize(
    ("label", "typed", "message"),
    [
        ("partition", "x", 'match.partition cannot be "x"'),
        ("topic", "/(/", "match.topic"),
        ("api", "Prodce", "did you mean Produce"),
        ("times", "0", "when.times"),
        ("until ms", "-1", "when.until_ms"),
        ("header", "{", "is not JSON"),
    ],
)
def test_error_is_shown_at_its_field(refused_page: Page, label: str, typed: str, message: str) -> None:
    open_faults(refused_page)
    form = open_form(refused_page)
    typed_in = field(form, label)

    typed_in.fill(typed)
    form.get_by_role("button", name="Add rule").click()

    expect(typed_in).to_have_attribute("aria-invalid", "true")
    expect(typed_in).to_be_focused()
    expect(typed_in).to_have_accessible_description(re.compile(re.escape(message)))
    expect(form.locator("[aria-invalid]")).to_have_count(1)
    expect(rules(refused_page)).to_have_count(0)


def test_error_of_a_parameter_is_shown_at_the_parameter(refused_page: Page) -> None:
    open_faults(refused_page)
    form = open_form(refused_page)
    field(form, "kind").select_option("error")

    form.get_by_role("button", name="Add rule").click()

    expect(field(form, "error")).to_have_attribute("aria-invalid", "true")
    field(form, "error").fill("NOT_LEADER_OR_FOLLOWER")
    form.get_by_role("button", name="Add rule").click()
    expect(rules(refused_page)).to_have_count(1)


def test_rule_is_edited_with_all_that_it_has(page: Page, admin: AdminClient) -> None:
    posted = {
        "name": "first",
        "match": {"topic": ["a", "b"], "partition": {"from": 1, "to": 4}, "key": {"base64": "AP8="}},
        "when": {"times": None, "skip": 1},
        "point": "answering",
        "action": {"kind": "drip", "bytes": 10, "every_ms": 100},
    }
    admin.post("/v1/rules", posted)
    open_faults(page)

    form = open_form(page, "Edit rule 1")
    assert json_to_copy(page) == posted
    assert shown_text(page, "curl").startswith("curl -s -X PUT ")
    field(form, "every ms").fill("50")
    form.get_by_role("button", name="Replace rule").click()

    expect(rule(page, "1 first")).to_contain_text("drip bytes 10 every ms 50 at answering")
    (replaced,) = admin.get("/v1/rules")["items"]
    assert (replaced["match"], replaced["action"]["every_ms"]) == (posted["match"], 50)


def test_rules_are_in_evaluation_order_and_are_disabled_and_removed(page: Page, admin: AdminClient) -> None:
    for name in ("one", "two", "three"):
        admin.post("/v1/rules", {**OBSERVE, "name": name})
    open_faults(page)
    expect(rules(page).locator("b")).to_have_text(["1 one", "2 two", "3 three"])

    page.get_by_role("switch", name="rule 2 enabled").click()
    expect(rule(page, "2 two")).to_have_class("rule is-spent")
    page.get_by_role("button", name="Remove rule 1").click()
    expect(rules(page).locator("b")).to_have_text(["2 two", "3 three"])
    assert [each["enabled"] for each in admin.get("/v1/rules")["items"]] == [False, True]

    page.get_by_role("switch", name="rule 2 enabled").click()
    expect(rule(page, "2 two")).to_have_class("rule")
    page.get_by_role("button", name="Remove all").click()
    expect(page.get_by_text("No rule. Click a recipe")).to_be_visible()
    assert admin.get("/v1/rules")["items"] == []


def test_rule_that_does_not_match_says_why(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", {**OBSERVE, "name": "other", "match": {"api": "Produce", "topic": TOPIC, "partition": 7}})
    open_faults(page)

    produce(broker)

    expect(rule(page, "1 other")).to_contain_text("1 request first differed at partition: 0, not 7")


def test_rules_of_other_callers_appear_and_focus_stays(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/rules", {**OBSERVE, "name": "one"})
    open_faults(page)
    page.get_by_role("button", name="Edit rule 1").focus()

    admin.post("/v1/rules", {**OBSERVE, "name": "two"})

    expect(rules(page)).to_have_count(2)
    expect(page.get_by_role("button", name="Edit rule 1")).to_be_focused()


def test_dialog_is_closed_by_escape_and_changes_nothing(page: Page, admin: AdminClient) -> None:
    open_faults(page)
    form = open_form(page)

    page.keyboard.press("Escape")

    expect(form).to_have_count(0)
    open_form(page)
    close_dialog(page)
    assert admin.get("/v1/rules")["items"] == []


def test_values_that_look_like_something_else_are_edited_as_they_are(page: Page, admin: AdminClient) -> None:
    posted = {
        "match": {"client_id": ["", " x "], "topic": " orders", "header": {"name": "{a", "value": " v"}, "key": "a\nb"},
        "point": "received",
        "action": {"kind": "observe"},
    }
    admin.post("/v1/rules", posted)
    open_faults(page)

    open_form(page, "Edit rule 1").get_by_role("button", name="Replace rule").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    (replaced,) = admin.get("/v1/rules")["items"]
    assert {name: replaced["match"][name] for name in posted["match"]} == posted["match"]


def test_empty_text_is_edited_as_it_is(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/rules", {**OBSERVE, "match": {"client_id": ""}})
    open_faults(page)

    open_form(page, "Edit rule 1").get_by_role("button", name="Replace rule").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert admin.get("/v1/rules")["items"][0]["match"]["client_id"] == ""
