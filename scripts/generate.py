"""Write every generated file, or with `--check` say which of them would change."""

from __future__ import annotations

import re
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.cli.verbs import GROUPS
from execplan.errors import MEANINGS
from execplan.execution.attributes import LEVELS
from execplan.execution.risk import table
from execplan.execution.schema import KINDS, schema_bytes
from execplan.lint.runner import RULES
from execplan.repo import pages, stock
from execplan.repo.adoption import settings_file
from execplan.repo.settings import ABOUT, Settings, literal
from tests.console.runner import rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

ROOT = Path(__file__).resolve().parent.parent
GUIDANCE = "execplan/plan/guidance_lines.py"
SUSPECTS = "execplan/agents/guard/suspects.py"
README = "README.md"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")
_COMMON = {"folder", "quiet", "verbose", "as_json"}


def guidance() -> str:
    """The lines of the templates that an author is meant to replace."""
    lines = set()
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    shown = "\n".join(f'        "{line}",' for line in sorted(lines))
    head = '"""Guidance lines of our templates, white space folded; written by scripts/generate.py from templates/."""'
    return f"{head}\n\nLINES = frozenset(\n    (\n{shown}\n    )\n)\n"


def suspects() -> str:
    """What is in the name of every file that the table of risks does not let anybody read."""
    rows = [row for row in table.builtin().rows if row.reading]
    found = {max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path}
    shown = "\n".join(f'    "{piece}",' for piece in sorted(found))
    head = '"""Pieces of the names of files that nobody is to read; written by scripts/generate.py from the table of risks."""'
    return f"{head}\n\nPIECES = (\n{shown}\n)\n"


def readme() -> str:
    """README.md with its generated parts made anew, and what its commands print."""
    text = (ROOT / README).read_text(encoding="utf-8")
    parts = {"verbs": verbs, "exits": exits, "settings": settings}
    for name, make in parts.items():
        begin, end = f"<!-- {name}: written by scripts/generate.py -->\n", f"<!-- /{name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}{make()}{end}{rest.partition(end)[2]}"
    return rewrite(text)


def verbs() -> str:
    """Every verb with what it does and its own flags."""
    lines = ["| | verb | what it does | flags |", "|---|---|---|---|"]
    for group, members in GROUPS.items():
        for at, (name, what) in enumerate(members.items()):
            command: click.Command = import_module(f"execplan.cli.verbs.{name}").command
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
    """The exit codes."""
    lines = ["| exit | meaning |", "|---|---|"]
    return "\n".join([*lines, *[f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]]) + "\n"


def settings() -> str:
    """Every setting with its default."""
    lines = ["| setting | default | what it is for |", "|---|---|---|"]
    for name, value in Settings()._asdict().items():
        lines.append(f"| `{name}` | `{literal(value)}` | {ABOUT[name]} |")
    return "\n".join(lines) + "\n"


def errors() -> str:
    """A page with every code of a refusal."""
    rows = sorted(pages.refusals().values(), key=lambda each: (each.exit, each.code))
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
    """A page with every row of the table of risks."""
    rows = table.builtin().rows
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
            if about:
                more = " ".join([*row.words, *(["with", " or ".join(row.flags)] if row.flags else [])])
                shown = [f"`{each}`" for each in (", ".join(about), more) if each]
                but = [f"but for `{', '.join(row.unless)}`"] if row.unless else []
                cells = (row.level, " ".join([*shown, *but]).replace("|", "\\|"), row.reason)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def rules() -> str:
    """A page with every rule of lint."""
    lines = [
        "# The rules of lint",
        "",
        "Written by `scripts/generate.py` from the functions in `execplan/lint`; `execplan explain CODE` prints the same page.",
        "A rule that needs the clock, the tree (the repository's files) or the history (git) runs only where there is one;",
        "those of history with `--staged`, `--since`, in the profiles ci and strict, or when they are selected. One of the home",
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
        lines.append(f"| {link} | {each.level} | {on} | {each.needs} | {each.fix} | {each.sentence} |")
    for each in ordered:
        start = each.page.index("\nBefore:" if "\nBefore:" in each.page else "\nBad")
        lines += ["", f"## {each.code}", "", each.page[:start].strip(), "", *_examples(each.page[start:].strip())]
    return "\n".join(lines) + "\n"


def attributes() -> str:
    """A page with every attribute of a step's fence."""
    from execplan.execution.attributes import ATTRIBUTES
    from execplan.execution.written.annotated import LAST
    from execplan.execution.written.fitting import USED
    from execplan.execution.written.values import RANGES

    lines = [
        "# The attributes of a step",
        "",
        "Written by `scripts/generate.py` from `execplan/execution/attributes.py`. Each fills one field of the step in the execution",
        "plan, of the same name where none is given here; `execplan explain steps` says how steps are written, and",
        "`execplan schema execution-plan` what the document is. An attribute with spaces in its value stands in quotes, in which",
        "a backslash keeps a quote from being one. A bare word is `true`. Lists have commas between their parts; ids and paths",
        "may have white space instead, and quotes around what holds some.",
        "",
        f"Of a fence with several commands, {', '.join([f'`{each}`' for each in LAST])} belong to the last one, `needs` to the",
        "first, and all others to each.",
        "",
        "| attribute | field | takes | for | what it says |",
        "|---|---|---|---|---|",
    ]
    for each in ATTRIBUTES:
        name = "#id" if each.name == "id" else each.name
        takes = " · ".join([f"`{choice}`" for choice in each.choices]) or each.kind
        takes += " {} to {:,}".format(*RANGES[each.name]) if each.name in RANGES else ""
        types = ", ".join([f"`{kind}`" for kind in USED.get(each.name, ())]) or "all"
        field = "" if each.field == each.name else f"`{each.field}`"
        lines.append(f"| `{name}` | {field} | {takes} | {types} | {each.about} |")
    return "\n".join(lines) + "\n"


def _examples(page: str) -> list[str]:
    """The examples of a rule's page, each in a fence under its heading."""
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
    """A page that is written by hand, with what its commands print."""
    return rewrite((ROOT / name).read_text(encoding="utf-8"))


GENERATED: dict[str, Callable[[], str]] = {
    GUIDANCE: guidance,
    SUSPECTS: suspects,
    README: readme,
    "docs/attributes.md": attributes,
    "docs/errors.md": errors,
    "docs/risk.md": risk,
    "docs/rules.md": rules,
    ".agent/PLANS.md": lambda: stock.text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.content(Settings()).decode(),
}
for _kind in KINDS:
    GENERATED[f"docs/schemas/{_kind}.json"] = partial(lambda name: schema_bytes(name).decode(), _kind)
for _path in sorted((ROOT / "docs").glob("*.md")):
    _name = f"docs/{_path.name}"
    if _name not in GENERATED and "```console" in _path.read_text(encoding="utf-8"):
        GENERATED[_name] = partial(replayed, _name)


def main() -> int:
    """Regenerate; the exit status is 1 when a check finds a difference."""
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
