// What a person chose for the lists of a view: the order and page, and the filter by name.
//
// - Order and page belong to the entry of the browser's history: Back and a reload show them again, another view has its own.
// - The filter is in the address, `#topics?name=ord`, for a reload, Back and another person.

const MARK = "?";

/** Return what a list keeps; {} at first. label: of the list. */
export function listState(label) {
  return history.state?.lists?.[label] ?? {};
}

/** Keep what a list shows. label: of the list. state: an object for JSON. */
export function keepListState(label, state) {
  history.replaceState({ ...history.state, lists: { ...history.state?.lists, [label]: state } }, "");
}

/** Return the filters in an address: a fragment with or without its `#`. */
export function filtersOf(fragment) {
  const at = fragment.indexOf(MARK);
  return new URLSearchParams(at < 0 ? "" : fragment.slice(at + 1));
}

/** Return an address without its filters. */
export function withoutFilters(fragment) {
  return fragment.split(MARK, 1)[0];
}

/** Have the address name a filter; an empty value is none. */
export function showFilter(name, value) {
  const filters = filtersOf(location.hash);
  if (value === "") filters.delete(name);
  else filters.set(name, value);
  const text = filters.toString();
  history.replaceState(history.state, "", withoutFilters(location.hash) + (text && MARK + text));
}
