// The view of the faults: recipes and rules for requests and files, held requests, the broker's clock and life, and the session.

import { brokerPanel } from "./broker_panel.js";
import { card } from "./card.js";
import { element, fill } from "./dom.js";
import { fileRecipes } from "./file_recipes.js";
import { heldList } from "./held_list.js";
import { producerPanel } from "./producer_panel.js";
import { recipePanel } from "./recipe_panel.js";
import { targetForm } from "./fault_target.js";
import { FILE_RULES, REQUEST_RULES } from "./rule_kinds.js";
import { ruleList } from "./rule_list.js";
import { Schemas } from "./schema_fields.js";
import { sessionPanel } from "./session_panel.js";

const APIS = ["Produce", "Fetch", "Metadata", "InitProducerId", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit"];
// At most two calls a second, however fast the state changes.
const LOAD_MS = 500;
const TABS = {
  requests: ["Requests", requestsTab],
  files: ["Files", filesTab],
  broker: ["Clock and broker", brokerPanel],
  session: ["Session", sessionPanel],
};

let schemasRead = null;

/** Return the view: `root`, `close()` and `changed(part)`. tab: a key of TABS; that of requests by default. */
export function faultsView({ api, actions, journal }, tab) {
  const chosen = TABS[tab] === undefined ? "requests" : tab;
  const message = element("p", { class: "error", role: "alert", hidden: true });
  const schemas = () => (schemasRead ??= api.get("/openapi.json").then((description) => new Schemas(description)));
  const shown = TABS[chosen][1]({ api, actions, journal, schemas, reload: () => load.later() });
  const load = atMostEvery(LOAD_MS, async () => {
    try {
      await shown.load();
      message.hidden = true;
    } catch (error) {
      fill(message, error.message);
      message.hidden = false;
    }
  });
  const root = element(
    "div",
    { class: "faults-view" },
    element("h1", { class: "hidden" }, "Faults"),
    element(
      "nav",
      { class: "tabs", "aria-label": "Faults of" },
      Object.entries(TABS).map(([key, [label]]) =>
        element("a", { href: `#faults/${key}`, "aria-current": key === chosen ? "page" : null }, label),
      ),
    ),
    message,
    shown.root,
  );
  actions.listeners.add(load.now);
  load.now();
  return {
    root,
    changed: load.later,
    close() {
      actions.listeners.delete(load.now);
      load.stop();
    },
  };
}

/** Return `now()`, which calls work, `later()`, which calls it at most once in ms, and `stop()`. One call waits for another. */
function atMostEvery(ms, work) {
  let timer = null;
  let last = -ms;
  let running = Promise.resolve();
  function now() {
    clearTimeout(timer);
    timer = null;
    last = performance.now();
    running = running.then(work);
  }
  return {
    now,
    later() {
      timer ??= setTimeout(now, Math.max(0, last + ms - performance.now()));
    },
    stop: () => clearTimeout(timer),
  };
}

function requestsTab({ api, actions, journal, schemas, reload }) {
  const target = targetForm(reload);
  const producers = producerPanel({ api, actions });
  const rules = ruleList(REQUEST_RULES, {
    api,
    actions,
    schemas,
    empty: "No rule. Click a recipe, or add a rule with any fields. It applies to the next requests of clients.",
  });
  const held = heldList({ api, actions });
  const apis = element("datalist", { id: "api-names" });

  async function load() {
    await Promise.all([rules.load(), held.load(), producers.load(target.selection())]);
    const topics = await api.list("/v1/topics");
    const entries = journal.entries;
    target.offer(topics.map(({ name }) => name), new Set(entries.map((entry) => entry.client_id).filter(Boolean)));
    const names = new Set([...APIS, ...entries.map((entry) => entry.api)]);
    fill(apis, [...names].sort().map((value) => element("option", { value })));
  }
  return {
    root: element(
      "div",
      { class: "two" },
      card("Recipes", null, target.root, recipePanel(actions, target.selection), element("div", { class: "recipes" }, producers.root), apis),
      element("div", { class: "column" }, rules.root, held.root),
    ),
    load,
  };
}

function filesTab({ api, actions, schemas }) {
  const rules = ruleList(FILE_RULES, {
    api,
    actions,
    schemas,
    empty: "No file rule. Click a recipe, or add a rule with any fields. It applies to the next operations on files.",
  });
  const recipes = fileRecipes(actions);
  async function load() {
    // A broker without file faults says so in the list.
    recipes.root.hidden = !(await rules.load());
    const topics = await api.list("/v1/topics");
    recipes.offer(topics.flatMap(({ name, partitions }) => partitions.map(({ partition }) => `${name}-${partition}`)));
  }
  const root = element(
    "div",
    { class: "two" },
    card("Recipes", null, recipes.root),
    element("div", { class: "column" }, rules.root),
  );
  return { root, load };
}
