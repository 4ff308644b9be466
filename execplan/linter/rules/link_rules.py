"""EP4 rules about broken links and about secrets in a plan's text."""

from __future__ import annotations

from execplan.linter.rule import ERROR, TREE, WARNING, RuleContext, RuleMatch, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.secrets.service_tokens import Secret


@rule("EP409", WARNING, needs=TREE)
def broken_link(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A link leads to a heading or a file that does not exist.

    Evidence that nobody can open is worthless. A heading was renamed, a file was moved, or the artifact was never
    committed. Paths in links are relative to the plan's directory.

    Bad (path plans/parser.md, has plans/artifacts/parser/run.log):
        ## Artifacts and Notes

        The [last run](artifacts/parser/last-run.log).
    Good (path plans/parser.md, has plans/artifacts/parser/run.log):
        ## Artifacts and Notes

        The [last run](artifacts/parser/run.log).
    """
    if "](" not in context.source.text and "]: " not in context.source.text:
        return
    from execplan.core.text.pure_paths import resolve_relative
    from execplan.linter.plan_links import anchor_name, find_links, has_anchor, relative_path

    known_anchors: set[str] = set()
    for span, is_certain in find_links(plan, context):
        if span.text[0] == "#":
            name = anchor_name(span.text)
            if (
                name
                and not has_anchor(plan, name, known_anchors)
                and (is_certain or context.source.is_link_target(span))
            ):
                yield on_span(span, f"no heading of this plan has the anchor {span.text}")
            continue
        path = relative_path(span.text) if context.path else ""
        target = resolve_relative(context.path.rpartition("/")[0], path) if path else None
        if (
            target
            and context.tree is not None
            and not context.tree.has_path(target)
            and (is_certain or context.source.is_link_target(span))
        ):
            yield on_span(span, f"{target} does not exist")


@rule("EP410", ERROR)
def secret_in_plan(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan contains a secret.

    Anybody who can read the repository, now or after a leak, can use the secret; if you delete the line, it is
    still in the history. First revoke the secret at the service that issued it, then name the place where it is
    stored instead.

    Bad:
        ## Concrete Steps

        In the root of the repository, `AWS_ACCESS_KEY_ID=AKIAQ3EGRCW7T5ZLM2XB make push` prints `pushed`.
    Good:
        ## Concrete Steps

        In the root of the repository, `make push` prints `pushed`. It reads the key of the `ci` user from the keychain.
    """
    from execplan.core import features

    secrets: Iterable[Secret] = features.load(features.SEARCH_OF_SECRETS)(context.source.text)
    for secret in secrets:
        line, column = context.source.position_of(secret.start)
        end_line, end_column = context.source.position_of(secret.end)
        begins = context.source.text[secret.start : secret.start + secret.visible_length]
        article = "an" if secret.kind[:1] in "AEIOUa" else "a"
        message = f"{article} {secret.kind} ({begins}…): revoke it at its source, then remove it"
        yield RuleMatch(message, line, column, end_line + 1, end_column)
