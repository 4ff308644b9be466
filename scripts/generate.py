"""Write all generated files, or with `--check` report those that would change."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

import api_reference

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.cli.commands import COMMAND_GROUPS
from execplan.cli.commands.schema import KINDS, schema_bytes
from execplan.errors import EXIT_MEANINGS
from execplan.execution.attributes import LEVELS
from execplan.execution.risk import risk_table
from execplan.linter.runner import RULES
from execplan.project import builtin_templates, help_topics, settings_file
from execplan.project.plan_directories import plan_files_regex
from execplan.project.project_settings import DESCRIPTIONS, Settings, toml_literal
from execplan.secrets import secret_files
from tests.console.runner import rewrite
from tests.secrets import rates

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

    from execplan.linter.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
GUIDANCE = "execplan/plan/placeholder_lines.py"
SUSPECTS = "execplan/agents/guard/device_paths.py"
SECRETS = "execplan/secrets/secret_table.py"
README = "README.md"
SECRETS_PAGE = "docs/secrets.md"
ENHANCER_PAGE = "docs/enhancer.md"
HOOKS = ".pre-commit-hooks.yaml"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")
_COMMON = {"folder", "quiet", "verbose", "as_json", "actor"}


def guidance() -> str:
    """Return the module with the placeholder lines of the templates, which authors are expected to replace."""
    lines = set()
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    shown = "\n".join(f'        "{line}",' for line in sorted(lines))
    head = '"""Guidance lines of our templates, white space folded; written by scripts/generate.py from templates/."""'
    return f"{head}\n\nLINES = frozenset(\n    (\n{shown}\n    )\n)\n"


def suspects() -> str:
    """Return the module with parts of the paths of all devices that the risk table forbids to read."""
    rows = [row for row in risk_table.builtin_table().rows if row.reading and risk_table.SECRETS not in row.path]
    found = {max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path}
    shown = "\n".join(f'    "{piece}",' for piece in sorted(found))
    head = '"""Pieces of the paths of devices that nobody is to read; written by scripts/generate.py from the table of risks."""'
    return f"{head}\n\nPIECES = (\n{shown}\n)\n"


def secret_table() -> str:
    """Return the rules for secret detection as a module, so that using them requires no TOML parser."""
    rules = tomllib.loads((ROOT / "execplan/secrets/secret_rules.toml").read_text(encoding="utf-8"))
    tokens = [
        (
            each["service"],
            tuple(each["begins"]),
            each["chars"],
            each["least"],
            each.get("most", 0),
            each.get("test", False),
            each.get("vague", False),
        )
        for each in rules["token"]
    ]
    shapes = [(each["service"], tuple(map(str.lower, each["needle"])), each["pattern"]) for each in rules["shape"]]
    parts = [
        '"""What secrets look like; written by scripts/generate.py from secret_rules.toml, which says where the facts come from."""',
        "",
        "# service, beginnings, characters, least, most, test, vague",
        "TOKENS: tuple[tuple[str, tuple[str, ...], str, int, int, bool, bool], ...] = (",
        *[f"    {_plain(each)}," for each in tokens],
        ")",
        "# service, needles, pattern",
        "SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (",
        *[f"    {_plain(each)}," for each in shapes],
        ")",
    ]
    for part in ("names", "values"):
        for name, words in rules[part].items():
            parts += [f"{name.upper()}: tuple[str, ...] = (", *[f"    {_plain(each)}," for each in words], ")"]
    return _formatted("\n".join(parts) + "\n")


def _plain(value: object) -> str:
    """Format a value as Python source with double quotes."""
    if isinstance(value, tuple):
        return f"({', '.join([_plain(each) for each in value])}{',' if len(value) == 1 else ''})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _formatted(source: str) -> str:
    """Format Python source with ruff."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", SECRETS, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def readme() -> str:
    """Return README.md with its generated parts and the output of its commands up to date."""
    text = (ROOT / README).read_text(encoding="utf-8")
    parts = {"verbs": verbs, "exits": exits, "settings": settings}
    for name, make in parts.items():
        begin, end = f"<!-- {name}: written by scripts/generate.py -->\n", f"<!-- /{name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}{make()}{end}{rest.partition(end)[2]}"
    return rewrite(text)


def enhancer_page() -> str:
    """Return docs/enhancer.md with the fields that can be shared."""
    text = (ROOT / ENHANCER_PAGE).read_text(encoding="utf-8")
    begin, end = "<!-- fields: written by scripts/generate.py -->\n", "<!-- /fields -->"
    head, _, rest = text.partition(begin)
    fields = "".join([f"| `{name}` | {what} |\n" for name, what in FIELDS.items()])
    return rewrite(f"{head}{begin}{fields}{end}{rest.partition(end)[2]}")


def secrets_page() -> str:
    """Return docs/secrets.md with the rates on the labeled sets."""
    text = (ROOT / SECRETS_PAGE).read_text(encoding="utf-8")
    begin, end = "<!-- rates: written by scripts/generate.py -->\n", "<!-- /rates -->"
    head, _, rest = text.partition(begin)
    return f"{head}{begin}{rates.table()}{end}{rest.partition(end)[2]}"


def verbs() -> str:
    """Return a table of all commands with their descriptions and own flags."""
    lines = ["| | verb | what it does | flags |", "|---|---|---|---|"]
    for group, members in COMMAND_GROUPS.items():
        for at, (name, what) in enumerate(members.items()):
            command: click.Command = import_module(f"execplan.cli.commands.{name}").command
            arguments = [
                each.make_metavar(_context(command)) for each in command.params if each.param_type_name == "argument"
            ]
            flags = [
                f"`{'/'.join([*each.opts[-1:], *each.secondary_opts])}`"
                for each in command.params
                if each.param_type_name == "option" and each.name not in _COMMON
            ]
            shown = " ".join([f"`execplan {name}", *arguments]) + "`"
            lines.append(
                f"| {'' if at else group} | {shown.replace('|', chr(92) + '|')} | {what} | {' '.join(flags)} |"
            )
    return "\n".join(lines) + "\n"


def _context(command: click.Command) -> click.Context:
    import click

    return click.Context(command)


def exits() -> str:
    """Return a table of the exit codes."""
    lines = ["| exit | meaning |", "|---|---|"]
    return "\n".join([*lines, *[f"| {code} | {meaning} |" for code, meaning in EXIT_MEANINGS.items()]]) + "\n"


def settings() -> str:
    """Return a table of all settings with their defaults."""
    lines = ["| setting | default | what it is for |", "|---|---|---|"]
    for name, value in Settings()._asdict().items():
        lines.append(f"| `{name}` | `{toml_literal(value)}` | {DESCRIPTIONS[name]} |")
    return "\n".join(lines) + "\n"


def errors() -> str:
    """Return the page with all error codes."""
    rows = sorted(help_topics.error_help_by_code().values(), key=lambda each: (each.exit, each.code))
    return "\n".join(
        [
            "# What refusals mean",
            "",
            "Written by `scripts/generate.py` from `templates/explain/errors.md`. The code of a refusal stands in `error.code`",
            "with `--json`, and in the last line with `-v`; `execplan explain CODE` says why it is refused, and what to do.",
            "",
            "| exit | code | what it says |",
            "|---|---|---|",
            *[f"| {each.exit} | `{each.code}` | {each.sentence} |" for each in rows],
            "",
        ]
    )


def risk() -> str:
    """Return the page with all rows of the risk table."""
    rows = risk_table.builtin_table().rows
    lines = [
        "# How steps are rated",
        "",
        "Written by `scripts/generate.py` from `execplan/execution/risk/risk.toml`, which also says how its rows are read.",
        "`execplan explain risk` tells how a step is rated, and how to raise or lower it.",
    ]
    for title, subject in (
        ("Commands", "program"),
        ("What runs other commands", "via"),
        ("Variables", "variable"),
        ("Files", "path"),
    ):
        lines += ["", f"## {title}", "", "| level | what | why |", "|---|---|---|"]
        for row in sorted(rows, key=lambda each: LEVELS.index(each.level)):
            about = row._asdict()[subject]
            about = secret_files.DOCUMENTED_PATTERNS if about == (risk_table.SECRETS,) else about
            if about:
                flags = [
                    f"{word} {' or '.join(listed)}"
                    for word, listed in (("with", row.flags), ("without", row.without))
                    if listed
                ]
                more = " ".join([*row.words, *flags])
                shown = [f"`{each}`" for each in (", ".join(about), more) if each]
                but = [f"but for `{', '.join(row.unless)}`"] if row.unless else []
                cells = (row.level, " ".join([*shown, *but]).replace("|", "\\|"), row.reason)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def rules() -> str:
    """Return the page with all lint rules."""
    lines = [
        "# The rules of lint",
        "",
        "Written by `scripts/generate.py` from the functions in `execplan/linter/rules`; `execplan explain CODE` prints the same page.",
        "A rule that needs the clock, the tree (the repository's files) or the history (git) runs only where there is one;",
        "those of history with `--staged`, `--since`, in the profiles ci and strict, or when they are selected. A rule that needs",
        "the commit compares a plan that differs from HEAD with what was committed. One of the home",
        "runs when a whole home is checked, or a commit. What is off by default runs when it is selected, and in the profile",
        "strict. How often each finds something in real plans, and how often it is right, stands in [corpus.md](corpus.md).",
        "",
        "| code | level | default | needs | fix | what it finds |",
        "|---|---|---|---|---|---|",
    ]
    ordered = sorted(RULES.values())
    for each in ordered:
        on = "on" if each.on else "off"
        link = f"[{each.code}](#{each.code.lower()})"
        lines.append(f"| {link} | {_level(each)} | {on} | {each.needs} | {each.fix} | {each.summary} |")
    for each in ordered:
        start = each.help_text.index("\nBefore:" if "\nBefore:" in each.help_text else "\nBad")
        lines += [
            "",
            f"## {each.code}",
            "",
            each.help_text[:start].strip(),
            "",
            *_examples(each.help_text[start:].strip()),
        ]
    return "\n".join(lines) + "\n"


def _level(rule: Rule) -> str:
    """Return the level of a rule, and the level for plans with open tasks if it differs."""
    return f"{rule.level}, {rule.unfinished} while tasks are open" if rule.unfinished else rule.level


def attributes() -> str:
    """Return the page with all attributes of a step's code block."""
    from execplan.execution.annotations.annotated_steps import LAST_STEP_ATTRIBUTES
    from execplan.execution.annotations.attribute_values import ATTRIBUTE_RANGES
    from execplan.execution.annotations.step_problems import ATTRIBUTE_TYPES
    from execplan.execution.attributes import ATTRIBUTES, PLAN_ATTRIBUTES

    lines = [
        "# The attributes of a step",
        "",
        "Written by `scripts/generate.py` from `execplan/execution/attributes.py`. Each fills one field of the step in the execution",
        "plan, of the same name where none is given here; `execplan explain steps` says how steps are written, and",
        "`execplan schema execution-plan` what the document is. An attribute with spaces in its value stands in quotes, in which",
        "a backslash keeps a quote from being one. A bare word is `true`. Lists have commas between their parts; ids and paths",
        "may have white space instead, and quotes around what holds some.",
        "",
        f"Of a fence with several commands, {', '.join([f'`{each}`' for each in LAST_STEP_ATTRIBUTES])} belong to the last one, `needs` to the",
        "first, and all others to each.",
        "",
        "| attribute | field | takes | for | what it says |",
        "|---|---|---|---|---|",
    ]
    for each in ATTRIBUTES:
        name = "#id" if each.name == "id" else each.name
        takes = " · ".join([f"`{choice}`" for choice in each.choices]) or each.kind
        takes += " {} to {:,}".format(*ATTRIBUTE_RANGES[each.name]) if each.name in ATTRIBUTE_RANGES else ""
        types = ", ".join([f"`{kind}`" for kind in ATTRIBUTE_TYPES.get(each.name, ())]) or "all"
        field = "" if each.field == each.name else f"`{each.field}`"
        lines.append(f"| `{name}` | {field} | {takes} | {types} | {each.about} |")
    lines += [
        "",
        "## The attributes of a whole plan",
        "",
        "A fence marked `{execution}` in Concrete Steps or Validation and Acceptance sets how the whole plan runs. What it holds is",
        "for readers. A plan has at most one.",
        "",
        "````md",
        '```text {execution mode=agent max-duration=2h forbidden-paths="infra/**" forbidden-commands="git push"}',
        "An agent does the work; the infrastructure is out of bounds.",
        "```",
        "````",
        "",
        "| attribute | field | takes | what it says |",
        "|---|---|---|---|",
    ]
    for each in PLAN_ATTRIBUTES:
        takes = " · ".join([f"`{choice}`" for choice in each.choices]) or each.kind
        takes += " {} to {:,}".format(*ATTRIBUTE_RANGES[each.name]) if each.name in ATTRIBUTE_RANGES else ""
        field = each.field.replace("steps.", "steps[].")
        lines.append(f"| `{each.name}` | `{field}` | {takes} | {each.about} |")
    return "\n".join(lines) + "\n"


def _examples(page: str) -> list[str]:
    """Return the examples of a rule's page, each in a code block under its heading."""
    lines: list[str] = []
    fenced: list[str] = []
    for line in [*page.split("\n"), ":"]:
        if not line.endswith(":") or line.startswith(" "):
            fenced.append(line.removeprefix("    "))
            continue
        if lines:
            lines += ["````md", *fenced, "````", ""]
        lines += [line, ""] if line != ":" else []
        fenced = []
    return lines[:-1]


def replayed(name: str) -> str:
    """Return a handwritten page with the output of its commands up to date."""
    return rewrite((ROOT / name).read_text(encoding="utf-8"))


def hooks() -> str:
    """Return the hooks for pre-commit, with the paths of plans in the conventional directories."""
    text = (ROOT / HOOKS).read_text(encoding="utf-8")
    before, begin, rest = text.partition("  files: &plans |\n")
    after = rest[rest.index("\n- id: ") + 1 :]
    return before + begin + "".join([f"    {line}\n" for line in plan_files_regex().split("\n")]) + after


GENERATED: dict[str, Callable[[], str]] = {
    api_reference.PAGE: api_reference.render,
    HOOKS: hooks,
    GUIDANCE: guidance,
    SUSPECTS: suspects,
    SECRETS: secret_table,
    SECRETS_PAGE: secrets_page,
    ENHANCER_PAGE: enhancer_page,
    README: readme,
    "docs/attributes.md": attributes,
    "docs/errors.md": errors,
    "docs/risk.md": risk,
    "docs/rules.md": rules,
    ".agent/PLANS.md": lambda: builtin_templates.read_text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.render_settings(Settings()).decode(),
}
for _kind in KINDS:
    GENERATED[f"docs/schemas/{_kind}.json"] = partial(lambda name: schema_bytes(name).decode(), _kind)
for _path in sorted((ROOT / "docs").glob("*.md")):
    _name = f"docs/{_path.name}"
    if _name not in GENERATED and "```console" in _path.read_text(encoding="utf-8"):
        GENERATED[_name] = partial(replayed, _name)


def main() -> int:
    """Write the files; return 1 if `--check` finds a difference."""
    stale = []
    for name, make in GENERATED.items():
        path = ROOT / name
        text = make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale: run make generate' if '--check' in sys.argv else 'wrote'}: {name}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
