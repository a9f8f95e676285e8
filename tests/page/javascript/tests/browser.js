// A document without a browser: frames and times are moved by hand, and the chart has a size.

import { parseHTML } from "linkedom";

export const CHART = { width: 1000, height: 460 };

/** Set the globals that the scripts of the page use, and return `frame(ms)`, which lets time pass and draws a frame. */
export function openDocument() {
  const { document, HTMLElement } = parseHTML("<html><body></body></html>");
  let now = 0;
  let callbacks = [];
  let timers = [];
  for (const [name, size] of [["clientWidth", CHART.width], ["clientHeight", CHART.height]]) {
    Object.defineProperty(HTMLElement.prototype, name, { get: () => size, configurable: true });
  }
  // The overview's colours and pixels are those of a browser.
  document.createElement("canvas").constructor.prototype.getContext = () => ({ setTransform() {}, fillRect() {} });
  Object.assign(globalThis, {
    document,
    HTMLElement,
    devicePixelRatio: 1,
    ResizeObserver: class {
      observe() {}
      disconnect() {}
    },
    requestAnimationFrame: (callback) => callbacks.push(callback),
    setTimeout: (callback, ms = 0) => {
      const timer = { callback, at: now + ms };
      timers.push(timer);
      return timer;
    },
    clearTimeout: (timer) => {
      timers = timers.filter((each) => each !== timer);
    },
    getComputedStyle: () => ({ color: "black" }),
    matchMedia: () => ({ matches: false }),
  });
  performance.now = () => now;
  return {
    document,
    frame(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { callback } of due) callback();
      const called = callbacks;
      callbacks = [];
      for (const callback of called) callback();
    },
  };
}
