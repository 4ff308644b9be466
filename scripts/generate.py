"""Write all generated files, or with `--check` report those that would change."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

import agents_page
import api_reference
import command_reference
import generated_tables
import picture
import public_surface
import reference_pages
import structure

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.cli.schema_builder import KINDS, schema_bytes
from execplan.core.project import builtin_templates, settings_file
from execplan.core.project.plan_directories import plan_files_regex
from execplan.core.project.project_settings import Settings
from tests.core.secrets import rates
from tests.transcripts.runner import rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "docs/reference"
HOOKS = ".pre-commit-hooks.yaml"


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


def hooks_file() -> str:
    """Return the hooks for pre-commit, with the paths of plans in the conventional directories."""
    text = (ROOT / HOOKS).read_text(encoding="utf-8")
    head, begin, rest = text.partition("  files: &plans |\n")
    tail = rest[rest.index("\n- id: ") + 1 :]
    return head + begin + "".join([f"    {line}\n" for line in plan_files_regex().split("\n")]) + tail


GENERATED: dict[str, Callable[[], str]] = {
    **generated_tables.TABLES,
    **{f"{REFERENCE}/{page}": render for page, render in reference_pages.PAGES.items()},
    **{f"{REFERENCE}/schemas/{kind}.json": partial(lambda name: schema_bytes(name).decode(), kind) for kind in KINDS},
    f"{REFERENCE}/commands.md": command_reference.commands_page,
    api_reference.PAGE: api_reference.render,
    f"{REFERENCE}/agents.md": agents_page.render,
    HOOKS: hooks_file,
    picture.PICTURE: picture.render,
    public_surface.RECORD: public_surface.render,
    ".agent/PLANS.md": lambda: builtin_templates.read_text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.render_settings(Settings()).decode(),
}
PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/explanation/architecture.md": {"wings": structure.wings_picture},
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
