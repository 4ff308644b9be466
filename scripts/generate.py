"""Write all generated files, or with `--check` report those that would change."""

from __future__ import annotations

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
import command_tables
import phrase_patterns
from command_tables import python_literal

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.cli.commands import COMMAND_GROUPS
from execplan.cli.commands.schema import KINDS, schema_bytes
from execplan.errors import EXIT_MEANINGS
from execplan.execution.attributes import LEVELS
from execplan.execution.risk import risk_table
from execplan.linter.runner import RULES
from execplan.project import builtin_templates, help_topics, settings_file
from execplan.project.plan_directories import plan_files_regex
from execplan.project.project_settings import Settings
from execplan.project.setting_table import TABLES, load_settings_of
from execplan.project.settings_file import toml_literal
from execplan.secrets import secret_files
from tests.secrets import rates
from tests.transcripts.runner import rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

    from execplan.linter.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER_LINES = "execplan/plan/placeholder_lines.py"
DEVICE_PATHS = "execplan/agents/guard/device_paths.py"
CUES = "execplan/execution/inference/cue_table.py"
PHRASES = "execplan/linter/phrase_table.py"
SECRETS = "execplan/secrets/secret_table.py"
README = "README.md"
SECRETS_PAGE = "docs/secrets.md"
ENHANCER_PAGE = "docs/enhancer.md"
HOOKS = ".pre-commit-hooks.yaml"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")
_COMMON = {"folder", "quiet", "verbose", "as_json", "actor"}


def placeholder_lines() -> str:
    """Return the module with the placeholder lines of the templates, which authors are expected to replace."""
    lines = set()
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    entries = "\n".join(f'        "{line}",' for line in sorted(lines))
    head = '"""Guidance lines of our templates, white space folded; written by scripts/generate.py from templates/."""'
    return f"{head}\n\nLINES = frozenset(\n    (\n{entries}\n    )\n)\n"


def device_paths() -> str:
    """Return the module with parts of the paths of all devices that the risk table forbids to read."""
    rows = [row for row in command_tables.RISK_ROWS if row.reading and risk_table.SECRETS not in row.path]
    pieces = {max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path}
    entries = "\n".join(f'    "{piece}",' for piece in sorted(pieces))
    head = '"""Pieces of the paths of devices that nobody is to read; written by scripts/generate.py from the table of risks."""'
    return f"{head}\n\nPIECES = (\n{entries}\n)\n"


def secret_table() -> str:
    """Return the rules for secret detection as a module, so that using them requires no TOML parser."""
    rules = tomllib.loads((ROOT / "execplan/secrets/secret_rules.toml").read_text(encoding="utf-8"))
    tokens = [
        (
            rule["service"],
            tuple(rule["begins"]),
            rule["chars"],
            rule["least"],
            rule.get("most", 0),
            rule.get("test", False),
            rule.get("vague", False),
        )
        for rule in rules["token"]
    ]
    shapes = [(rule["service"], tuple(map(str.lower, rule["needle"])), rule["pattern"]) for rule in rules["shape"]]
    lines = [
        '"""What secrets look like; written by scripts/generate.py from secret_rules.toml, which says where the facts come from."""',
        "",
        "# service, beginnings, characters, least, most, test, vague",
        "TOKENS: tuple[tuple[str, tuple[str, ...], str, int, int, bool, bool], ...] = (",
        *[f"    {python_literal(token)}," for token in tokens],
        ")",
        "# service, needles, pattern",
        "SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (",
        *[f"    {python_literal(shape)}," for shape in shapes],
        ")",
    ]
    for group in ("names", "values"):
        for name, entries in rules[group].items():
            lines += [
                f"{name.upper()}: tuple[str, ...] = (",
                *[f"    {python_literal(entry)}," for entry in entries],
                ")",
            ]
    return _formatted("\n".join(lines) + "\n")


def cue_table() -> str:
    """Return the cues for the inference of steps as a module, so that using them requires no TOML parser."""
    content = tomllib.loads((ROOT / "execplan/execution/inference/cues.toml").read_text(encoding="utf-8"))
    compiler = phrase_patterns.PhraseCompiler(content)
    case_sensitive = tuple(cue for cue, table in content["cues"].items() if table.get("case"))
    lines = [
        '"""Cues as regular expressions, and lists of words; written by scripts/generate.py from cues.toml, which explains them."""',
        "",
        f"CASE_SENSITIVE = frozenset({python_literal(case_sensitive)})",
        "EXPRESSIONS = {",
        *[f"    {python_literal(cue)}: {_raw_literal(compiler.expression(cue))}," for cue in content["cues"]],
        "}",
        "WORDS = {",
        *[
            f"    {python_literal(name)}: frozenset({_words_literal(table)}),"
            for name, table in content["words"].items()
        ],
        "}",
    ]
    return _formatted("\n".join(lines) + "\n")


def phrase_table() -> str:
    """Return the phrases that lint rules look for as a module, because the rules must start fast."""
    tables = tomllib.loads((ROOT / "execplan/linter/phrases.toml").read_text(encoding="utf-8"))
    lines = [
        '"""Phrases that lint rules look for in a text; written by scripts/generate.py from phrases.toml, which explains them."""',
        "",
    ]
    for name, table in tables.items():
        phrases = [phrase for key, phrases in table.items() if key != "about" for phrase in phrases]
        lines.append(f"{name.upper()}_PHRASES = {python_literal(tuple(phrases))}")
    return _formatted("\n".join(lines) + "\n")


def _words_literal(table: dict[str, str]) -> str:
    """Format the words of all languages as Python source, one long string."""
    words = [word for key, words in table.items() if key not in phrase_patterns.SETTINGS for word in words.split()]
    return f"{python_literal(' '.join(words))}.split()"


def _raw_literal(expression: str) -> str:
    """Format a regular expression as a raw string."""
    return f'r"""{expression}"""' if '"' in expression else f'r"{expression}"'


def _formatted(source: str) -> str:
    """Format Python source with ruff."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", SECRETS, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def readme() -> str:
    """Return README.md with its generated parts and the output of its commands up to date."""
    text = (ROOT / README).read_text(encoding="utf-8")
    tables = {"verbs": command_table, "exits": exit_table, "settings": settings_table}
    for name, make in tables.items():
        begin, end = f"<!-- {name}: written by scripts/generate.py -->\n", f"<!-- /{name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}{make()}{end}{rest.partition(end)[2]}"
    return rewrite(text)


def enhancer_page() -> str:
    """Return docs/enhancer.md with its settings and the fields that can be shared."""
    text = (ROOT / ENHANCER_PAGE).read_text(encoding="utf-8")
    fields = [f"| `{name}` | {description} |" for name, description in FIELDS.items()]
    for name, rows in {"settings": _setting_rows("enhancer"), "fields": fields}.items():
        begin, end = f"<!-- {name}: written by scripts/generate.py -->\n", f"<!-- /{name} -->"
        head, _, rest = text.partition(begin)
        lines = "".join([f"{row}\n" for row in rows])
        text = f"{head}{begin}{lines}{end}{rest.partition(end)[2]}"
    return rewrite(text)


def secrets_page() -> str:
    """Return docs/secrets.md with the rates on the labeled sets."""
    text = (ROOT / SECRETS_PAGE).read_text(encoding="utf-8")
    begin, end = "<!-- rates: written by scripts/generate.py -->\n", "<!-- /rates -->"
    head, _, rest = text.partition(begin)
    return f"{head}{begin}{rates.markdown_table()}{end}{rest.partition(end)[2]}"


def command_table() -> str:
    """Return a table of all commands with their descriptions and own flags."""
    lines = ["| | verb | what it does | flags |", "|---|---|---|---|"]
    for group, members in COMMAND_GROUPS.items():
        for at, (name, description) in enumerate(members.items()):
            command: click.Command = import_module(f"execplan.cli.commands.{name}").command
            arguments = [
                parameter.make_metavar(_context(command))
                for parameter in command.params
                if parameter.param_type_name == "argument"
            ]
            flags = [
                f"`{'/'.join([*parameter.opts[-1:], *parameter.secondary_opts])}`"
                for parameter in command.params
                if parameter.param_type_name == "option" and parameter.name not in _COMMON
            ]
            usage = " ".join([f"`execplan {name}", *arguments]) + "`"
            lines.append(
                f"| {'' if at else group} | {usage.replace('|', chr(92) + '|')} | {description} | {' '.join(flags)} |"
            )
    return "\n".join(lines) + "\n"


def _context(command: click.Command) -> click.Context:
    import click

    return click.Context(command)


def exit_table() -> str:
    """Return a table of the exit codes."""
    lines = ["| exit | meaning |", "|---|---|"]
    return "\n".join([*lines, *[f"| {code} | {meaning} |" for code, meaning in EXIT_MEANINGS.items()]]) + "\n"


def settings_table() -> str:
    """Return a table of all settings with their defaults."""
    lines = ["| setting | default | what it is for |", "|---|---|---|"]
    for name, value in Settings()._asdict().items():
        lines.append(f"| `{name}` | `{toml_literal(value)}` | {load_settings_of('')[name].about} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return the page with the settings of all tables."""
    lines = [
        "# The settings",
        "",
        "Written by `scripts/generate.py` from `execplan/project/setting_table.py`. A repository's settings are in `.agent/execplan.toml`,",
        "or under `[tool.execplan]` in pyproject.toml; your own in `~/.config/execplan/config.toml`. A repository names no code to run,",
        "and may only tighten the policy of execution: what is marked *yours* is refused there.",
    ]
    for name, table in TABLES.items():
        lines += [
            "",
            f"## `[{name}]`" if name else "## Outside of tables",
            "",
            table.allowed_in,
            "",
            *_setting_rows(name),
        ]
    return "\n".join(lines) + "\n"


def _setting_rows(table: str) -> list[str]:
    """Return the rows of the settings of a table."""
    defaults = {} if table else Settings()._asdict()
    lines = ["| setting | takes | default | what it is for |", "|---|---|---|---|"]
    for name, setting in load_settings_of(table).items():
        default = defaults.get(name, setting.default)
        default_text = "" if default is None else f"`{toml_literal(default)}`"
        mark = " *yours*" if setting.user_only and table != "enhancer" else ""
        lines.append(f"| `{name}`{mark} | {setting.shape.takes} | {default_text} | {setting.about} |")
    return lines


def errors_page() -> str:
    """Return the page with all error codes."""
    rows = sorted(help_topics.error_help_by_code().values(), key=lambda topic: (topic.exit, topic.code))
    return "\n".join(
        [
            "# What refusals mean",
            "",
            "Written by `scripts/generate.py` from `templates/explain/errors.md`. The code of a refusal stands in `error.code`",
            "with `--json`, and in the last line with `-v`; `execplan explain CODE` says why it is refused, and what to do.",
            "",
            "| exit | code | what it says |",
            "|---|---|---|",
            *[f"| {topic.exit} | `{topic.code}` | {topic.sentence} |" for topic in rows],
            "",
        ]
    )


def risk_page() -> str:
    """Return the page with all rows of the risk table."""
    lines = [
        "# How steps are rated",
        "",
        f"Written by `scripts/generate.py` from `{command_tables.SOURCE}`, which also says how its rows are read.",
        "`execplan explain risk` tells how a step is rated, and how to raise or lower it.",
    ]
    for title, subject in (
        ("Commands", "program"),
        ("What runs other commands", "via"),
        ("Variables", "variable"),
        ("Files", "path"),
    ):
        lines += ["", f"## {title}", "", "| level | what | why |", "|---|---|---|"]
        for row in sorted(command_tables.RISK_ROWS, key=lambda risk_row: LEVELS.index(risk_row.level)):
            about = row._asdict()[subject]
            about = secret_files.DOCUMENTED_PATTERNS if about == (risk_table.SECRETS,) else about
            if about:
                flags = [
                    f"{label} {' or '.join(listed)}"
                    for label, listed in (("with", row.flags), ("without", row.without))
                    if listed
                ]
                conditions = " ".join([*row.words, *flags])
                fragments = [f"`{text}`" for text in (", ".join(about), conditions) if text]
                exceptions = [f"but for `{', '.join(row.unless)}`"] if row.unless else []
                cells = (row.level, " ".join([*fragments, *exceptions]).replace("|", "\\|"), row.reason)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def rules_page() -> str:
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
    for rule in ordered:
        on = "on" if rule.on else "off"
        link = f"[{rule.code}](#{rule.code.lower()})"
        lines.append(f"| {link} | {_level(rule)} | {on} | {rule.needs} | {rule.fix} | {rule.summary} |")
    for rule in ordered:
        start = rule.help_text.index("\nBefore:" if "\nBefore:" in rule.help_text else "\nBad")
        lines += [
            "",
            f"## {rule.code}",
            "",
            rule.help_text[:start].strip(),
            "",
            *_examples(rule.help_text[start:].strip()),
        ]
    return "\n".join(lines) + "\n"


def _level(rule: Rule) -> str:
    """Return the level of a rule, and the level for plans with open tasks if it differs."""
    return f"{rule.level}, {rule.unfinished} while tasks are open" if rule.unfinished else rule.level


def attributes_page() -> str:
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
        f"Of a fence with several commands, {', '.join([f'`{attribute}`' for attribute in LAST_STEP_ATTRIBUTES])} belong to the last one, `needs` to the",
        "first, and all others to each.",
        "",
        "| attribute | field | takes | for | what it says |",
        "|---|---|---|---|---|",
    ]
    for attribute in ATTRIBUTES:
        name = "#id" if attribute.name == "id" else attribute.name
        takes = " · ".join([f"`{choice}`" for choice in attribute.choices]) or attribute.kind
        takes += " {} to {:,}".format(*ATTRIBUTE_RANGES[attribute.name]) if attribute.name in ATTRIBUTE_RANGES else ""
        types = ", ".join([f"`{kind}`" for kind in ATTRIBUTE_TYPES.get(attribute.name, ())]) or "all"
        field = "" if attribute.field == attribute.name else f"`{attribute.field}`"
        lines.append(f"| `{name}` | {field} | {takes} | {types} | {attribute.about} |")
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
    for attribute in PLAN_ATTRIBUTES:
        takes = " · ".join([f"`{choice}`" for choice in attribute.choices]) or attribute.kind
        takes += " {} to {:,}".format(*ATTRIBUTE_RANGES[attribute.name]) if attribute.name in ATTRIBUTE_RANGES else ""
        field = attribute.field.replace("steps.", "steps[].")
        lines.append(f"| `{attribute.name}` | `{field}` | {takes} | {attribute.about} |")
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


def replayed_page(name: str) -> str:
    """Return a handwritten page with the output of its commands up to date."""
    return rewrite((ROOT / name).read_text(encoding="utf-8"))


def hooks_file() -> str:
    """Return the hooks for pre-commit, with the paths of plans in the conventional directories."""
    text = (ROOT / HOOKS).read_text(encoding="utf-8")
    head, begin, rest = text.partition("  files: &plans |\n")
    tail = rest[rest.index("\n- id: ") + 1 :]
    return head + begin + "".join([f"    {line}\n" for line in plan_files_regex().split("\n")]) + tail


GENERATED: dict[str, Callable[[], str]] = {
    api_reference.PAGE: api_reference.render,
    HOOKS: hooks_file,
    PLACEHOLDER_LINES: placeholder_lines,
    DEVICE_PATHS: device_paths,
    CUES: cue_table,
    PHRASES: phrase_table,
    SECRETS: secret_table,
    command_tables.COMMANDS: command_tables.command_table,
    command_tables.RISKS: command_tables.risk_rows,
    SECRETS_PAGE: secrets_page,
    ENHANCER_PAGE: enhancer_page,
    README: readme,
    "docs/attributes.md": attributes_page,
    "docs/errors.md": errors_page,
    "docs/risk.md": risk_page,
    "docs/settings.md": settings_page,
    "docs/rules.md": rules_page,
    ".agent/PLANS.md": lambda: builtin_templates.read_text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.render_settings(Settings()).decode(),
}
for _kind in KINDS:
    GENERATED[f"docs/schemas/{_kind}.json"] = partial(lambda name: schema_bytes(name).decode(), _kind)
for _path in sorted((ROOT / "docs").glob("*.md")):
    _name = f"docs/{_path.name}"
    if _name not in GENERATED and "```console" in _path.read_text(encoding="utf-8"):
        GENERATED[_name] = partial(replayed_page, _name)


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
