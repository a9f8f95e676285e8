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
  const shown = TABS[chosen][1]({ api, actions, journal, schemas });
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
  load.now();
  return {
    root,
    changed: load.later,
    close() {
      load.stop();
      shown.close();
    },
  };
}

/** Return `now()`, which calls work, `later()`, which calls it at most once in ms, and `stop()`. */
function atMostEvery(ms, work) {
  let timer = null;
  return {
    now: work,
    later() {
      timer ??= setTimeout(() => {
        timer = null;
        work();
      }, ms);
    },
    stop: () => clearTimeout(timer),
  };
}

function requestsTab({ api, actions, journal, schemas }) {
  const target = targetForm(() => producers.load(target.selection()));
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
  const reload = () => load();
  actions.listeners.add(reload);
  return {
    root: element(
      "div",
      { class: "two" },
      card("Recipes", null, target.root, recipePanel(actions, target.selection), element("div", { class: "recipes" }, producers.root), apis),
      element("div", { class: "column" }, rules.root, held.root),
    ),
    load,
    close: () => actions.listeners.delete(reload),
  };
}

function filesTab({ api, actions, schemas }) {
  const rules = ruleList(FILE_RULES, {
    api,
    actions,
    schemas,
    empty: "No file rule. Click a recipe, or add a rule with any fields. It applies to the next operations on files.",
  });
  const recipes = fileRecipes(actions, () => rules.load());
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
  return { root, load, close() {} };
}
