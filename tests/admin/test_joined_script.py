"""The modules of the page as one script: the order, the names, and what cannot be joined."""

import pytest

from fauxka.admin.joined_script import JoinError, join_modules

DOM = "// Elements.\n\n/** Return a node. */\nexport function element() {\n  return SECRET;\n}\nconst SECRET = 1;\n"


def test_modules_come_after_those_that_they_import() -> None:
    sources = {
        "main.js": 'import { view } from "./view.js";\nimport { element } from "./dom.js";\nview(element);\n',
        "view.js": 'import { element } from "./dom.js";\nexport const view = element;\n',
        "dom.js": DOM,
        "unused.js": "",
    }

    script = join_modules(sources, "main.js")

    assert [line.split('"')[1] for line in script.splitlines() if line.startswith("modules[")] == [
        "dom.js",
        "view.js",
        "main.js",
    ]
    assert 'const { element } = modules["dom.js"];' in script


def test_module_returns_what_it_exports_and_has_no_comments() -> None:
    lines = join_modules({"dom.js": DOM}, "dom.js").splitlines()

    assert lines[2:] == [
        'modules["dom.js"] = (() => {',
        "function element() {",
        "  return SECRET;",
        "}",
        "const SECRET = 1;",
        "return { element };",
        "})();",
    ]


def test_import_over_several_lines_with_another_name_is_a_constant() -> None:
    sources = {
        "main.js": 'import {\n  element as made,\n  shape,\n} from "./dom.js";\n',
        "dom.js": "export function element() {}\nexport async function shape() {}\n",
    }

    assert 'const { element: made, shape } = modules["dom.js"];' in join_modules(sources, "main.js")


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"main.js": 'import { a } from "./a.js";\n'}, "main.js imports a.js, which does not exist"),
        (
            {
                "main.js": 'import { a } from "./a.js";\n',
                "a.js": 'import { b } from "./b.js";\n',
                "b.js": 'import { a } from "./a.js";\n',
            },
            "the modules import each other: main.js -> a.js -> b.js -> a.js",
        ),
        ({"main.js": 'import * as a from "./a.js";\n'}, "main.js: cannot join 'import * as a from \"./a.js\";'"),
        ({"main.js": "export default 1;\n"}, "main.js: cannot join 'export default 1;'"),
        ({"main.js": "export let a = 1;\n"}, "main.js: cannot join 'export let a = 1;'"),
        ({"main.js": 'const a = "</Script>";\n'}, "the script would end its element at '</Script'"),
        ({"main.js": 'const a = "<!--";\n'}, "the script would end its element at '<!--'"),
    ],
)
def test_what_cannot_be_joined_is_an_error_that_names_it(sources: dict[str, str], message: str) -> None:
    with pytest.raises(JoinError) as raised:
        join_modules(sources, "main.js")

    assert str(raised.value) == message
