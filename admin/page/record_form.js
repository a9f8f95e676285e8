// The form that appends a record, and what a person types in it as the API has it.

import { openForm } from "./form_dialog.js";

const FORMS = [["text", "text"], ["hex", "hex"], ["null", "null"]];
const HEADER_HINT = "one a line: name=value; name alone for null; name:hex=fffe for bytes";

/** Ask for a record, and append it. records: the part that shows it. */
export function appendRecord(actions, path, records) {
  const numbers = records.partitions().map((each) => [each.partition, `partition ${each.partition}`]);
  openForm({
    title: "Append record",
    text: "Test data goes straight into the log, without a producer: no fault rule applies to it. A Produce is sent to the broker, and faults apply.",
    label: "Append",
    fields: [
      { name: "partition", label: "Partition", type: "select", options: [["", "by the key"], ...numbers] },
      { name: "key_form", label: "The key is", type: "select", options: [["null", "null"], ...FORMS.slice(0, 2)], value: "text" },
      { name: "key", label: "Key", hint: "empty text for null" },
      { name: "value_form", label: "The value is", type: "select", options: FORMS },
      { name: "value", label: "Value", type: "textarea" },
      { name: "headers", label: "Headers", type: "textarea", hint: HEADER_HINT },
      { name: "is_produce", label: "Send as a Produce", type: "checkbox" },
    ],
    async perform(values, onError) {
      const body = { records: [recordOf(values)] };
      if (!values.is_produce) {
        const result = await actions.perform("Appended a record", "POST", `${path}/records`, body, { onError });
        if (result !== null) records.open(result.items[0].partition, result.items[0].offset);
        return result;
      }
      const result = await actions.perform("Produced a record", "POST", `${path}/produce`, body, { onError, canBeHeld: true });
      if (result === null) return null;
      const { partition, outcome, error, base_offset: offset } = result;
      if (outcome === "responded" && error === null) {
        records.open(partition, offset);
        return result;
      }
      onError({ field: null, message: outcome === "responded" ? `The response to the Produce has the error ${error}.` : OUTCOMES[outcome] });
      return null;
    },
  });
}

const OUTCOMES = {
  closed: "The broker closed the connection without a response. The record may be in the log.",
  timeout: "The broker sent no response within the time. The record may be in the log.",
};

/** Return a record as the API has it. Throws an error with the field of what is no hex. */
export function recordOf({ partition, key_form: keyForm, key, value_form: valueForm, value, headers }) {
  const record = { key: keyForm === "text" && key === "" ? null : dataOf("key", keyForm, key), value: dataOf("value", valueForm, value) };
  if (partition !== "") record.partition = Number(partition);
  const lines = headers.split("\n").filter((line) => line.trim() !== "");
  if (lines.length) record.headers = lines.map(headerOf);
  return record;
}

function headerOf(line) {
  const at = line.indexOf("=");
  if (at < 0) return { name: line.trim(), value: null };
  const name = line.slice(0, at).trim();
  const value = line.slice(at + 1);
  return name.endsWith(":hex") ? { name: name.slice(0, -":hex".length), value: dataOf("headers", "hex", value) } : { name, value };
}

/** Return data in the form of the API: null, a text, or bytes in base64. */
function dataOf(field, form, text) {
  if (form === "null") return null;
  if (form === "text") return text;
  const digits = text.replaceAll(/\s|^0x/g, "");
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw Object.assign(new Error(`${text} is no hex`), { field });
  const bytes = digits.match(/../g)?.map((pair) => String.fromCharCode(Number.parseInt(pair, 16))) ?? [];
  return { base64: btoa(bytes.join("")) };
}
