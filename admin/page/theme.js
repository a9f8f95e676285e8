// The choice between light and dark, kept for the next visit.

import { button } from "./dom.js";

const THEME_KEY = "fauxka-theme";

/** Apply the theme that was chosen before, and return the button that changes it. */
export function themeButton() {
  applyTheme(storedTheme());
  return button("◐", toggleTheme, { kind: "quiet", "aria-label": "Light or dark" });
}

function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    // A browser may refuse storage to a file.
    return null;
  }
}

function applyTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  applyTheme(isDark ? "light" : "dark");
  try {
    localStorage.setItem(THEME_KEY, root.dataset.theme);
  } catch {
    // The theme lasts as long as the page.
  }
}
