"""Templates: those of the tool, a repository's own, and what a hostile one comes to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from execplan.core.plan import outline, reader
from execplan.core.plan.placeholder_text import is_placeholder_text
from execplan.core.project.plan_dialects import load_dialects
from execplan.core.scaffold.template_rendering import TemplateVariables
from execplan.core.scaffold.template_sandbox import FILTERS, LOOP_ATTRIBUTES
from execplan.core.text.markdown_blocks import FENCE
from execplan.linter.runner import RuleContext, lint_bytes
from tests.conftest import Folder
from tests.plans import from_template

KINDS = ("add-endpoint", "add-tests", "bugfix", "crud", "feature", "migration", "refactor", "spike")
DIALECTS = {dialect.template for dialect in load_dialects()} - {"plan"}
"""The templates in the form of another tool."""
SMALL = "small"
"""The template in which only some sections have placeholder text."""
SKELETON = "execplans"
"""The template that is the skeleton of the original format."""
ROOT = Path(__file__).resolve().parents[3]


def write_template(folder: Folder, name: str, text: str | bytes) -> Path:
    """Put a template into the repository."""
    return folder.write(f".agent/templates/{name}.md", text)


def template_error(folder: Folder, name: str, *options: str) -> str:
    """What is said to a template that is refused, with the line; nothing is written."""
    result = folder.run("new", "Cut a release", "--template", name, *options)
    assert result.exit == 3, result
    assert "Traceback" not in result.err
    assert "\nhint: " in result.err
    assert not (folder.path / ".agent/execplans").is_dir() or not list((folder.path / ".agent/execplans").iterdir())
    return result.err.removeprefix("execplan: .agent/templates/")


@pytest.mark.parametrize("name", ["plan", SKELETON, *KINDS])
def test_a_template_of_the_tool_gives_a_clean_draft(name: str) -> None:
    data = from_template(name).encode()
    plan = reader.read(data)
    assert [section.title for section in plan.sections] == list(outline.NAMES)
    assert plan.title == "Build the parser"
    assert plan.state() == "draft"
    assert {finding.code for finding in lint_bytes(data)} == {"EP109"}
    assert all(finding.level == "warning" for finding in lint_bytes(data, RuleContext(allows_draft=True)))
    code_blocks = [block for block in plan.blocks if block.kind == FENCE]
    assert all("{example" in block.text for block in code_blocks)
    code = {at for block in code_blocks for at in range(block.start, block.end)}
    prose = {at: plan.text.lines[at] for section in plan.sections for at in range(section.body_start, section.end)}
    filled = [at for at, line in prose.items() if line.strip() and at not in code]
    tasks = {task.start for task in plan.tasks}
    assert {at for at in filled if not is_placeholder_text(prose[at])} == (tasks if name in KINDS else set())
    assert tasks
    assert not [
        line for at, line in enumerate(plan.text.lines) if line != line.rstrip() or ("{" in line and at not in code)
    ]
    assert not [at for at, line in prose.items() if at not in code and not line and not prose.get(at + 1, "-")]


def test_the_small_template_needs_three_sections(repo: Folder) -> None:
    data = from_template(SMALL).encode()
    plan = reader.read(data)
    assert [section.title for section in plan.sections] == list(outline.NAMES)
    assert plan.state() == "draft"
    assert [finding.code for finding in lint_bytes(data)] == ["EP109"] * 3
    repo.ok("new", "Fix the date", "--template", SMALL, "--purpose", "Users see today's date in the footer.")
    repo.ok("set", "Plan of Work", "In `src/footer.py`, `footer()` reads the date from the clock.")
    repo.ok("set", "Validation and Acceptance", "In the root of the repository, `make test` prints `12 passed`.")
    assert repo.ok("lint", "--profile", "strict")["findings"] == []
    repo.ok("done", "1", "2")
    repo.ok("outcome", "The footer shows the date.")
    assert repo.ok("archive", "--dry-run")["moves"]


@pytest.mark.parametrize("name", KINDS)
def test_words_stand_in_place_of_what_a_template_says(repo: Folder, name: str) -> None:
    repo.ok("new", "Cut", "--template", name, "--task", "One", "--task", "Two", "--purpose", "1. Users can.")
    assert [task["text"] for task in repo.ok("show")["tasks"]] == ["One", "Two"]
    assert repo.ok("show", "--section", "Purpose")["text"].endswith("\n\n1\\. Users can.\n\n")


@pytest.mark.parametrize("copied", [False, True])
def test_a_purpose_keeps_its_blocks_and_adds_no_section_or_task(repo: Folder, copied: bool) -> None:
    if copied:
        repo.write(".agent/template.md", "# Template\n\n## Purpose\n\nSay why.\n\n## Progress\n\n- [ ] Step.\n")
        repo.write(".agent/execplan.toml", 'template = ".agent/template.md"\n')
    blocks = "First\nparagraph.\n\n- one\n- two\n\n```sh\nmake test\n\nmake run\n```\n\n- [ ] No task.\n"
    heading = repo.run("new", "Keep", "--purpose", blocks + "\n## Progress\n", "--json")
    assert "headings of level 3" in heading.json["error"]["hint"]
    repo.ok("new", "Keep", "--purpose", blocks, "--task", "One")
    text = repo.ok("show", "--section", "Purpose")["text"]
    assert "\n\nFirst paragraph.\n\n- one\n- two\n\n```sh\nmake test\n\nmake run\n```\n\n" in text
    assert [(plan["title"], plan["counts"]["total"]) for plan in repo.ok("list")["plans"]] == [("Keep", 1)]


def test_every_kind_asks_questions_of_its_own() -> None:
    plain = set(from_template("plan").split("\n"))
    questions = [set(from_template(name).split("\n")) - plain for name in KINDS]
    questions = [{line for line in kind_questions if is_placeholder_text(line)} for kind_questions in questions]
    assert all(len(kind_questions) >= 5 for kind_questions in questions)
    for at, kind_questions in enumerate(questions):
        assert all(not kind_questions & other for other in questions[:at])


def test_templates_are_listed_without_a_home(plain: Folder) -> None:
    result = plain.run("new", "--list-templates")
    assert result.exit == 0
    assert "bugfix               A bug: reproduce it, find its cause, fix it.  (built in)" in result.out.splitlines()
    listed = plain.ok("new", "--list-templates")["templates"]
    assert [template["name"] for template in listed] == ["plan", *sorted([*KINDS, SMALL, SKELETON]), *sorted(DIALECTS)]
    assert all(template["about"].endswith(".") and Path(template["path"]).is_file() for template in listed)
    assert not any(template["own"] for template in listed)
    assert list(plain.path.iterdir()) == []


def test_own_templates_are_listed_as_such(repo: Folder) -> None:
    write_template(repo, "release", "{#- A release. -#}\n# {{ title }}\n")
    write_template(repo, "spike", '{% extends "spike.md" %}')
    write_template(repo, "_part", "Part.\n")
    write_template(repo, "binary", b"\xff\xff")
    (repo.path / ".agent/templates/out.md").symlink_to("/etc/hostname")
    listed = {template["name"]: template for template in repo.ok("new", "--list-templates")["templates"]}
    assert set(listed) == {"plan", *KINDS, SMALL, SKELETON, *DIALECTS, "release", "binary", "out"}
    assert listed["release"] == {
        "name": "release",
        "about": "A release.",
        "path": ".agent/templates/release.md",
        "own": True,
        "overrides": False,
    }
    assert (listed["spike"]["own"], listed["spike"]["overrides"], listed["spike"]["about"]) == (True, True, "")
    assert "UTF-8" in listed["binary"]["about"]
    assert "is a symbolic link to" in listed["out"]["about"]
    out = repo.run("new", "--list-templates").out
    assert "\nspike                (replaces the built-in)\n" in out
    assert "\nrelease              A release.  (own)\n" in out


def test_an_unknown_name_is_refused_with_the_nearest(repo: Folder) -> None:
    write_template(repo, "release", "# {{ title }}\n")
    for name, hint in (("bugfx", "did you mean 'bugfix'?"), ("relese", "'release'"), ("..", ""), ("", ""), ("_x", "")):
        result = repo.run("new", "T", "--template", name, "--json")
        error = result.json["error"]
        assert (result.exit, error["code"]) == (3, "unknown-template"), name
        assert hint in error["hint"]
        assert hint or error["hint"] == "use one of these, or omit --template"
        assert [candidate.split()[0] for candidate in error["candidates"]] == [
            "plan",
            *sorted([*KINDS, SMALL, SKELETON]),
            *sorted(DIALECTS),
            "release",
        ]
    assert list((repo.path / ".agent/execplans").iterdir()) == []


def test_the_setting_names_the_template_and_the_folder(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'template = "bugfix"\ntemplates = "docs/kinds"\n')
    repo.write("docs/kinds/release.md", '{% extends "plan.md" %}{% block tasks -%}\n- [ ] Tag it\n{% endblock %}')
    repo.ok("new", "One")
    repo.ok("new", "Two", "--template", "release")
    assert len(repo.ok("show", "one")["tasks"]) == 5
    assert [task["text"] for task in repo.ok("show", "two")["tasks"]] == ["Tag it"]
    for text in ('template = "a/b"', 'template = ""', 'templates = "../x"', 'templates = ".git/x"'):
        repo.write(".agent/execplan.toml", text + "\n")
        assert repo.run("new", "Three").exit == 3, text
    repo.write(".agent/execplan.toml", 'template = "nosuch"\n')
    assert "nosuch" in repo.run("new", "Three").err


def test_every_variable(repo: Folder) -> None:
    names = [name for name in TemplateVariables._fields if name not in ("title", "tasks")]
    text = "# {{ title }}\n\n## Progress\n\n{% for task in tasks %}- [ ] {{ task }}\n{% endfor %}\n## Notes\n\n"
    write_template(
        repo, "all", text + "".join(f"{name}={{{{ {name} }}}};\n" for name in names) + "{{ tasks|join(' + ') }}"
    )
    repo.write(".agent/execplans/2026-01-01_cut.md", "# Another\n")
    created = repo.ok("new", "Cut", "--template", "all", "--purpose", "Users can.", "--task", "a", "--task", "b")
    assert created["id"] == "2026-01-01_cut-2"
    assert (repo.path / created["path"]).read_text().partition("## Notes\n\n")[2].splitlines() == [
        "purpose=Users can.;",
        "date=2026-01-01;",
        "id=2026-01-01_cut-2;",
        "number=;",
        "key=2026-01-01_cut-2;",
        "artifacts=.agent/execplans/artifacts/2026-01-01_cut-2;",
        "author=Ann;",
        "template=all;",
        "a + b",
    ]


def test_the_language(repo: Folder) -> None:
    write_template(repo, "_part", " {{ word|upper }}")
    write_template(
        repo,
        "some",
        "# {{ title }}\n{# unseen #}\n{% for word in ['b', 'c'] %}{{ loop.index }}/{{ loop.length }}{% include '_part.md' %}"
        "{% if not loop.last %}, {% endif %}{% endfor %}\n"
        "{{ purpose|default('nothing', true) }} {{ tasks|length }} {{ 'x' if tasks else 'y' }} {{ ['l', 'm']|last }}\n"
        "{% if nosuch is defined or title == 'T' and 3 not in [1, 2] %}yes{% elif 1 %}no{% endif %}\n"
        "{% raw %}{{ raw }}{% endraw %} {{ 'a b c'|replace(' ', '-')|title|trim }}\n",
    )
    path = repo.ok("new", "T", "--template", "some")["path"]
    text = (repo.path / path).read_text()
    assert text == "# T\n\n1/2 B, 2/2 C\nnothing 0 y m\nyes\n{{ raw }} A-B-C\n"


def test_an_own_template_extends_what_it_overrides_and_others_extend_it(repo: Folder) -> None:
    write_template(
        repo, "plan", '{% extends "plan.md" %}{% block more -%}\n## Risks\n\n{{ super() }}Ours.\n{% endblock %}'
    )
    write_template(repo, "feature", '{% extends "feature.md" %}{% block work -%}\nIn {{ template }}.\n{% endblock %}')
    for name in ("plan", "feature", "bugfix"):
        path = repo.ok("new", name, "--template", name)["path"]
        text = (repo.path / path).read_text()
        assert text.endswith("\n\n## Risks\n\nOurs.\n")
        assert ("\n\nIn feature.\n\n" in text) == (name == "feature")
        assert repo.run("lint", "--hook", path).exit == 0


def test_guidance_of_an_own_template_is_known_by_its_mark(repo: Folder) -> None:
    write_template(
        repo,
        "release",
        '{% extends "plan.md" %}\n{% block work -%}\nWhich branch?  {#- guidance #}\nWhat else? {# guidance #}\n{% endblock %}'
        "{% block surprises -%}\nWhat the build said. {#- guidance -#}\n\n{% endblock %}"
        "{% block outcomes -%}\nAt each milestone and at the end: what works now, what is still missing, what the next plan "
        "should know. {#- guidance #}\n{% endblock %}",
    )
    path = repo.path / repo.ok("new", "Cut", "--template", "release", "--task", "One")["path"]
    text = path.read_text()
    assert "\n\nWhich branch? <!-- guidance -->\nWhat else? <!-- guidance -->\n\n" in text
    assert text.count("<!--") == 3
    assert repo.ok("show")["state"] == "draft"
    findings = repo.run("lint", "--json").json["data"]["findings"]
    assert "Plan of Work still contains placeholder text (2 lines)" in [finding["message"] for finding in findings]
    repo.ok("discover", "It is green", "--evidence", "log")
    assert "What the build said" not in path.read_text()


EARLIER_LINES = (ROOT / "scripts/earlier_placeholder_lines.txt").read_text(encoding="utf-8").splitlines()


def test_placeholder_text_of_earlier_templates_is_known() -> None:
    assert "Every choice that shaped the work, the moment it is made." in EARLIER_LINES
    assert len(set(EARLIER_LINES)) == len(EARLIER_LINES) >= 63
    text = "# T\n\n## Plan of Work\n\n" + "".join([f"{line}\n\n" for line in EARLIER_LINES])
    assert len(reader.read(text.encode()).placeholder_lines) == len(EARLIER_LINES)
    templates = "".join([from_template(name) for name in ("plan", *KINDS)])
    assert [line for line in EARLIER_LINES if f"\n{line}\n" in templates] == []


def test_a_mark_alone_or_in_code_is_no_guidance() -> None:
    text = "# T\n\n## Plan of Work\n\n<!-- guidance -->\n\n```\nx <!-- guidance -->\n```\n\nx<!-- guidance -->\n"
    assert reader.read(text.encode()).placeholder_lines == []


def test_what_an_own_template_leaves_out_is_a_warning(repo: Folder) -> None:
    write_template(repo, "short", "# Release: {{ title }}\n\n## Progress\n\n- [ ] Tag it\n")
    result = repo.run("new", "Cut", "--template", "short", "--json")
    assert result.exit == 0
    assert repo.ok("show")["title"] == "Release: Cut"
    warnings = result.json["warnings"]
    assert all(warning.startswith("from .agent/templates/short.md: EP10") for warning in warnings)
    assert any("missing section Decision Log" in warning for warning in warnings)


def test_words_are_not_lost_and_are_no_template(repo: Folder) -> None:
    write_template(repo, "bare", "# {{ title }}\n")
    write_template(repo, "deaf", "# A release\n")
    write_template(repo, "blank", "{# only this #}\n")
    assert template_error(repo, "bare", "--task", "One").startswith(
        "bare.md:1: the rendered plan lacks the given tasks"
    )
    assert template_error(repo, "bare", "--purpose", "P").startswith(
        "bare.md:1: the rendered plan lacks the given purpose"
    )
    assert template_error(repo, "deaf").startswith("deaf.md:1: the rendered plan lacks the given title")
    assert template_error(repo, "blank").startswith("blank.md:1: the rendered plan lacks the given title")
    path = repo.ok("new", "{{ title }} {% x %}", "--template", "bare")["path"]
    assert (repo.path / path).read_text() == "# {{ title }} {% x %}\n"


BROKEN = {
    "syntax": ("# {{ title }}\n\n{% if %}", 3, "Expected an expression"),
    "tag": ("# {{ title }}\n\n{% endblok %}", 3, "endblok"),
    "open": ("# {{ title }}\n{% for a in tasks %}\n", 2, "Unexpected end"),
    "undefined": ("# {{ title }}\n\n\n{{ titel }}", 4, "'titel' is undefined"),
    "deep in a loop": ("# {{ title }}\n{% for a in [1] %}\n{{ b }}\n{% endfor %}", 3, "'b' is undefined"),
    "filter": ("# {{ title }}\n\n{{ title|shout }}", 3, "unknown filter 'shout'"),
    "missing": ("# {{ title }}\n{% include 'nosuch.md' %}", 2, "file not found: 'nosuch.md'"),
    "itself": ("# {{ title }}\n{% include 'itself.md' %}", 2, "file not found: 'itself.md' among the built-in"),
    "parent": ("{% extends '../plan.md' %}", 1, "file not found: '../plan.md'"),
    "root": ("\n{% extends '/etc/passwd' %}", 2, "file not found: '/etc/passwd'"),
    "other": ("{% include 'PLANS.md' %}", 1, "file not found: 'PLANS.md' in the templates directory"),
    "class": ("# {{ title }}\n\n{{ ''.__class__ }}", 3, "'__class__' is not allowed: `loop` has "),
    "item": ("{{ title['__class__'] }}", 1, "`[ ]` can't be used"),
    "attr": ("{{ title|attr('__class__') }}", 1, "unknown filter 'attr'"),
    "self": ("{{ self.x() }}", 1, "only super() can be called"),
    "self shown": ("{{ self }}", 1, "only text and numbers can be written"),
    "sneaky super": ("{% for super in [1] %}{{ super() }}{% endfor %}", 1, "not callable"),
    "super of none": ("{% block a %}\n{{ super() }}{% endblock %}", 2, "no parent block"),
    "list": ("{{ tasks }}", 1, "only text and numbers can be written"),
    "compare": ("\n{% if title < 3 %}{% endif %}", 2, "not supported"),
    "import": ("{% import 'plan.md' as p %}", 1, "`import` can't be used"),
    "set": ("{% set x = 1 %}", 1, "`set` can't be used"),
    "macro": ("{% macro m() %}{% endmacro %}", 1, "`macro` can't be used"),
    "recursive": ("{% for a in tasks recursive %}{{ loop(tasks) }}{% endfor %}", 1, "can"),
    "memory": ("# {{ title }}\n{{ 'x' * 10**10 }}", 2, "`*` can't be used"),
    "number": ("{{ 9**9**9 }}", 1, "`**` can't be used"),
    "format": ("{{ '%99999999999d' % 1 }}", 1, "`%` can't be used"),
    "doubled": ("{{ 'x' ~ 'y' }}", 1, "`~` can't be used"),
    "method": ("{{ title.ljust(99999999999) }}", 1, "only super() can be called"),
    "center": ("{{ title|center(99999999999) }}", 1, "unknown filter 'center'"),
    "range": ("{% for a in range(10**9) %}{% endfor %}", 1, "only super() can be called"),
    "squared": (f"# x\n{{{{ '{'a' * 9999}'|replace('a', '{'b' * 9999}') }}}}", 2, "it runs too long"),
    "joined": (f"{{{{ '{'a' * 9999}'|join('{'b' * 9999}') }}}}", 1, "it runs too long"),
    "turns": ("x\n" + "{% for a in [1, 2, 3, 4, 5, 6, 7, 8] %}" * 12 + "{% endfor %}" * 12, 2, "it runs too long"),
    "written": ("{% for a in [1, 2, 3, 4, 5, 6, 7, 8] %}" * 12 + "x" + "{% endfor %}" * 12, 1, "it runs too long"),
    "deep": ("\n" + "{% for a in [1] %}" * 30 + "{% endfor %}" * 30, 2, "nested more than 20"),
    "parentheses": ("{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}", 1, "nested too deeply"),
    "nested list": ("{% for a in [[1], [2]] %}{% endfor %}", 1, "a list can contain only text and numbers"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_template_names_its_line(repo: Folder, name: str) -> None:
    text, line, message = BROKEN[name]
    write_template(repo, name, text)
    error = template_error(repo, name)
    assert error.startswith(f"{name}.md:{line}: "), error
    assert message in error.splitlines()[0]
    assert template_error(repo, name, "--dry-run") == error


def test_templates_that_bring_in_each_other_come_to_an_end(repo: Folder) -> None:
    write_template(repo, "a", "{% extends 'b.md' %}")
    write_template(repo, "b", "\n{% extends 'a.md' %}")
    assert re.match(r"(a.md:1|b.md:2): more than 100 files are included", template_error(repo, "a"))
    for at in range(40):
        write_template(repo, f"_{at}", f"{{% include '_{at + 1}.md' %}}" * 2)
        write_template(
            repo, f"s{at}", f"{{% extends 's{at + 1}.md' %}}{{% block x %}}{'{{ super() }}' * 99}{{% endblock %}}"
        )
    write_template(repo, "_40", "")
    write_template(repo, "_39", "x")
    write_template(repo, "s40", "# {{ title }}{% block x %}{% endblock %}")
    write_template(repo, "tree", "{% include '_0.md' %}")
    assert "files are included" in template_error(repo, "tree")
    assert "it runs too long" in template_error(repo, "s0")


def test_the_fault_of_a_part_is_told_where_it_is(repo: Folder) -> None:
    write_template(repo, "whole", "# {{ title }}\n\n\n{% include '_part.md' %}")
    write_template(repo, "_part", "\n{{ nosuch }}")
    assert template_error(repo, "whole").startswith("_part.md:2: 'nosuch' is undefined")
    write_template(repo, "_part", "\n\n{% if %}")
    assert template_error(repo, "whole").startswith("_part.md:3: ")


@pytest.mark.parametrize(
    ("data", "words"), [(b"# {{ title }}\n\xff", ":2: "), (b"x\0", ":1: "), (b"", ":1: "), (b"x" * 70_000, "65,536")]
)
def test_what_is_no_text_is_no_template(repo: Folder, data: bytes, words: str) -> None:
    write_template(repo, "odd", data)
    assert words in template_error(repo, "odd")


def test_links_do_not_lead_out(repo: Folder) -> None:
    import os

    folder = repo.path / ".agent/templates"
    secret = repo.path.parent / "secret.md"
    secret.write_text("# {{ title }}\n")
    beside_path = repo.write("docs/beside.md", "# {{ title }}\n")
    folder.mkdir()
    (folder / "out.md").symlink_to(secret)
    (folder / "beside.md").symlink_to(beside_path)
    (folder / "alias.md").symlink_to("inside.md")
    (folder / "dead.md").symlink_to("nowhere.md")
    write_template(repo, "inside", "# {{ title }}\n")
    write_template(repo, "through", "{% extends 'out.md' %}")
    os.mkfifo(folder / "pipe.md")
    for name in ("out", "beside", "through"):
        result = repo.run("new", "T", "--template", name, "--json")
        assert (result.exit, result.json["error"]["code"]) == (7, "link-outside"), name
    assert repo.run("new", "T", "--template", "pipe").exit == 3
    assert repo.run("new", "T", "--template", "dead").exit == 3
    assert list((repo.path / ".agent/execplans").iterdir()) == []
    assert repo.run("new", "T", "--template", "alias").exit == 0
    folder.rename(repo.path.parent / "moved")
    folder.symlink_to(repo.path.parent / "moved")
    assert repo.run("new", "T", "--template", "inside").exit == 7
    assert repo.run("new", "T").exit == 7


def test_ten_plans_from_a_template_that_tells_its_id(repo: Folder) -> None:
    write_template(repo, "told", "# {{ title }}\n\n{{ id }}\n")
    assert [result.exit for result in repo.run_at_once([("new", "Cut", "--template", "told")] * 10)] == [0] * 10
    plans = sorted((repo.path / ".agent/execplans").glob("*.md"))
    assert len(plans) == 10
    assert all(path.read_text().splitlines()[2] == path.stem for path in plans)


def test_the_page_about_templates_tells_all_of_it(repo: Folder) -> None:
    page = (ROOT / "docs/how-to/write-templates.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(TemplateVariables._fields)
    documented = set(re.findall(r"`([\w.]+)`", page))
    assert documented >= {*FILTERS, *[f"loop.{name}" for name in LOOP_ATTRIBUTES]}
    blocks = re.findall(r"{% block (\w+)", (ROOT / "templates/plan.md").read_text(encoding="utf-8"))
    assert documented >= set(blocks)
    for name in KINDS:
        used = re.findall(r"{% block (\w+)", (ROOT / f"templates/plans/{name}.md").read_text(encoding="utf-8"))
        assert used == [block for block in blocks if block in used]
    write_template(repo, "release", page.partition("```jinja\n")[2].partition("```")[0])
    path = repo.path / repo.ok("new", "Cut", "--template", "release")["path"]
    assert path.read_text().endswith("## Release notes\n\n`.agent/execplans/artifacts/2026-01-01_cut/notes.md`\n")
    assert repo.run("lint", "--hook").exit == 0


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_plan_in_the_form_of_another_tool(repo: Folder, name: str) -> None:
    title = "Read `a: b`, it's *quoted*"
    created = repo.ok("new", title, "--template", name, "--task", "Read lines", "--task", "Write lines")
    plan = repo.ok("show", created["id"])
    assert [task["text"].removeprefix(f"#{task['number']} ") for task in plan["tasks"]] == ["Read lines", "Write lines"]
    assert plan["title"].endswith(title)
    assert repo.run("lint", created["path"]).exit == 0
    with_purpose = repo.ok("new", "Two", "--template", name, "--purpose", "Read plans.")
    assert "Read plans." in (repo.path / with_purpose["path"]).read_text()
    assert repo.ok("show", with_purpose["id"])["tasks"]


def test_a_plan_that_new_plans_are_copied_from(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'template = "docs/form.md"\n')
    missing = repo.run("new", "Parser", "--json").json["error"]
    assert (missing["code"], "docs/form.md" in missing["message"]) == ("unknown-template", True)
    repo.write("docs/form.md", "# Name\n\n## Goal\n\nWhy?\n\n## Tasks\n\n- [ ] Rehearse\n")
    created = repo.ok("new", "Parser", "--task", "Read lines", "--purpose", "It reads.")
    assert (repo.path / created["path"]).read_text() == (
        "# Parser\n\n## Goal\n\nIt reads.\n\n## Tasks\n\n- [ ] Read lines\n"
    )
    phases = "## Phase 1\n\n- [ ] Rehearse\n\n## Phase 2\n\n- [ ] Release\n"
    repo.write("docs/form.md", f"# Name\n\n{phases}")
    created = repo.ok("new", "Release", "--task", "Announce")
    assert (repo.path / created["path"]).read_text() == f"# Release\n\n{phases}- [ ] Announce\n"
    repo.write("docs/form.md", "Only text.\n")
    assert repo.run("new", "Another", "--purpose", "Why", "--json").json["error"]["code"] == "no-place-for-purpose"
    bare = repo.ok("new", "Scanner", "--task", "Scan lines")
    assert [task["text"] for task in repo.ok("show", bare["id"])["tasks"]] == ["Scan lines"]


def test_a_copied_plan_has_the_given_tasks_and_purpose_instead_of_its_own(repo: Folder) -> None:
    template = "# Template\n\n## Purpose / Big Picture\n\nSay why.\n\n## Progress\n\n- [ ] First step.\n  - Part.\n\n## Notes\n"
    repo.write(".agent/plans/TEMPLATE.md", template)
    repo.write(".agent/execplan.toml", 'template = ".agent/plans/TEMPLATE.md"\n')
    result = repo.run("new", "Write lines", "--task", "Read", "--task", "Write", "--purpose", "Lines are kept.")
    assert "next: replace what the template says, then: execplan next" in result.out
    [path] = (repo.path / ".agent/execplans").glob("*write-lines.md")
    assert path.read_text() == (
        template.replace("Template", "Write lines")
        .replace("Say why.", "Lines are kept.")
        .replace("- [ ] First step.\n  - Part.", "- [ ] Read\n- [ ] Write")
    )


@pytest.mark.parametrize("template", ["superpowers", "backlog", "kiro", "openspec", "plain"])
def test_placeholder_text_of_other_forms_is_found(repo: Folder, template: str) -> None:
    created = repo.run("new", "Write lines", "--template", template, "--task", "Write")
    assert "next: fill in " in created.out
    repo.ok("done", "1")
    assert "EP109 " in repo.run("lint").out
    assert repo.run("archive").exit == 1
