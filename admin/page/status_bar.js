// The head of the page: the broker, whether the page is live, the clock, and the theme.

import { element, fill } from "./dom.js";
import { durationText, timeText } from "./format.js";
import { themeButton } from "./theme.js";

const STATES = {
  connecting: "connecting",
  waiting: "waits: five other windows are live, and a browser has no connection for more",
  live: "live",
  lost: "no connection",
};
// The clock is shown in seconds.
const TICK_MS = 1000;
// A real clock that is less than this ahead is not told: the call takes time too.
const AHEAD_MS_MIN = 1000;

/** The bar at the top. */
export class StatusBar {
  constructor(place, api) {
    this.api = api;
    this.bootstrap = null;
    /** @type {(() => void) | null} called when the address is read, which may be another one later */
    this.onLoad = null;
    // Fulfilled when the broker's address is known.
    this.loaded = new Promise((resolve) => {
      this.addressRead = () => resolve(null);
    });
    this.clock = null;
    this.state = element("span", { class: "state is-connecting", role: "status" }, STATES.connecting);
    this.address = element("code", { class: "address" });
    this.time = element("span", { class: "clock" });
    fill(
      place,
      element("a", { class: "brand", href: "#timeline" }, "fauxka"),
      this.address,
      this.state,
      element("span", { class: "spacer" }),
      this.time,
      themeButton(),
    );
    setInterval(() => this.tick(), TICK_MS);
  }

  /** Ask for the broker's address and clock. */
  async load() {
    try {
      const nodes = await this.api.list("/v1/nodes");
      this.bootstrap = nodes.map((node) => node.bootstrap).join(",");
      this.address.textContent = this.bootstrap;
      this.addressRead();
      this.onLoad?.();
      await this.readClock();
    } catch (error) {
      this.setConnection("lost", error);
    }
  }

  async readClock() {
    const clock = await this.api.get("/v1/clock");
    this.clock = { mode: clock.mode, now: clock.now_ms, read: Date.now() };
    this.tick();
  }

  /** Read what a changed part of the state shows here. */
  changed(part) {
    if (part === "clock") this.readClock().catch(() => {});
  }

  tick() {
    if (this.clock === null) return;
    const { mode, now, read } = this.clock;
    const isManual = mode === "manual";
    const ahead = now - read;
    const shown = isManual ? now : now + Date.now() - read;
    const note = isManual ? "stands" : Math.abs(ahead) >= AHEAD_MS_MIN ? `${durationText(ahead)} ahead` : "";
    fill(this.time, `${new Date(shown).toISOString().slice(0, 10)} ${timeText(shown).slice(0, 8)} UTC`, note && element("b", {}, ` ${note}`));
  }

  setConnection(state, error) {
    this.state.className = `state is-${state}`;
    this.state.textContent = error === null ? STATES[state] : `${STATES[state]}: ${error.message}`;
  }
}
