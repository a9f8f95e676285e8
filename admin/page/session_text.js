// All actions of a session as one text to copy: a script of curl lines, a script of Python, and a test for pytest.

import { addRuleText, curlText, pythonCall, pythonHead } from "./copy_text.js";
import { CALLS, MADE, SETUP } from "./session_calls.js";
import { withTopics } from "./session_topics.js";

/** Return the texts of a list of actions by language. */
export function sessionTexts(actions, broker) {
  return {
    pytest: sessionPytest(actions, broker),
    curl: sessionCurl(actions, broker),
    Python: sessionPython(actions, broker),
  };
}

/** Return the variable for what an action makes, such as "rule_1"; null for none. */
function variableOf({ method, path, result }) {
  const noun = method === "POST" ? MADE[path] : undefined;
  return noun === undefined || typeof result?.id !== "number" ? null : `${noun}_${result.id}`;
}

/** Return what an action names that an action before it made: {name, id, before, after} of its path or body; null for nothing. */
function referenceOf({ path, body }) {
  const [, before, id, after] = path.match(/^(\/v1\/(?:rules|files|snapshot)\/)(\d+)(.*)$/) ?? [];
  if (id !== undefined) return { name: `${MADE[before.slice(0, -1)]}_${id}`, before, after };
  return path === "/v1/restore" ? { name: `snapshot_${body.id}`, before: null, after: null } : null;
}

/** Return the names of the variables that later actions need. */
function neededBy(actions) {
  const made = new Set();
  const needed = new Set();
  for (const action of actions) {
    const reference = referenceOf(action);
    if (reference !== null && made.has(reference.name)) needed.add(reference.name);
    made.add(variableOf(action));
  }
  return needed;
}

/** Return the actions as lines of a POSIX shell. */
function sessionCurl(actions, broker) {
  const needed = neededBy(actions);
  const lines = actions.map((action) => {
    const reference = referenceOf(action);
    const isKnown = reference !== null && needed.has(reference.name);
    const line = isKnown ? curlWith(action, broker, reference) : curlText(action, broker);
    const variable = variableOf(action);
    return needed.has(variable) ? `${variable}=$(${line} | sed 's/^{"id":\\([0-9]*\\).*/\\1/')` : line;
  });
  return lines.join("\n");
}

function curlWith(action, broker, { name, before, after }) {
  if (before !== null) return curlText(action, broker, `"${before}$${name}${after}"`);
  return curlText({ method: "POST" }, broker, `${action.path} -d '{"id": '"$${name}"'}'`);
}

/** Return the actions as a script of Python. */
function sessionPython(actions, broker) {
  const needed = neededBy(actions);
  const lines = actions.map((action) => {
    const reference = referenceOf(action);
    const line = reference !== null && needed.has(reference.name) ? pythonWith(action, reference) : pythonCall(action);
    const variable = variableOf(action);
    if (!needed.has(variable)) return line;
    return action.path === "/v1/rules" ? `${variable} = ${line}.id` : `${variable} = ${line}["id"]`;
  });
  return [...pythonHead(broker), ...lines].join("\n");
}

function pythonWith(action, { name, before, after }) {
  if (before !== null) return pythonCall(action, `f"${before}{${name}}${after}"`);
  return `broker.call("POST", "/v1/restore", {"id": ${name}})`;
}

const MARK = `# Without the mark, a rule that never hit fails the test.
@pytest.mark.fauxka_allow_unfired
def test_session(fauxka, faults):`;
const USE = "    # Run the code under test here. It connects to fauxka.bootstrap_servers.";

/** Return the actions as a test for pytest with the fixtures of fauxka. */
function sessionPytest(done, broker) {
  const actions = withTopics(done);
  const needed = neededBy(actions);
  const isSetup = (action) => SETUP.test(`${action.method} ${action.path}`);
  const firstUse = actions.findIndex((action) => !isSetup(action));
  const lines = actions.flatMap((action) => testLines(action, broker, needed));
  const before = actions.slice(0, firstUse < 0 ? actions.length : firstUse);
  lines.splice(before.flatMap((action) => testLines(action, broker, needed)).length, 0, USE);
  if (lines.every((line) => line.startsWith("    #"))) lines.push("    pass");
  return ["import pytest", "", "", ...nodesFixture(broker.nodes), MARK, ...lines, ""].join("\n");
}

function nodesFixture(nodes) {
  return nodes > 1 ? ['@pytest.fixture(scope="session")', "def fauxka_nodes():", `    return ${nodes}`, "", ""] : [];
}

function testLines(action, broker, needed) {
  const call = callOf(action, needed);
  const variable = needed.has(variableOf(action)) ? `${variableOf(action)} = ` : "";
  const lines = call === null ? [`# ${curlText(action, broker)}`] : (variable + call).split("\n");
  return lines.map((line) => `    ${line}`);
}

function callOf(action, needed) {
  const { method, path, body, places } = action;
  if (method === "POST" && path === "/v1/rules") return addRuleText(body, "faults");
  const name = referenceOf(action)?.name;
  const variable = needed.has(name) ? name : null;
  for (const [pattern, write] of CALLS) {
    const found = `${method} ${path}`.match(pattern);
    if (found !== null) return write({ ids: found.slice(1).map(decodeURIComponent), body: body ?? {}, variable, places });
  }
  return null;
}
