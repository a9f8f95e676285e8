// The overview beside the timeline: all requests on one strip, with the faults in their colours, and the visible part.

import { element } from "./dom.js";
import { statusOf, toneOf } from "./journal.js";

const WIDTH = 46;
// All requests are drawn each time.
const PAINT_MS = 200;

/** A strip that shows where in the requests the timeline is. `onMove(share)` is called with 0..1 to go there. */
export class Overview {
  constructor(onMove) {
    this.onMove = onMove;
    this.strip = element("canvas");
    this.view = element("div", { class: "view" });
    this.root = element(
      "div",
      {
        class: "overview",
        "aria-hidden": "true",
        on: {
          pointerdown: (event) => this.dragged(event, true),
          pointermove: (event) => this.dragged(event, event.buttons === 1),
        },
      },
      this.strip,
      this.view,
    );
    // What the strip shows, and what it is to show.
    this.painted = "";
    this.requests = null;
    this.height = 0;
    // The colours of a theme are read once: each takes a calculation of the styles.
    this.theme = null;
    this.colors = null;
    this.paintedAt = -Infinity;
    this.timer = null;
  }

  dragged(event, isPressed) {
    if (!isPressed) return;
    this.root.setPointerCapture(event.pointerId);
    const box = this.root.getBoundingClientRect();
    this.onMove((event.clientY - box.top) / box.height);
  }

  /** Draw the requests, and the part in view. height: of the strip, in pixels. start: of the part, 0..1. share: its length. */
  draw(requests, height, { start, share }) {
    this.requests = requests;
    this.height = height;
    const isWhole = !(share < 1);
    this.view.style.top = `${isWhole ? 0 : start * 100}%`;
    this.view.style.height = `${isWhole ? 100 : share * 100}%`;
    // In the frame of the rows, unless the last painting was just before.
    const wait = this.paintedAt + PAINT_MS - performance.now();
    if (wait <= 0) this.paint();
    else this.timer ??= setTimeout(() => this.paint(), wait);
  }

  paint() {
    clearTimeout(this.timer);
    this.timer = null;
    const { height } = this;
    const theme = `${document.documentElement.dataset.theme ?? ""} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
    const painted = JSON.stringify([this.requests.version, height, devicePixelRatio, theme]);
    if (!height || painted === this.painted) return;
    this.painted = painted;
    this.paintedAt = performance.now();
    const ratio = devicePixelRatio;
    this.strip.width = WIDTH * ratio;
    this.strip.height = Math.round(height * ratio);
    const context = this.strip.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { entries } = this.requests;
    if (theme !== this.theme) this.colors = colorsOf(this.root);
    this.theme = theme;
    const { colors } = this;
    const step = height / Math.max(entries.length, height / 6);
    // Many requests share a line: one of each tone is drawn there.
    const isDense = step < 2;
    if (isDense) {
      context.fillStyle = colors.ok;
      context.fillRect(16, 0, WIDTH - 32, entries.length * step);
    }
    const drawn = new Map();
    for (const [number, entry] of entries.entries()) {
      const status = statusOf(entry);
      if (status === "ok") {
        if (isDense) continue;
        context.fillStyle = colors.ok;
        context.fillRect(16, number * step, WIDTH - 32, step - 1);
        continue;
      }
      const tone = toneOf(entry, status);
      const line = isDense ? Math.floor(number * step) : number * step;
      if (drawn.get(tone) === line) continue;
      drawn.set(tone, line);
      context.fillStyle = colors[tone];
      context.fillRect(6, line, WIDTH - 12, Math.max(2, step - 1));
    }
  }
}

/** Return the colours of style.css as the page has them now, in light or dark. */
function colorsOf(node) {
  const names = ["ok", "lost", "error", "duplicate", "waiting", "cut", "refusal", "slow", "damage", "twice"];
  const resolved = (name) => {
    node.style.color = `var(--${name})`;
    return getComputedStyle(node).color;
  };
  return Object.fromEntries(names.map((name) => [name, resolved(name)]));
}
