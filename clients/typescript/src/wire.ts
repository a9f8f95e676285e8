/**
 * Values of the admin API in TypeScript's names: camelCase in place of snake_case, and bytes as Uint8Array.
 *
 * The keys of an object in KEYED_BY_NAME are names of topics or configs, which stay as they are.
 */

const KEYED_BY_NAME = new Set(["configs", "partitions", "target"]);

/** Text in UTF-8, or any bytes. */
export type Bytes = string | Uint8Array;
/** Bytes in a response: text if they are UTF-8. */
export type WireBytes = string | { base64: string } | null;

/** Returns a request's value for JSON. */
export function toWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), toWire);
}

/** Returns a response's value. */
export function fromWire(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), fromWire);
}

/** Returns the bytes of a key or a value, null for null. */
export function bytesOf(value: WireBytes): Buffer | null {
  if (value === null) return null;
  return typeof value === "string" ? Buffer.from(value) : Buffer.from(value.base64, "base64");
}

function renamed(value: unknown, rename: (name: string) => string, convert: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== "object" || value === null) return value;
  const keeps = (name: string, each: unknown) => KEYED_BY_NAME.has(name) && !Array.isArray(each);
  const entries = Object.entries(value).map(([name, each]) => [rename(name), keeps(name, each) ? each : convert(each)]);
  return Object.fromEntries(entries);
}
