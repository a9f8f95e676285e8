// What a person searches for, and texts in which every character can be seen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { searchBody } from "../page/record_query.js";
import { previewText, visibleText, wholeText } from "../page/record_text.js";

const VALUES = { where: "", match: "contains", wanted: "", order: "newest", from: "" };

test("a search without a text finds all records", () => {
  assert.deepEqual(searchBody(VALUES), { order: "newest" });
});

test("a search has one kind of match", () => {
  assert.deepEqual(searchBody({ ...VALUES, where: " json:order.id ", match: "equals", wanted: "7", order: "oldest" }), { order: "oldest", in: "json:order.id", equals: "7" });
  assert.deepEqual(searchBody({ ...VALUES, match: "regex", wanted: "^a" }), { order: "newest", regex: "^a" });
});

test("a search begins at an offset or a time", () => {
  assert.equal(searchBody({ ...VALUES, from: "120" }).from_offset, 120);
  assert.equal(searchBody({ ...VALUES, from: "1700000000000" }).from_ms, 1700000000000);
  assert.equal(searchBody({ ...VALUES, from: "2026-11-29 18:00" }).from_ms, Date.UTC(2026, 10, 29, 18));
  assert.equal(searchBody({ ...VALUES, from: "yesterday" }), null);
  assert.equal(searchBody({ ...VALUES, from: "-1" }), null);
});

test("control and bidi characters are shown by their numbers", () => {
  assert.equal(visibleText("a\u202eb\u0000c\u200bd"), "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d");
  assert.equal(visibleText("two\nlines\tand ü 茶"), "two\nlines\tand ü 茶");
  assert.equal(previewText("gnp\u202e.exe", "text"), "gnp⟨U+202E⟩.exe");
  assert.equal(wholeText('{"a":"\u2066"}', "json"), '{\n  "a": "⟨U+2066⟩"\n}');
});
