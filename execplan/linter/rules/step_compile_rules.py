"""EP6 rules about problems that prevent steps from compiling, which `step_problems` detects."""

from __future__ import annotations

from execplan.core.text.text_lines import Edit
from execplan.linter.rule import ERROR, UNSAFE, RuleContext, RuleMatch, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan


def step_matches(context: RuleContext, code: str) -> list[RuleMatch]:
    """Return the matches of one rule among the plan's step problems."""
    problems = [problem for problem in context.source.step_problems if problem.kind == code]
    return [
        RuleMatch(problem.message, problem.line, problem.column, problem.line + 1, problem.end_column)
        for problem in problems
    ]


@rule("EP601", ERROR, in_archive=False)
def unreadable_attributes(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """The attributes of a step can't be read.

    The attributes follow the language of a code block: `{#id name=value name="words with spaces"}`, with nothing
    after the closing brace. If they are malformed, the rest could only be guessed, so the step is not compiled. If an
    attribute contains a backtick, write the code block with `~~~`: Markdown reads its first line as text otherwise.

    Bad:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test expect="12 passed}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test expect="12 passed"}
        make test
        ```
    """
    return step_matches(context, "EP601")


@rule("EP602", ERROR, fix=UNSAFE, in_archive=False)
def unknown_attribute(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A step has an unknown attribute.

    A misspelled attribute would be ignored silently, and with it a time limit or a question to a person. `execplan
    explain attributes` lists all attributes.

    Bad:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test exit=0 timout=60}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test exit=0 timeout=60}
        make test
        ```
    Fixed:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test exit=0 timeout=60}
        make test
        ```
    """
    for match in step_matches(context, "EP602"):
        yield match._replace(edits=_rename_edits(plan.text.lines[match.line], match))


def _rename_edits(line: str, match: RuleMatch) -> tuple[Edit, ...]:
    """Return the edit that replaces an unknown attribute with the closest known one; empty if none is close."""
    from execplan.core.text.suggestions import closest_names
    from execplan.execution.annotations.info_string import parse_info_string
    from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXECUTION, PLAN_ATTRIBUTES

    name = line[match.column : match.end_column].partition("=")[0]
    info = parse_info_string(line.lstrip(" \t`~"))
    is_whole_plan = info is not None and info.mark == EXECUTION
    known_names = [attribute.name for attribute in PLAN_ATTRIBUTES] if is_whole_plan else list(ATTRIBUTES_BY_NAME)
    suggestions = closest_names(name, known_names)
    if not suggestions:
        return ()
    line = line[: match.column] + suggestions[0] + line[match.column + len(name) :]
    return (Edit(match.line, match.line + 1, (line,)),)


@rule("EP603", ERROR, in_archive=False)
def invalid_attribute_value(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step lacks what its type requires, or an attribute has an invalid value.

    A file step requires a `target`, a patch can only change lines that it shows, and sixty seconds are written as
    `60`, `60s` or `1m`. Such a step is not compiled, because its meaning is unclear.

    Bad:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test exit=0 timeout=soon}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository this prints `12 passed`:

        ```sh {#test exit=0 timeout=60}
        make test
        ```
    """
    return step_matches(context, "EP603")


@rule("EP604", ERROR, in_archive=False)
def duplicate_step_id(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """Two steps have the same ID.

    A dependency on that ID, or a report about it, would be ambiguous. The second line of a code block with the ID
    `build` has the ID `build.2`.

    Bad:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#build exit=0}
        make parser
        ```

        ```sh {#build exit=0}
        make scanner
        ```
    Good:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#parser exit=0}
        make parser
        ```

        ```sh {#scanner exit=0}
        make scanner
        ```
    """
    return step_matches(context, "EP604")


@rule("EP605", ERROR, in_archive=False)
def unknown_step_id(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step refers to an ID that no step has.

    It would wait forever. IDs are used in `needs`, in `when` and after `on-failure=alternative:`.

    Bad:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#build exit=0}
        make parser
        ```

        ```sh {#test needs=biuld exit=0}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#build exit=0}
        make parser
        ```

        ```sh {#test needs=build exit=0}
        make test
        ```
    """
    return step_matches(context, "EP605")


@rule("EP606", ERROR, in_archive=False)
def circular_dependency(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step depends on itself, or on a step that comes after it.

    Steps run in the order in which they are written, so a step's dependencies must be above it. Steps that depend
    on each other can't be ordered.

    Bad:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#build needs=test exit=0}
        make parser
        ```

        ```sh {#test needs=build exit=0}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#build exit=0}
        make parser
        ```

        ```sh {#test needs=build exit=0}
        make test
        ```
    """
    return step_matches(context, "EP606")


@rule("EP613", ERROR, in_archive=False)
def endless_step(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step runs a command that never ends, such as a development server.

    The run would wait for it until its time limit. With `service`, the run starts the command, waits until it is ready,
    and stops it after the last step. Commands that only may never end are not reported.

    Bad:
        ## Concrete Steps

        In the root; the page contains `Welcome`:

        ```sh {#web exit=0}
        npm run dev
        ```
    Good:
        ## Concrete Steps

        In the root; the page contains `Welcome`:

        ```sh {#web service=port:5173}
        npm run dev
        ```
    """
    return step_matches(context, "EP613")


@rule("EP612", ERROR, in_archive=False)
def conflicting_parallel_steps(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """Two parallel steps use the same path, or a step deletes a directory.

    Which of the two steps wins would be random. A directory can contain files that nobody named; a step deletes
    only files that it names, so that a person can see which ones.

    Bad:
        ## Concrete Steps

        In the root of the repository; afterward `src/notes.md` contains one line:

        ```text {#first type=create_file target=src/notes.md parallel}
        One line.
        ```

        ```text {#second type=create_file target=src/notes.md parallel}
        Another line.
        ```
    Good:
        ## Concrete Steps

        In the root of the repository; afterward both files contain one line:

        ```text {#first type=create_file target=src/notes.md parallel}
        One line.
        ```

        ```text {#second type=create_file target=src/more.md parallel}
        Another line.
        ```
    """
    return step_matches(context, "EP612")
