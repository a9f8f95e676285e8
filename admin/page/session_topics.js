// The topics of a copied test: it begins without topics, while the broker of the page may have had them before the session.

/**
 * Return the actions of a session, with creations of the topics that they use and that are not there. They come before all
 * actions, so that the code under test finds the topics too, and again after a reset of data and after a deletion.
 */
export function withTopics(actions) {
  const completed = [];
  const known = new Set();
  for (const part of partsOf(actions)) {
    const missing = missingTopics(part, known);
    for (const [name, partitions] of missing) completed.push({ method: "POST", path: "/v1/topics", body: { name, partitions } });
    completed.push(...part);
    const last = part.at(-1);
    if (isReset(last)) known.clear();
    else if (isDeletion(last)) known.delete(topicOf(last));
  }
  return completed;
}

/** Return the actions in parts, each of which ends with an action that deletes topics. */
function partsOf(actions) {
  const parts = [];
  let isOpen = false;
  for (const action of actions) {
    if (isOpen) parts.at(-1).push(action);
    else parts.push([action]);
    isOpen = !isReset(action) && !isDeletion(action);
  }
  return parts;
}

/** Return the number of partitions by the names of the topics that are used and not known, and add all used ones to `known`. */
function missingTopics(actions, known) {
  const missing = new Map();
  for (const action of actions) {
    const name = topicOf(action);
    if (name === null) continue;
    const isMade = action.path === "/v1/topics";
    if (missing.has(name) || (!isMade && !known.has(name))) {
      missing.set(name, Math.max(missing.get(name) ?? 1, partitionsOf(action)));
    }
    known.add(name);
  }
  return missing;
}

/** Return the topic that an action needs or creates; null for none. */
function topicOf({ path, body }) {
  const [, inPath] = path.match(/^\/v1\/topics\/([^/]+)/) ?? [];
  if (inPath !== undefined) return decodeURIComponent(inPath);
  if (path === "/v1/topics") return body.name;
  return path === "/v1/partitions/leader" ? body.topic : null;
}

/** Return how many partitions a topic has at least. */
function partitionsOf({ body }) {
  const named = [body?.partition, ...(body?.records ?? []).map((record) => record.partition)];
  return Math.max(...named.map((partition) => (partition ?? 0) + 1));
}

function isReset({ path, body }) {
  return path === "/v1/reset" && ["all", "data"].includes(body?.scope ?? "all");
}

function isDeletion({ method, path }) {
  return method === "DELETE" && path.startsWith("/v1/topics/");
}
