// The views of a page, and the one that the address names: `#key/rest?filters`, where the parts of the rest are the view's own.

import { element, fill } from "./dom.js";
import { withoutFilters } from "./list_state.js";

const ADDRESS_SHOWN = "addressshown";

/** Shows the view of the address, and the links to all views. */
export class Navigation {
  /** views: by key, `label` and `make(...rest)`, which returns a view; the first one is shown without a key. */
  constructor(views, links, place) {
    this.views = views;
    this.place = place;
    this.links = new Map(Object.entries(views).map(([key, { label }]) => [key, element("a", { href: `#${key}` }, label)]));
    fill(links, [...this.links.values()]);
    this.view = null;
    // The title of the page, without its view.
    this.title = document.title;
    this.parts = [];
    this.chosen = null;
    addEventListener("hashchange", () => this.show());
    addEventListener(ADDRESS_SHOWN, () => this.showParts());
    document.querySelector(".skip").addEventListener("click", (event) => {
      // The address names a view, and none has the name of this link's target.
      event.preventDefault();
      place.focus();
    });
  }

  /**
   * Show the view that the address names. A view's `shown()` is called when it is in the document. A view with
   * `moved(...rest)` stays when only its own parts of the address change.
   */
  show() {
    const { chosen, rest } = this.showParts();
    if (chosen === this.chosen && this.view.moved?.(...rest)) return;
    this.chosen = chosen;
    this.view?.close();
    this.view = this.views[chosen].make(...rest);
    fill(this.place, this.view.root);
    for (const [name, link] of this.links) {
      if (name === chosen) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    // On a narrow screen the links are in a row that scrolls.
    this.links.get(chosen).scrollIntoView({ block: "nearest", inline: "center" });
    this.view.shown?.();
  }

  /** Show the title for the address, and return its parts. */
  showParts() {
    const [first] = Object.keys(this.views);
    const [key, ...rest] = partsOf(location.hash.slice(1));
    const chosen = Object.hasOwn(this.views, key) ? key : first;
    this.parts = chosen === first && !rest.length ? [] : [this.views[chosen].label, ...rest];
    this.showTitle(this.title);
    return { chosen, rest };
  }

  /** Show the title of the page with its view. */
  showTitle(title) {
    this.title = title;
    document.title = [title, this.parts.join(" ")].filter(Boolean).join(" · ");
  }

  /** Show a mark at the link to a view; null for none. */
  showBadge(key, badge) {
    fill(this.links.get(key), this.views[key].label, badge);
  }

  /** Tell the view that a part of the state changed. */
  changed(part, names) {
    this.view?.changed?.(part, names);
  }
}

/**
 * Have the address name what a view shows, without making the view anew.
 * step: null to replace the address; else Back leads to the address before, and history.state is the step's name.
 */
export function showAddress(key, parts, step) {
  const address = addressOf(key, ...parts);
  if (address === location.hash) return;
  if (step === null) history.replaceState(history.state, "", address);
  else history.pushState(step, "", address);
  dispatchEvent(new Event(ADDRESS_SHOWN));
}

/** Return the address of a view with these parts. */
export function addressOf(key, ...rest) {
  return `#${[key, ...rest].map(partText).join("/")}`;
}

/** Return a part of an address. "=" is legible, and separates nothing. */
function partText(part) {
  return encodeURIComponent(part).replaceAll("%3D", "=");
}

function partsOf(text) {
  try {
    return withoutFilters(text).split("/").map(decodeURIComponent);
  } catch {
    // A percent sign that a person typed.
    return [];
  }
}
