// The overview beside the timeline: all requests on one strip, with the faults in their colours, and the visible part.

import { element } from "./dom.js";
import { statusOf, toneOf } from "./journal.js";

const WIDTH = 46;

/** A strip that shows where in the requests the timeline is. `onMove(share)` is called with 0..1 to go there. */
export class Overview {
  constructor(onMove) {
    this.onMove = onMove;
    this.root = element("canvas", {
      class: "overview",
      "aria-hidden": "true",
      on: {
        pointerdown: (event) => this.dragged(event, true),
        pointermove: (event) => this.dragged(event, event.buttons === 1),
      },
    });
    this.painted = null;
  }

  dragged(event, isPressed) {
    if (!isPressed) return;
    this.root.setPointerCapture(event.pointerId);
    const box = this.root.getBoundingClientRect();
    this.onMove((event.clientY - box.top) / box.height);
  }

  /** Draw the requests, and the part from `start` of the length `share`. */
  draw(entries, start, share) {
    const { clientHeight: height } = this.root;
    if (!height) return;
    const ratio = devicePixelRatio;
    const context = this.root.getContext("2d");
    if (this.root.height !== Math.round(height * ratio)) {
      this.root.width = WIDTH * ratio;
      this.root.height = Math.round(height * ratio);
      this.painted = null;
    }
    this.paint(entries, height, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.root.width, this.root.height);
    context.drawImage(this.strip, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colors.view;
    context.fillRect(0, start * height, WIDTH, Math.max(6, share * height));
  }

  paint(entries, height, ratio) {
    const theme = document.documentElement.dataset.theme ?? "";
    const isSame = this.painted !== null && this.painted.entries === entries && this.painted.theme === theme;
    if (isSame) return;
    this.painted = { entries, theme };
    this.colors = colorsOf(this.root);
    this.strip ??= document.createElement("canvas");
    this.strip.width = this.root.width;
    this.strip.height = this.root.height;
    const context = this.strip.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const step = height / Math.max(entries.length, height / 6);
    for (const isNotable of [false, true]) {
      for (const [number, entry] of entries.entries()) {
        const status = statusOf(entry);
        if ((status !== "ok") !== isNotable) continue;
        context.fillStyle = this.colors[toneOf(entry, status)];
        context.fillRect(isNotable ? 6 : 16, number * step, isNotable ? WIDTH - 12 : WIDTH - 32, Math.max(isNotable ? 2 : 1, step - 1));
      }
    }
  }
}

/** Return the colours of style.css as the page has them now, in light or dark. */
function colorsOf(node) {
  const names = ["ok", "lost", "error", "duplicate", "waiting", "cut", "refusal", "slow", "damage", "twice", "view"];
  const resolved = (name) => {
    node.style.color = `var(--${name})`;
    return getComputedStyle(node).color;
  };
  return Object.fromEntries(names.map((name) => [name, resolved(name)]));
}
