"""A template → the text of a plan; what a repository wrote is never run, and never trusted to end."""

from __future__ import annotations

from typing import Any

from jinja2 import BaseLoader, Environment, Template, TemplateNotFound, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import TemplateRuntimeError

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.drafting import templates
from execplan.repo.drafting.sandbox import LANGUAGE, Sandbox
from execplan.repo.drafting.templates import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.home import Project

MOST_FILES = 100
"""How often a template may bring in a file."""


class Words(NamedTuple):
    """The variables of a template."""

    title: str
    purpose: str
    """Empty when none is given."""
    tasks: tuple[str, ...]
    date: str
    """The day of creation, YYYY-MM-DD."""
    id: str
    """The plan's id."""
    artifacts: str
    """The plan's artifacts folder, from the root of the repository."""
    author: str
    template: str
    """The name of the template."""


class Rendered(NamedTuple):
    """What a template gave."""

    text: str
    own: bool
    """Whether a file of the repository had a part in it."""
    path: str
    """The file that was read last: the one that all others extend."""


def render(home: Project, name: str, words: Words) -> Rendered:
    """The text that the template of that name gives; raises ExecplanError that says which line of which file is wrong."""
    loader = _Loader(home)
    sandbox = Sandbox(loader)
    parts = []
    try:
        template = sandbox.get_template(f"{name}.md")
        for part in template.root_render_func(template.new_context(words._asdict())):
            sandbox.take(len(part))
            parts.append(part)
    except ExecplanError:
        raise
    except Exception as error:
        raise _broken(error, loader.last) from error
    return Rendered("".join(parts).strip("\n") + "\n", loader.own, loader.last)


class _Loader(BaseLoader):
    """Finds templates in the repository's folder and in the tool's, and nowhere else."""

    def __init__(self, home: Project) -> None:
        self.home = home
        self.count = 0
        self.own = False
        self.last = ""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        """Text and path of a template."""
        self.count += 1
        if self.count > MOST_FILES:
            raise TemplateRuntimeError(f"more than {MOST_FILES} files are brought in: does one bring in itself?")
        found = templates.source(self.home, template)
        if found is None:
            raise TemplateNotFound(template)
        self.last, text, own = found
        self.own = self.own or own
        return text, self.last, None


def _broken(error: Exception, last: str) -> ExecplanError:
    """The refusal of a template that jinja2 or the sandbox stopped at."""
    why, hint = str(error) or type(error).__name__, f"a template may use {LANGUAGE}"
    path, line = last, 1
    if isinstance(error, TemplateSyntaxError):
        path, line, why = error.filename or last, error.lineno, error.message or why
    else:
        path, line = _place(error) or (path, line)
    if isinstance(error, TemplateNotFound):
        name = str(error.name)
        where = "among the built-in templates" if name.startswith(BUILT_IN) else "in the folder of templates"
        why, hint = f"there is no file {name.removeprefix(BUILT_IN)!r} {where}", "see execplan new --list-templates"
    elif isinstance(error, UndefinedError):
        hint = f"a template knows {', '.join(Words._fields)}"
    elif isinstance(error, RecursionError):
        why = "it is nested too deeply"
    return ExecplanError("broken-template", f"{path}:{line}: {why}", exit=INPUT, hint=hint, line=line)


def _place(error: Exception) -> tuple[str, int] | None:
    """The file of a template, and the line in it, at which it was stopped."""
    place, trace = None, error.__traceback__
    while trace is not None:
        template: Any = trace.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            place = template.filename or "", template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return place
