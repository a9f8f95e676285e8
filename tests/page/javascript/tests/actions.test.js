// The order in which actions of the page reach the broker.

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";

import { Actions } from "../page/actions.js";

/** Return actions, the calls that have reached the API, and the errors that were shown. */
function clicked() {
  const calls = [];
  const shown = [];
  const api = { token: null, call: (method, path) => new Promise((_, refuse) => calls.push({ path, refuse })) };
  const actions = new Actions(api);
  const click = (path, options) => actions.perform(path, "POST", path, {}, { onError: ({ message }) => shown.push(message), ...options });
  const paths = () => calls.map((call) => call.path);
  return { click, calls, paths, shown };
}

test("an action waits for the one before it, also if that is refused", async () => {
  const { click, calls, paths, shown } = clicked();
  const first = click("/v1/rules?1");
  const second = click("/v1/rules?2");
  await setImmediate();
  assert.deepEqual(paths(), ["/v1/rules?1"]);

  calls[0].refuse(new Error("no such field"));
  assert.equal(await first, null);
  await setImmediate();
  assert.deepEqual(paths(), ["/v1/rules?1", "/v1/rules?2"]);
  assert.deepEqual(shown, ["/v1/rules?1: no such field"]);

  calls[1].refuse(new Error("no"));
  assert.equal(await second, null);
});

test("an action whose request a rule may hold does not stop its release", async () => {
  const { click, paths } = clicked();
  click("/v1/topics/orders/produce", { canBeHeld: true });
  click("/v1/held/1/release");
  await setImmediate();
  assert.deepEqual(paths(), ["/v1/topics/orders/produce", "/v1/held/1/release"]);
});
