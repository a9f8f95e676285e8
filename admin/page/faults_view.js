// The view of the faults: recipes and rules for requests and files, held requests, the broker's clock and life, and the session.

import { brokerPanel } from "./broker_panel.js";
import { card } from "./card.js";
import { element, fill } from "./dom.js";
import { fileRecipes } from "./file_recipes.js";
import { heldList } from "./held_list.js";
import { producerPanel } from "./producer_panel.js";
import { recipePanel } from "./recipe_panel.js";
import { Refresher } from "./refresher.js";
import { targetForm } from "./fault_target.js";
import { FILE_RULES, REQUEST_RULES } from "./rule_kinds.js";
import { ruleList } from "./rule_list.js";
import { Schemas } from "./schema_fields.js";
import { sessionPanel } from "./session_panel.js";

const APIS = ["Produce", "Fetch", "Metadata", "InitProducerId", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit"];
const PAUSE_MS = 500;
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
  const shown = TABS[chosen][1]({ api, actions, journal, schemas, reload: () => refresher.ask() });
  const read = async () => {
    await shown.load();
    message.hidden = true;
  };
  const refresher = new Refresher(read, PAUSE_MS, (error) => {
    fill(message, error.message);
    message.hidden = false;
  });
  const readNow = () => refresher.now();
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
  actions.listeners.add(readNow);
  readNow();
  return {
    root,
    changed: () => refresher.ask(),
    close() {
      actions.listeners.delete(readNow);
      refresher.stop();
    },
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
