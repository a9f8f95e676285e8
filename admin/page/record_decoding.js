// Keys and values that the broker decodes by a schema registry or by schema files.

import { element } from "./dom.js";
import { wholeText } from "./record_text.js";

/**
 * Return a function from a record to a promise of the nodes that show its decoded key and value.
 * path: of the topic in the API. A broker without schemas is asked once.
 */
export function recordDecoder(api, path) {
  let hasSchemas = true;
  return async (record) => {
    if (!hasSchemas || record.is_control) return [];
    try {
      const found = await api.get(`${path}/records/decoded?partition=${record.partition}&offset=${record.offset}`);
      hasSchemas = found.has_schemas;
      return [contentPart("Decoded key", found.key), contentPart("Decoded value", found.value)];
    } catch (error) {
      return [element("p", { class: "problem", role: "alert" }, error.message)];
    }
  };
}

function contentPart(name, content) {
  if (content === null) return null;
  const { kind, schema_id: schemaId, json, error } = content;
  const words = [kind, schemaId === null ? null : `schema id ${schemaId}`].filter((word) => word !== null).join(", ");
  return element(
    "figure",
    { class: "data" },
    element("figcaption", {}, element("h3", {}, name, " ", element("small", {}, words))),
    error === null ? element("pre", { tabindex: 0, "aria-label": name }, wholeText(json, "json")) : element("p", { class: "note" }, `Not decoded: ${error}.`),
  );
}
