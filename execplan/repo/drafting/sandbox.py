"""jinja2 for templates that strangers wrote: a small language, and a bound on what a rendering takes.

jinja2's own sandbox keeps a template from what is not handed to it; it bounds neither time nor memory.
"""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, nodes, pass_context
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from execplan.repo.drafting.templates import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jinja2 import BaseLoader

MAX_CHARS = 5 * 1024 * 1024
"""What a rendering may write, steps on the way included; a plan has no more bytes."""
MAX_SECONDS = 2.0
"""Of computing; a machine that is busy with other things is no reason to refuse."""
FILTERS = ("capitalize", "default", "first", "join", "last", "length", "lower", "replace", "title", "trim", "upper")
LOOP = ("first", "index", "index0", "last", "length", "revindex")
"""What may be asked of `loop`."""
LANGUAGE = "text, variables, comments, if, for, block, super(), extends, include, and these filters: " + ", ".join(
    FILTERS
)

_STEP = 50
"""What a step costs, such as a turn of a loop, in characters."""
_DEEPEST = 20
"""Python does not compile more loops in each other."""
_PARTS: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.If,
    nodes.For,
    nodes.Block,
    nodes.Extends,
    nodes.Include,
    nodes.Filter,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Getattr,
    nodes.Call,
)

_WRITTEN = {"assign": "set", "assignblock": "set", "concat": "~", "fromimport": "import", "getitem": "[ ]"}
"""How parts are written that jinja2 calls otherwise."""


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of one rendering."""

    def __init__(self, loader: BaseLoader) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            optimized=False,
            cache_size=0,  # so that the loader counts
            finalize=_shown,
        )
        self.globals = {}
        self.tests = {"defined": self.tests["defined"]}
        self.filters |= {name: partial(self.filters[name], self) for name in ("first", "last")}
        self.filters |= {"join": self._join, "replace": self._replace}
        self.filters = {name: self._charged(self.filters[name]) for name in FILTERS}
        self.filters[_COUNTED] = self._turns
        self._left = MAX_CHARS
        self._until = process_time() + MAX_SECONDS

    def take(self, chars: int = 0) -> None:
        """Charge a step, and what it wrote; raises TemplateRuntimeError when that is more than a plan can need."""
        self._left -= chars + _STEP
        if self._left < 0 or process_time() > self._until:
            raise TemplateRuntimeError("it goes on for too long, or writes more than a plan can hold")

    def concat(self, parts: Iterable[str]) -> str:
        """What a block comes to, for super()."""
        text = "".join(parts)
        self.take(len(text))
        return text

    def join_path(self, template: str, parent: str) -> str:
        """A template that names itself means the one of the tool that it stands in place of."""
        return BUILT_IN + template if template == parent else template

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,  # noqa: FBT002  # as jinja2 declares it
    ) -> str:
        """Check the parts of a template, have the turns of its loops counted, and compile it."""
        self.take()
        stack: list[tuple[nodes.Node, int]] = [(source, 0)]
        while stack:
            node, depth = stack.pop()
            fault = _fault(node) or (f"nested more than {_DEEPEST} deep" if depth > _DEEPEST else "")
            if fault:
                raise TemplateSyntaxError(fault, node.lineno, name, filename)
            stack += [(child, depth + 1) for child in node.iter_child_nodes()]
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
        source.set_environment(self)
        return super()._generate(source, name, filename, defer_init)

    def _charged(self, filter_: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that charges what it makes."""

        @pass_context  # a filter that wants the context is not tried while the template is compiled
        def charged(context: object, *given: Any) -> Any:
            made = filter_(*given)
            self.take(len(made) if isinstance(made, str) else 0)
            return made

        return charged

    def _turns(self, items: Iterable[object]) -> Iterator[object]:
        for item in items:
            self.take()
            yield item

    def _join(self, items: Iterable[object], between: str = "") -> str:
        """Charged before it is made, because it can be as long as two texts multiplied."""
        words = [str(_shown(item)) for item in items]
        self.take(len(words) * len(between))
        return between.join(words)

    def _replace(self, text: str, old: str, new: str) -> str:
        """Charged before, as above."""
        self.take(text.count(old) * len(new))
        return text.replace(old, new)


_COUNTED = "turns of a loop"
"""The name of the filter through which every loop goes; no template can write it."""


def _fault(node: nodes.Node) -> str:
    """What is wrong with a part of a template by itself; nothing when it may stand there."""
    if isinstance(node, nodes.Call):
        plain = not (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
        fine = isinstance(node.node, nodes.Name) and node.node.name == "super" and plain
        return "" if fine else "nothing can be called but super()"
    if isinstance(node, nodes.Getattr):
        fine = isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in LOOP
        return "" if fine else f"{node.attr!r} can't be asked for: of `loop` these can, {', '.join(LOOP)}"
    if isinstance(node, nodes.Filter) and (node.name not in FILTERS or node.kwargs):
        return f"there is no filter {node.name!r}" if node.name not in FILTERS else "a filter takes no named values"
    if isinstance(node, nodes.For) and node.recursive:
        return "a loop can't be recursive"
    if isinstance(node, (nodes.List, nodes.Tuple)):
        fine = all([isinstance(item, nodes.Const) for item in node.items])
        return "" if fine else "a list holds nothing but words and numbers"
    if type(node) in _PARTS:
        return ""
    kind = getattr(node, "operator", None) or type(node).__name__.lower()
    return f"`{_WRITTEN.get(kind, kind)}` can't be used"


def _shown(value: Any) -> str | int | Undefined:
    """A value as it may be written; a list of lists can be endless."""
    if isinstance(value, (str, int, Undefined)):
        return value
    raise TemplateRuntimeError("only words and numbers can be written; for a list write a loop, or |join(', ')")
