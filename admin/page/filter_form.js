// The form of the timeline's filter.

import { button, element, fill } from "./dom.js";
import { CONDITIONS, hasConditions } from "./request_filter.js";

/**
 * Return the form of the conditions: `root`, `update()`, which offers the names that there are, and `set(filter)`.
 * onChange(filter, name): called when a person has changed the condition with this name, or all of them for null.
 */
export function filterForm(journal, onChange) {
  const select = (name, label) => element("select", { name, "aria-label": label });
  const field = (name, label, width) =>
    element("input", { name, placeholder: label, "aria-label": label, size: width, autocomplete: "off" });
  const api = select("api", "API");
  const topic = select("topic", "Topic");
  const error = select("error", "Error");
  const node = select("node", "Node");
  const notable = element("input", { type: "checkbox", name: "notable" });
  const fields = {
    api,
    topic,
    partition: field("partition", "partition", 9),
    producer: field("producer", "producer id", 11),
    client: field("client", "client id", 10),
    error,
    node,
    notable,
  };
  const clear = button("Clear", () => change(() => form.reset(), null), { kind: "quiet" });
  const form = element(
    "form",
    {
      class: "filter",
      role: "search",
      "aria-label": "Filter requests",
      on: { input: (event) => change(() => {}, event.target.name), submit: (event) => event.preventDefault() },
    },
    Object.values(fields).filter((each) => each !== notable),
    element("label", { class: "check" }, notable, "notable only"),
    clear,
  );

  function filterNow() {
    const values = CONDITIONS.map((name) => [name, name === "notable" ? (notable.checked ? "on" : "") : fields[name].value.trim()]);
    return Object.fromEntries(values.filter(([, value]) => value));
  }

  function change(how, name) {
    how();
    const filter = filterNow();
    offerClear(filter);
    onChange(filter, name);
  }

  /** Show the conditions of a filter. */
  function set(filter) {
    for (const name of CONDITIONS) {
      const value = filter[name] ?? "";
      if (name === "notable") notable.checked = Boolean(value);
      else if (fields[name].tagName === "SELECT") choose(fields[name], value);
      else fields[name].value = value;
    }
    offerClear(filter);
  }

  /** Offer to clear the conditions. The button keeps its place, so that no tool moves. */
  function offerClear(filter) {
    clear.style.visibility = hasConditions(filter) ? "" : "hidden";
  }

  let offered = "";
  function update() {
    const { apis, topics, errors, nodes } = journal;
    const version = [apis, topics, errors, nodes].map((counts) => counts.version).join(" ");
    if (version === offered) return;
    offered = version;
    offer(api, "any API", apis.names.sort());
    offer(topic, "any topic", topics.names.sort());
    offer(error, "any error", errors.names.sort());
    offer(node, "any node", nodes.names.sort((one, other) => one - other).map(String));
    node.hidden = nodes.names.length < 2 && node.value === "";
  }
  update();
  offerClear({});
  return { root: form, update, set };
}

/** Offer names, and what is chosen: also a name of the address that the page does not know. */
function offer(select, all, names) {
  const chosen = select.value;
  fill(select, element("option", { value: "" }, all), names.map((name) => element("option", { value: name }, name)));
  choose(select, chosen);
}

function choose(select, value) {
  if (value && ![...select.options].some((option) => option.value === value)) select.append(element("option", { value }, value));
  select.value = value;
  if (value) select.hidden = false;
}
