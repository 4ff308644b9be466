"""The templates for new plans: the repository's own, which take precedence, and the built-in ones."""

from __future__ import annotations

import os

from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.placeholder_text import PLACEHOLDER_MARK, is_placeholder_text
from execplan.core.project import builtin_templates
from execplan.core.project.project import Project, ensure_inside
from execplan.core.text.message_parts import align_descriptions
from execplan.core.text.suggestions import closest_names

MAX_BYTES = 64 * 1024
"""Maximum size in bytes of a repository's own template."""
BUILT_IN = "built-in:"
"""Prefix of a file name that selects the built-in file, even if the repository has one with that name."""
_PLACEHOLDER_MARKS = ("{#- guidance #}", "{#- guidance -#}", "{# guidance #}")


class PlanTemplate(NamedTuple):
    """A template and its description."""

    name: str
    about: str
    """Description in one line, from the comment in the first line."""
    path: str
    """Path from the repository root."""
    own: bool
    """Whether the template belongs to the repository."""
    overrides: bool
    """Whether the template belongs to the repository and replaces a built-in one."""


def list_templates(project: Project) -> list[PlanTemplate]:
    """Return all templates, the built-in ones first. Raises ExecplanError if the directory can't be read."""
    names = [*_builtin_templates(), *sorted(_own_names(project))]
    return [_describe_template(project, name, with_description=True) for name in dict.fromkeys(names)]


def execplan_template(project: Project) -> str:
    """Return the template of new ExecPlans: that of the settings, unless it has another form."""
    name = project.settings.template
    return "plan" if has_other_form(name) else name


def has_other_form(name: str) -> bool:
    """Return whether a template is for plans of another tool, or a plan that is copied."""
    return name.endswith(".md") or f"{name}.md" in builtin_templates.list_names("dialects")


def find_template(project: Project, name: str) -> PlanTemplate:
    """Return the template with this name. Raises ExecplanError if there is none."""
    if name in _builtin_templates() or name in _own_names(project):
        return _describe_template(project, name)
    available = list_templates(project)
    similar_names = closest_names(name, [template.name for template in available])
    raise ExecplanError(
        "unknown-template",
        f"unknown template {name!r}",
        hint=f"did you mean {similar_names[0]!r}?" if similar_names else "use one of these, or omit --template",
        candidates=align_descriptions([(template.name, template.about) for template in available]),
    )


class TemplateSource(NamedTuple):
    """The source file of a template."""

    path: str
    """Path from the repository root."""
    text: str
    is_own: bool


def read_source(project: Project, name: str) -> TemplateSource | None:
    """Return the template file with this name, preferring the repository's own; None if there is none.

    Raises ExecplanError if the repository's own file can't be read or leads out of the templates directory.
    """
    own_source = None if name.startswith(BUILT_IN) else _read_own_source(project, name)
    if own_source is not None:
        return own_source
    name = name.removeprefix(BUILT_IN)
    builtin_path = _builtin_templates().get(name.removesuffix(".md")) if name.endswith(".md") else None
    if builtin_path is None:
        return None
    return TemplateSource(
        project.display_path(os.path.join(builtin_templates.directory(), builtin_path)),
        builtin_templates.read_text(builtin_path),
        is_own=False,
    )


def has_own(project: Project) -> bool:
    """Return whether the repository has its own templates."""
    return bool(_own_names(project))


def _builtin_templates() -> dict[str, str]:
    """Return the built-in templates by name, with their paths in the templates directory."""
    return {"plan": "plan.md"} | {
        name.removesuffix(".md"): f"{directory}/{name}"
        for directory in ("plans", "dialects")
        for name in builtin_templates.list_names(directory)
    }


def _own_names(project: Project) -> list[str]:
    """Return the names of the repository's own templates.

    Files that start with an underscore are only parts of others.
    """
    try:
        names = os.listdir(_own_directory(project))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise file_access.file_error(error, project.settings.templates, "read") from None
    return [name[:-3] for name in names if name.endswith(".md") and not name.startswith(("_", "."))]


def _describe_template(project: Project, name: str, *, with_description: bool = False) -> PlanTemplate:
    """Return an existing template; its description is read only if requested."""
    builtin_paths, is_own = _builtin_templates(), name in _own_names(project)
    if is_own:
        path = os.path.join(_own_directory(project), f"{name}.md")
    else:
        path = os.path.join(builtin_templates.directory(), builtin_paths[name])
    description = ""
    if with_description:
        try:
            template_source = read_source(project, f"{name}.md")
            description = _read_description(template_source.text) if template_source is not None else ""
        except ExecplanError as error:
            description = error.message
    return PlanTemplate(name, description, project.display_path(path), is_own, is_own and name in builtin_paths)


def _read_description(text: str) -> str:
    """Return the comment at the start of a template; empty if there is none."""
    line = text.split("\n", 1)[0].strip()
    return line[2:-2].strip("- ") if line.startswith("{#") and line.endswith("#}") else ""


def _own_directory(project: Project) -> str:
    """Return the directory of the repository's own templates.

    Raises ExecplanError if it is a link out of the repository.
    """
    directory = os.path.join(project.base, project.settings.templates)
    ensure_inside(project, directory)
    return directory


def _read_own_source(project: Project, name: str) -> TemplateSource | None:
    """Read one of the repository's own templates and convert its placeholder marks for the plan reader."""
    if "\0" in name or {"", ".", ".."} & set(name.split("/")):
        return None
    directory = _own_directory(project)
    path = os.path.join(directory, name)
    if not os.path.lexists(path):
        return None
    ensure_inside(project, path, directory)
    display_path = project.display_path(path)
    with ErrorContext(display_path):
        data, size = file_access.read(os.path.realpath(path), MAX_BYTES)
        if size > MAX_BYTES:
            message = f"the file has {size:,} bytes; a template has at most {MAX_BYTES:,}"
            raise ExecplanError("too-large", message, hint="make it shorter")
        text = reader.decode(data)
    marked_text = "\n".join([_convert_mark(line) for line in text.lines]) + ("\n" if text.ends[-1] else "")
    return TemplateSource(display_path, marked_text, is_own=True)


def _convert_mark(line: str) -> str:
    """Return a line with its template placeholder mark replaced by the one used in plans."""
    stripped = line.rstrip()
    for mark in _PLACEHOLDER_MARKS:
        if stripped.endswith(mark) and stripped != mark:
            stripped = stripped.removesuffix(mark).rstrip()
            return stripped if is_placeholder_text(stripped) else f"{stripped} {PLACEHOLDER_MARK}"
    return line
