"""Write all generated files, or with `--check` report those that would change."""

from __future__ import annotations

import inspect
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
import click
import command_tables
import phrase_patterns
import picture
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

    from execplan.cli.command_definition import ExecplanCommand
    from execplan.linter.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER_LINES = "execplan/plan/placeholder_lines.py"
EARLIER_PLACEHOLDER_LINES = "scripts/earlier_placeholder_lines.txt"
"""Placeholder lines of the templates of earlier versions, with white space collapsed: plans still contain them."""
DEVICE_PATHS = "execplan/agents/guard/device_paths.py"
CUES = "execplan/execution/inference/cue_table.py"
PHRASES = "execplan/linter/phrase_table.py"
SECRETS = "execplan/secrets/secret_table.py"
REFERENCE = "docs/reference"
HOOKS = ".pre-commit-hooks.yaml"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")
_GLOBAL_FLAGS = {"folder", "quiet", "verbose", "as_json"}
_WRITER_FLAGS = {"actor", "commit", "dry_run", "if_match", "lock_timeout"}
"""Parameters of commands that write; the page of commands explains them once."""


def placeholder_lines() -> str:
    """Return the module with the placeholder lines of the templates, also of earlier ones, for authors to replace."""
    lines = set((ROOT / EARLIER_PLACEHOLDER_LINES).read_text(encoding="utf-8").splitlines())
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    entries = "\n".join(f'        "{line}",' for line in sorted(lines))
    head = '"""Placeholder lines of our templates, with white space collapsed; written by scripts/generate.py from templates/."""'
    return f"{head}\n\nLINES = frozenset(\n    (\n{entries}\n    )\n)\n"


def device_paths() -> str:
    """Return the module with parts of the paths of all devices that the risk table forbids reading."""
    rows = [row for row in command_tables.RISK_ROWS if row.reading and risk_table.SECRETS not in row.path]
    pieces = {max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path}
    entries = "\n".join(f'    "{piece}",' for piece in sorted(pieces))
    head = (
        '"""Parts of the paths of devices that must not be read; written by scripts/generate.py from the risk table."""'
    )
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
        '"""Formats of secrets; written by scripts/generate.py from secret_rules.toml, which names the sources of the facts."""',
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


def enhancer_fields() -> str:
    """Return the rows of the fields that an enhancer can be given."""
    return "".join([f"| `{name}` | {description} |\n" for name, description in FIELDS.items()])


def page_with_parts(name: str, parts: dict[str, Callable[[], str]]) -> str:
    """Return a handwritten page with its generated parts, which are between comments, up to date."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for part, make in parts.items():
        begin, end = f"<!-- {part}: written by scripts/generate.py -->\n", f"<!-- /{part} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}{make()}{end}{rest.partition(end)[2]}"
    return rewrite(text)


def commands_page() -> str:
    """Return the page with all commands, their arguments and their flags."""
    lines = [
        "# Commands",
        "",
        "Generated by `scripts/generate.py` from the code. `execplan COMMAND --help` prints the same text.",
        "",
        "Name a plan by its ID, by a unique part of its ID or title, or by its path, as the argument `PLAN` or with `-p PLAN`. Without a",
        "name, execplan uses the plan in `EXECPLAN_PLAN`, then the only open plan",
        "([details](../explanation/format.md#naming-plans-and-tasks-on-the-command-line)). Name a task by its number, its short ID, or any",
        "text that only this task contains. Where a command takes text, `@FILE` reads it from a file and `-` from standard input; escape",
        "a leading `@` as `@@`.",
        "",
        "## Common flags",
        "",
        "Every command has the flags in the first part of the table. Commands that write name those of the second part that they have.",
        "",
        "| flag | effect |",
        "|---|---|",
        "| `--json` | Print one JSON document on standard output, also for an error. |",
        "| `-q`, `--quiet` | Suppress everything except results and errors. |",
        "| `-v`, `--verbose` | Show what is read, locked and run. |",
        "| `-C DIR` | Work as if started in `DIR`. |",
        "| `-h`, `--help` | Show the help. |",
        "| | |",
        "| `--as NAME` | Act as `NAME`. Default: `EXECPLAN_AGENT`, else your git name. `archive` takes it before the command. |",
        "| `--commit`, `--no-commit` | Commit the written files and nothing else. Default: the setting `commit`. |",
        "| `--dry-run` | Show the changes and paths without writing them. |",
        "| `--if-match DIGEST` | Write only if the plan's SHA-256 is `DIGEST`; otherwise exit 4. |",
        "| `--lock-timeout SECONDS` | How long to wait for other writers. Default: 10. |",
        "",
        *_TERMINAL_SECTION,
    ]
    for group, members in COMMAND_GROUPS.items():
        lines += ["", f"## {group}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`{name}`](#{name}) | {description} |" for name, description in members.items()]
        for name in members:
            lines += ["", *_command_section(name)]
    return "\n".join(lines) + "\n"


_TERMINAL_SECTION = """\
## Output on a terminal

On a terminal, text is wrapped at its width and has colors. `NO_COLOR` turns the colors off, and `TERM=dumb` also turns
wrapping off. Commands, scripts and diffs are never wrapped. Three commands show more to a person at a terminal, or less:

- `show` adds the plan's purpose, a progress bar, the last activity and the last run.
- `status` counts complete plans instead of listing them. `status --state complete` lists them.
- `lint` groups findings by file.

If the output of `audit`, `evaluate`, `explain`, `list`, `runs`, `show`, `stats` or `status` is longer than the screen,
it is shown in the pager: the program in `PAGER`, by default `less` with the options `FRX` unless `LESS` is set. To turn
the pager off, set `PAGER` to `cat` or to an empty value. An agent (`EXECPLAN_AGENT`) never gets a pager.

Piped output and `--json` have none of this. The filters of `status` apply everywhere.""".split("\n")
"""How output differs on a terminal."""


def _command_section(name: str) -> list[str]:
    """Return the section of a command: its help as markdown."""
    command: ExecplanCommand = import_module(f"execplan.cli.commands.{name}").command
    context = click.Context(command)
    arguments = [
        parameter.make_metavar(context) for parameter in command.params if parameter.param_type_name == "argument"
    ]
    usage = " ".join(["execplan", name, "[OPTIONS]", *arguments])
    lines = [f"### {name}", "", "```text", usage, "```"]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        layout = paragraph.startswith("\b\n")
        lines += ["", *(["```text", *paragraph.split("\n")[1:], "```"] if layout else paragraph.split("\n"))]
    rows = []
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    for parameter in options:
        if parameter.name not in _GLOBAL_FLAGS | _WRITER_FLAGS:
            record = parameter.get_help_record(context)
            flag, description = record or ("", "")
            rows.append(f"| `{_cell(flag)}` | {_cell(' '.join(description.split()))} |")
    if rows:
        lines += ["", "| flag | effect |", "|---|---|", *rows]
    lines += ["", f"- Reads: {command.reads}", f"- Writes: {command.writes}"]
    shared = [f"`{parameter.opts[-1]}`" for parameter in options if parameter.name in _WRITER_FLAGS]
    lines += [f"- Common flags: {', '.join(shared)}"] if shared else []
    return [*lines, "", "```text", *command.examples, "```"]


def _cell(text: str) -> str:
    """Escape text for a cell of a table."""
    return text.replace("|", "\\|")


def exit_codes_page() -> str:
    """Return the page with all exit codes."""
    lines = [
        "# Exit codes",
        "",
        "Generated by `scripts/generate.py` from `execplan/errors.py`.",
        "",
        "| exit | meaning |",
        "|---|---|",
        *[f"| {code} | {meaning} |" for code, meaning in EXIT_MEANINGS.items()],
        "",
        "An error says what happened, where, and what to do. With `--json` the same is in `error`, and `error.code` is one of the codes in",
        "[Errors](errors.md). After an error nothing has been written, with one exception: if only the commit fails, the edit stays on disk,",
        "uncommitted. [Lint](lint-output.md#exit-codes) and [guard](guard.md#the-neutral-format) describe their own use of these codes.",
    ]
    return "\n".join(lines) + "\n"


def schemas_page() -> str:
    """Return the page with all kinds of documents that have a JSON Schema."""
    lines = [
        "# JSON Schemas",
        "",
        "Generated by `scripts/generate.py`. `execplan schema NAME` prints the same files. [Execution plan",
        "documents](../execution-plan-documents.md#what-no-json-schema-can-express) lists the rules that no JSON Schema can express.",
        "",
        "| schema | document |",
        "|---|---|",
        *[f"| [{name}]({name}.json) | {kind.description} |" for name, kind in KINDS.items()],
    ]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return the page with the settings of all tables."""
    lines = [
        "# Settings",
        "",
        "Generated by `scripts/generate.py` from `execplan/project/setting_table.py`.",
        "",
        "- A repository's settings are in `.agent/execplan.toml`, or under `[tool.execplan]` in `pyproject.toml`; not in both. `init`",
        "  creates the first file with every line commented out. Paths are relative to the directory of the settings.",
        "- Your own settings are in `~/.config/execplan/config.toml`.",
        "- A repository can't name code to run, and it can only tighten the execution policy. A setting marked *yours* is an error there.",
    ]
    for name, table in TABLES.items():
        lines += [
            "",
            f"## `[{name}]`" if name else "## Top level",
            "",
            table.allowed_in,
            "",
            *_setting_rows(name),
        ]
    return "\n".join(lines) + "\n"


def _setting_rows(table: str) -> list[str]:
    """Return the rows of the settings of a table."""
    defaults = {} if table else Settings()._asdict()
    lines = ["| setting | value | default | purpose |", "|---|---|---|---|"]
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
            "# Errors",
            "",
            "Generated by `scripts/generate.py` from `templates/explain/errors.md`. With `--json` the code of an error is in `error.code`,",
            "with `-v` it is on the last line. `execplan explain CODE` prints the cause and the remedy.",
            "",
            "| exit | code | meaning |",
            "|---|---|---|",
            *[f"| {topic.exit} | `{topic.code}` | {topic.sentence} |" for topic in rows],
            "",
        ]
    )


def risk_page() -> str:
    """Return the page with all rows of the risk table."""
    lines = [
        "# Risk ratings",
        "",
        f"Generated by `scripts/generate.py` from `{command_tables.SOURCE}`, which also explains how rows are matched.",
        "`execplan explain risk` explains how a step is rated, and how to raise or lower the rating.",
    ]
    for title, subject in (
        ("Commands", "program"),
        ("Commands that run other commands", "via"),
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
                exceptions = [f"except `{', '.join(row.unless)}`"] if row.unless else []
                cells = (row.level, " ".join([*fragments, *exceptions]).replace("|", "\\|"), row.reason)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def rules_page() -> str:
    """Return the page with all lint rules."""
    lines = [
        "# Lint rules",
        "",
        "Generated by `scripts/generate.py` from the functions in `execplan/linter/rules`; `execplan explain CODE` prints the same text.",
        "[Lint in hooks and CI](../how-to/lint-in-hooks-and-ci.md#choose-the-rules) explains how to select rules. The",
        "[precision](../research/corpus.md#what-lint-finds) of each rule was measured on 452 real plans.",
        "",
        "*Needs* says what a rule uses besides the plan's text. A rule runs only where that is available:",
        "",
        "| needs | what | when it runs |",
        "|---|---|---|",
        "| bytes | nothing else | always |",
        "| clock | the current time | with the command; not with the function that checks a text |",
        "| tree | the files of the repository | in a repository |",
        "| commit | the plan as it was committed | if the plan differs from HEAD |",
        "| history | git's history | with `--staged` or `--since`, in the profiles `ci` and `strict`, or if you select the rule |",
        "| home | all plans of a project | when a whole project, or a commit, is checked |",
        "",
        "A rule that is off by default runs if you select it, and in the profile `strict`.",
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
        "# Attributes of steps",
        "",
        "Generated by `scripts/generate.py` from `execplan/execution/attributes.py`. [Write steps](../how-to/write-steps.md) explains how",
        "steps are written.",
        "",
        "Each attribute sets one field of the step in the [execution plan](schemas/execution-plan.json); the field has the same name unless the",
        "table names another. Quote a value that contains spaces; a backslash escapes a quote in it. A bare word means `true`. Separate the",
        "items of a list with commas; IDs and paths may be separated by spaces, and an item that contains a space is quoted.",
        "",
        f"In a code block with several commands, {', '.join([f'`{attribute}`' for attribute in LAST_STEP_ATTRIBUTES])} apply to the last command, `needs` to the",
        "first, and all others to each command.",
        "",
        "| attribute | field | value | step types | meaning |",
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
        "## Attributes of a plan",
        "",
        "A code block marked `{execution}` in Concrete Steps or Validation and Acceptance sets how the whole plan runs. Its content is for",
        "readers. A plan has at most one.",
        "",
        "````md",
        '```text {execution mode=agent max-duration=2h forbidden-paths="infra/**" forbidden-commands="git push"}',
        "An agent does the work; the infrastructure is out of bounds.",
        "```",
        "````",
        "",
        "| attribute | field | value | meaning |",
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
    picture.PICTURE: picture.render,
    f"{REFERENCE}/attributes.md": attributes_page,
    f"{REFERENCE}/commands.md": commands_page,
    f"{REFERENCE}/errors.md": errors_page,
    f"{REFERENCE}/exit-codes.md": exit_codes_page,
    f"{REFERENCE}/risk.md": risk_page,
    f"{REFERENCE}/rules.md": rules_page,
    f"{REFERENCE}/schemas/README.md": schemas_page,
    f"{REFERENCE}/settings.md": settings_page,
    ".agent/PLANS.md": lambda: builtin_templates.read_text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.render_settings(Settings()).decode(),
}
for _kind in KINDS:
    GENERATED[f"{REFERENCE}/schemas/{_kind}.json"] = partial(lambda name: schema_bytes(name).decode(), _kind)
PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/how-to/use-an-enhancer.md": {"fields": enhancer_fields},
    "docs/research/secret-detection.md": {"rates": rates.markdown_table},
}
for _path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    _name = str(_path.relative_to(ROOT))
    if _name in PARTS or (_name not in GENERATED and "```console" in _path.read_text(encoding="utf-8")):
        GENERATED[_name] = partial(page_with_parts, _name, PARTS.get(_name, {}))


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
