"""A jinja2 environment for untrusted templates: a small language with limits on time and memory.

jinja2's own sandbox only restricts access to objects; it limits neither time nor memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import process_time
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, TemplateSyntaxError, Undefined, nodes, pass_context
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from execplan.core.scaffold.plan_templates import BUILT_IN

MAX_CHARS = 5 * 1024 * 1024
"""Maximum characters that a rendering may write, including intermediate results; no plan has more bytes."""
MAX_SECONDS = 2.0
"""Maximum CPU time; wall time is not used, because a busy machine is no reason for an error."""
FILTERS = ("capitalize", "default", "first", "join", "last", "length", "lower", "replace", "title", "trim", "upper")
LOOP_ATTRIBUTES = ("first", "index", "index0", "last", "length", "revindex")
"""Attributes of `loop` that a template may use."""
LANGUAGE = "text, variables, comments, if, for, block, super(), extends, include, and these filters: " + ", ".join(
    FILTERS
)

_STEP_COST = 50
"""Cost of a step, such as a loop iteration, in characters."""
_MAX_DEPTH = 20
"""Maximum nesting depth; Python compiles no deeper loops."""
_ALLOWED_NODES: tuple[type[nodes.Node], ...] = (
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

_NODE_SYNTAX = {"assign": "set", "assignblock": "set", "concat": "~", "fromimport": "import", "getitem": "[ ]"}
"""Template syntax of the node types that jinja2 names differently."""


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """The jinja2 environment for one rendering."""

    def __init__(self, loader: BaseLoader) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            optimized=False,
            cache_size=0,  # makes the loader count every load
            finalize=_to_writable,
        )
        self.globals = {}
        self.tests = {"defined": self.tests["defined"]}
        self.filters |= {name: partial(self.filters[name], self) for name in ("first", "last")}
        self.filters |= {"join": self._join, "replace": self._replace}
        self.filters = {name: self._charge_result(self.filters[name]) for name in FILTERS}
        self.filters[_COUNTING_FILTER] = self._count_iterations
        self._remaining_chars = MAX_CHARS
        self._deadline = process_time() + MAX_SECONDS

    def charge(self, chars: int = 0) -> None:
        """Charge a step and its output. Raises TemplateRuntimeError if the total exceeds the limits."""
        self._remaining_chars -= chars + _STEP_COST
        if self._remaining_chars < 0 or process_time() > self._deadline:
            raise TemplateRuntimeError("it runs too long, or its output is too long for a plan")

    def concat(self, chunks: Iterable[str]) -> str:
        """Join and charge the chunks of a block, for super()."""
        text = "".join(chunks)
        self.charge(len(text))
        return text

    def join_path(self, template: str, parent: str) -> str:
        """Return the path of a referenced template; one that names itself means the built-in one that it replaces."""
        return BUILT_IN + template if template == parent else template

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,  # noqa: FBT002  # as jinja2 declares it
    ) -> str:
        """Check the nodes of a template, make its loops count their iterations, and compile it."""
        self.charge()
        stack: list[tuple[nodes.Node, int]] = [(source, 0)]
        while stack:
            node, depth = stack.pop()
            problem = _node_problem(node) or (f"nested more than {_MAX_DEPTH} deep" if depth > _MAX_DEPTH else "")
            if problem:
                raise TemplateSyntaxError(problem, node.lineno, name, filename)
            stack += [(child, depth + 1) for child in node.iter_child_nodes()]
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _COUNTING_FILTER, [], [], None, None, lineno=loop.lineno)
        source.set_environment(self)
        return super()._generate(source, name, filename, defer_init)

    def _charge_result(self, filter_: Callable[..., Any]) -> Callable[..., Any]:
        """Return a filter that charges its output."""

        @pass_context  # a filter that requires the context is not evaluated at compile time
        def charged(context: object, *args: Any) -> Any:
            output = filter_(*args)
            self.charge(len(output) if isinstance(output, str) else 0)
            return output

        return charged

    def _count_iterations(self, items: Iterable[object]) -> Iterator[object]:
        for item in items:
            self.charge()
            yield item

    def _join(self, items: Iterable[object], separator: str = "") -> str:
        """Join items, charging the cost first, because the result can be as long as two texts multiplied."""
        texts = [str(_to_writable(item)) for item in items]
        self.charge(len(texts) * len(separator))
        return separator.join(texts)

    def _replace(self, text: str, old: str, new: str) -> str:
        """Replace text, charging the cost first, as in `_join`."""
        self.charge(text.count(old) * len(new))
        return text.replace(old, new)


_COUNTING_FILTER = "turns of a loop"
"""Name of the filter that every loop passes through; no template can write it."""


def _node_problem(node: nodes.Node) -> str:
    """Return the problem with a single template node; empty if the node is allowed."""
    if isinstance(node, nodes.Call):
        has_no_arguments = not (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
        is_allowed = isinstance(node.node, nodes.Name) and node.node.name == "super" and has_no_arguments
        return "" if is_allowed else "only super() can be called"
    if isinstance(node, nodes.Getattr):
        is_allowed = isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in LOOP_ATTRIBUTES
        return "" if is_allowed else f"{node.attr!r} is not allowed: `loop` has {', '.join(LOOP_ATTRIBUTES)}"
    if isinstance(node, nodes.Filter) and (node.name not in FILTERS or node.kwargs):
        return f"unknown filter {node.name!r}" if node.name not in FILTERS else "filters accept no named arguments"
    if isinstance(node, nodes.For) and node.recursive:
        return "a loop can't be recursive"
    if isinstance(node, (nodes.List, nodes.Tuple)):
        is_allowed = all([isinstance(item, nodes.Const) for item in node.items])
        return "" if is_allowed else "a list can contain only text and numbers"
    if type(node) in _ALLOWED_NODES:
        return ""
    kind = getattr(node, "operator", None) or type(node).__name__.lower()
    return f"`{_NODE_SYNTAX.get(kind, kind)}` can't be used"


def _to_writable(value: Any) -> str | int | Undefined:
    """Return a value that may be written.

    Raises TemplateRuntimeError for others, because a list of lists can be endless.
    """
    if isinstance(value, (str, int, Undefined)):
        return value
    raise TemplateRuntimeError("only text and numbers can be written; for a list, use a loop or |join(', ')")
