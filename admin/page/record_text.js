// Keys, values and headers of records as text, JSON or hex.

/** The ways to show bytes, with their names. */
export const TEXT_FORMS = [["detect", "by content"], ["text", "text"], ["json", "JSON"], ["hex", "hex"]];

// A text with these is rather binary data that happens to be UTF-8.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
// Longer ones are not shown as JSON or hex as a whole, because a page of them would be slow.
const PREVIEW_CHARACTERS = 200;
const HEX_ROW = 16;

/** Return bytes of the API (a text or {base64}) as an array of bytes. */
export function bytesOf(data) {
  if (typeof data === "string") return new TextEncoder().encode(data);
  return Uint8Array.from(atob(data.base64), (character) => character.charCodeAt(0));
}

/** Return the form that fits the data: "json", "text" or "hex". */
function formOf(data) {
  if (typeof data !== "string" || CONTROLS.test(data)) return "hex";
  return /^\s*[[{]/.test(data) && isJson(data) ? "json" : "text";
}

// Characters that are invisible, or change the direction of the text around them. Line ends and tabs are shown as they are.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Return a text in which every character can be seen: "\u202e" is ⟨U+202E⟩. */
export function visibleText(text) {
  return text.replace(UNSEEN, (unseen) => `⟨U+${unseen.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Return the data in one line that is cut. form: one of TEXT_FORMS. */
export function previewText(data, form) {
  if (data === null) return "null";
  const chosen = form === "detect" ? formOf(data) : form;
  if (chosen === "hex") return hexOf(bytesOf(data).subarray(0, 32));
  const text = visibleText(wireText(data).slice(0, PREVIEW_CHARACTERS + 1));
  return text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text;
}

/** Return the data as lines. A text that is no JSON is shown as it is. form: one of TEXT_FORMS. */
export function wholeText(data, form) {
  if (data === null) return "null";
  const chosen = form === "detect" ? formOf(data) : form;
  if (chosen === "hex") return hexLines(bytesOf(data));
  const text = wireText(data);
  return visibleText(chosen === "json" && isJson(text) ? indented(text) : text);
}

function wireText(data) {
  return typeof data === "string" ? data : new TextDecoder().decode(bytesOf(data));
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Return JSON over several lines. Its tokens stay as they are: a parsed 12345678901234567890 would be another number. */
function indented(json) {
  let depth = 0;
  let text = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "{" || token === "[") {
      depth += 1;
      text += token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      text += line() + token;
    } else if (token === ",") text += token + line();
    else text += token === ":" ? ": " : token.length > 1 && /^[{[]/.test(token) ? token[0] + token.at(-1) : token;
  }
  return text;
}

function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

function hexLines(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += HEX_ROW) {
    const row = bytes.subarray(at, at + HEX_ROW);
    const characters = Array.from(row, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hexOf(row).padEnd(3 * HEX_ROW)} ${characters}`);
  }
  return lines.join("\n");
}
