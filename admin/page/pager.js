// Pages of a long list: the document has the items of one page.

import { button, element } from "./dom.js";
import { keepListState, listState } from "./list_state.js";

// More rows would make each change of the list slow.
const PAGE_ITEMS = 100;

/** The page that a list shows. Its place is hidden while there is one page. */
export class Pager {
  /** label: of the list, which names the kept page. onTurn: called after another page was chosen. */
  constructor(label, onTurn) {
    this.label = label;
    this.onTurn = onTurn;
    this.chosen = listState(label).page ?? 0;
    this.last = 0;
    this.text = element("output", { class: "count" });
    this.previous = this.button("Previous", -1);
    this.next = this.button("Next", 1);
    this.root = element("nav", { class: "pager", "aria-label": `Pages of ${label}`, hidden: true }, this.previous, this.text, this.next);
  }

  button(text, by) {
    return button(text, () => this.turn(by), { "data-key": `page/${this.label}/${text}` });
  }

  get page() {
    return Math.min(this.chosen, this.last);
  }

  turn(by) {
    this.choose(this.page + by);
    this.onTurn();
  }

  /** Show another page from now on. */
  choose(page) {
    this.chosen = page;
    keepListState(this.label, { ...listState(this.label), page });
  }

  /** Return the items of the page. */
  pageOf(items) {
    this.last = Math.max(0, Math.ceil(items.length / PAGE_ITEMS) - 1);
    const { page, last } = this;
    const first = page * PAGE_ITEMS;
    const shown = items.slice(first, first + PAGE_ITEMS);
    this.text.textContent = `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ${items.length.toLocaleString("en")}`;
    this.root.hidden = last === 0;
    this.enable(this.previous, page > 0, this.next);
    this.enable(this.next, page < last, this.previous);
    return shown;
  }

  /** A disabled button loses the focus, which the other one gets. */
  enable(control, isEnabled, other) {
    const isFocused = document.activeElement === control;
    control.disabled = !isEnabled;
    if (isFocused && !isEnabled) {
      other.disabled = false;
      other.focus();
    }
  }
}

/** Show the first page of a list, because it has other items now. */
export function showFirstPage(label) {
  keepListState(label, { ...listState(label), page: 0 });
}
