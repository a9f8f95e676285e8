// The rules for the scripts of the page, which run in a browser, and for their tests, which run in Node.

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["page/declared.js"] },
  js.configs.recommended,
  { files: ["page/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/*.js"], languageOptions: { globals: globals.node } },
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 15],
      curly: ["error", "multi-line"],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-depth": ["error", 3],
      "max-lines": ["error", 400],
      // Patterns of the page look for control characters.
      "no-control-regex": "off",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-param-reassign": "error",
      // Text from the wire must not become HTML.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text from the wire must stay text: see dom.js." },
        { property: "outerHTML", message: "Text from the wire must stay text: see dom.js." },
        { property: "insertAdjacentHTML", message: "Text from the wire must stay text: see dom.js." },
      ],
      "no-shadow": "error",
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
