"""EP4: do the links of a plan lead somewhere, and does its text keep what is secret?"""

from __future__ import annotations

from execplan.lint.rule import ERROR, TREE, WARNING, Given, Place, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan


@rule("EP409", WARNING, needs=TREE)
def link_to_nothing(plan: Plan, given: Given) -> Iterator[Place]:
    """A link leads to a heading or a file that does not exist.

    Evidence that nobody can open is none. A heading was renamed, a file moved, or the artifact was never committed; paths
    in links count from the plan's own folder.

    Bad (path plans/parser.md, has plans/artifacts/parser/run.log):
        ## Artifacts and Notes

        The [last run](artifacts/parser/last-run.log).
    Good (path plans/parser.md, has plans/artifacts/parser/run.log):
        ## Artifacts and Notes

        The [last run](artifacts/parser/run.log).
    """
    if "](" not in given.words.source and "]: " not in given.words.source:
        return
    from execplan.lint.targets import anchor, is_anchor, links, relative_path
    from execplan.text.relative import joined

    known: set[str] = set()
    for span, sure in links(plan, given):
        if span.text[0] == "#":
            name = anchor(span.text)
            if name and not is_anchor(plan, name, known) and (sure or given.words.is_link(span)):
                yield on_span(span, f"no heading of this plan makes the anchor {span.text}")
            continue
        path = relative_path(span.text) if given.path else ""
        target = joined(given.path.rpartition("/")[0], path) if path else None
        if target and given.tree is not None and not given.tree.has(target) and (sure or given.words.is_link(span)):
            yield on_span(span, f"{target} does not exist")


@rule("EP410", ERROR)
def secret_in_the_text(plan: Plan, given: Given) -> Iterator[Place]:
    """The plan holds a secret.

    Whoever can read the repository, now or after it leaks, can use it; deleting the line leaves it in the history. Make the
    secret worthless first, at the service that gave it, then name the place where it is kept instead.

    Bad:
        ## Concrete Steps

        In the root of the repository, `AWS_ACCESS_KEY_ID=AKIAQ3EGRCW7T5ZLM2XB make push` prints `pushed`.
    Good:
        ## Concrete Steps

        In the root of the repository, `make push` prints `pushed`. It reads the key of the `ci` user from the keychain.
    """
    from execplan.text.secrets import find, shown

    for secret in find(given.words.source):
        line, column = given.words.at(secret.start)
        end_line, end_column = given.words.at(secret.end)
        begins = given.words.source[secret.start : secret.start + shown(secret)]
        article = "an" if secret.kind[:1] in "AEIOUa" else "a"
        message = f"{article} {secret.kind} ({begins}…): make it worthless where it came from, then take it out"
        yield Place(message, line, column, end_line + 1, end_column)
