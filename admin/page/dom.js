// Elements made of data. Texts become text nodes and attributes are set by name: nothing from the wire is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an element. properties: attributes; `on` holds listeners by event name; null, undefined and false are left out.
 * children: nodes, texts, lists of both; null and false are left out.
 */
export function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Return an SVG element, as `element` does. */
export function shape(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
}

/** Replace all children of an element. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

/**
 * Return a button. kind: a class, such as "primary"; the others are attributes.
 * @param {string} label
 * @param {(event: Event) => void} onClick
 * @param {Record<string, any>} [properties]
 */
export function button(label, onClick, { kind = "", ...properties } = {}) {
  return element("button", { type: "button", class: kind, on: { click: onClick }, ...properties }, label);
}

/** Return what a view shows when it has nothing: a title and what to do next. */
export function emptyState(title, ...next) {
  return element("div", { class: "empty" }, element("h2", {}, title), ...next);
}

/** Return rows of names and values; a value may be a node. Values that are undefined are left out. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined);
  return element(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value === null ? "none" : value)]),
  );
}

/**
 * Call `draw` at once, or when a press within `place` has ended: a button that is replaced while it is pressed would not be
 * clicked.
 */
export function whenReleased(place, draw) {
  if (!place.matches(":active")) {
    draw();
    return;
  }
  const released = new AbortController();
  const end = () => {
    released.abort();
    // After the click.
    setTimeout(draw);
  };
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end, { signal: released.signal });
}

/** Return a function that calls `work` in a frame after any number of calls, and again at the earliest after `pauseOf()` ms. */
export function paced(work, pauseOf) {
  let isDue = false;
  let last = -Infinity;
  const draw = () => {
    isDue = false;
    last = performance.now();
    work();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    const wait = last + pauseOf() - performance.now();
    if (wait > 0) setTimeout(() => requestAnimationFrame(draw), wait);
    else requestAnimationFrame(draw);
  };
}
