"""Rendering of a template to a plan's text. Templates are untrusted: they run no code and are limited in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import BaseLoader, Environment, Template, TemplateNotFound, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import TemplateRuntimeError

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.scaffold import plan_templates
from execplan.core.scaffold.plan_templates import BUILT_IN
from execplan.core.scaffold.template_sandbox import LANGUAGE, TemplateSandbox

MAX_FILES = 100
"""Maximum number of files that a template may load."""


class TemplateVariables(NamedTuple):
    """The variables available in a template."""

    title: str
    purpose: str
    """Purpose of the plan; empty if none is given."""
    tasks: tuple[str, ...]
    date: str
    """Creation date in the form YYYY-MM-DD."""
    id: str
    """ID of the plan."""
    number: str
    """Number in the ID, in the place of `{number}`; empty if there is none."""
    key: str
    """The ID up to its number, as `task-3` in `task-3 - parser`; all of it if it has none."""
    artifacts: str
    """Artifacts directory of the plan, from the repository root."""
    author: str
    template: str
    """Name of the template."""


class RenderedPlan(NamedTuple):
    """The result of rendering a template."""

    text: str
    uses_own_template: bool
    """Whether a template file of the repository was used."""
    path: str
    """The file loaded last, which all others extend."""


def render_template(project: Project, name: str, variables: TemplateVariables) -> RenderedPlan:
    """Render the template with this name.

    Raises ExecplanError, with the file and line of the problem, if it is invalid.
    """
    loader = _TemplateLoader(project)
    sandbox = TemplateSandbox(loader)
    chunks = []
    try:
        template = sandbox.get_template(f"{name}.md")
        for chunk in template.root_render_func(template.new_context(variables._asdict())):
            sandbox.charge(len(chunk))
            chunks.append(chunk)
    except ExecplanError:
        raise
    except Exception as error:
        raise _template_error(error, loader.last_path) from error
    return RenderedPlan("".join(chunks).strip("\n") + "\n", loader.has_own, loader.last_path)


class _TemplateLoader(BaseLoader):
    """A loader that finds templates only in the repository's directory and among the built-in ones."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.file_count = 0
        self.has_own = False
        self.last_path = ""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        """Return the text and path of a template."""
        self.file_count += 1
        if self.file_count > MAX_FILES:
            raise TemplateRuntimeError(f"more than {MAX_FILES} files are included: does one include itself?")
        template_source = plan_templates.read_source(self.project, template)
        if template_source is None:
            raise TemplateNotFound(template)
        self.last_path, text, is_own = template_source
        self.has_own = self.has_own or is_own
        return text, self.last_path, None


def _template_error(error: Exception, last_path: str) -> ExecplanError:
    """Return the error for a template that jinja2 or the sandbox stopped."""
    reason, hint = str(error) or type(error).__name__, f"a template can use {LANGUAGE}"
    path, line = last_path, 1
    if isinstance(error, TemplateSyntaxError):
        path, line, reason = error.filename or last_path, error.lineno, error.message or reason
    else:
        path, line = _error_location(error) or (path, line)
    if isinstance(error, TemplateNotFound):
        name = str(error.name)
        location = "among the built-in templates" if name.startswith(BUILT_IN) else "in the templates directory"
        reason, hint = (
            f"file not found: {name.removeprefix(BUILT_IN)!r} {location}",
            "list them: execplan new --list-templates",
        )
    elif isinstance(error, UndefinedError):
        hint = f"a template can use the variables {', '.join(TemplateVariables._fields)}"
    elif isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    return ExecplanError("broken-template", f"{path}:{line}: {reason}", hint=hint, line=line)


def _error_location(error: Exception) -> tuple[str, int] | None:
    """Return the template file and line where rendering stopped; None if unknown."""
    location, traceback = None, error.__traceback__
    while traceback is not None:
        template: Any = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            location = template.filename or "", template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return location
