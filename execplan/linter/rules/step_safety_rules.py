"""EP6 rules about steps that compile but are not safe to run as written."""

from __future__ import annotations

from execplan.linter.rule import ERROR, HINT, WARNING, RuleContext, RuleMatch, rule
from execplan.linter.rules.step_compile_rules import step_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan


@rule("EP607", WARNING, in_archive=False)
def dangerous_command(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step runs a command whose damage no rollback can undo.

    Its risk is CRITICAL: for example `sudo`, piping a download into a shell, a force push, or publishing. This is
    fine if it is intended; usually the work can be done without it, or a person runs it by hand.

    Bad:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#push exit=0}
        git push --force origin main
        ```
    Good:
        ## Concrete Steps

        In the root of the repository both end without an error:

        ```sh {#push exit=0}
        make check
        ```
    """
    return step_matches(context, "EP607")


@rule("EP608", ERROR, in_archive=False)
def path_outside_repository(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step uses a path outside the repository, or in a directory reserved for git or this tool.

    A plan can change only its own repository: `approve` doesn't allow such a step. Paths are relative to the root.

    Bad:
        ## Concrete Steps

        In the root of the repository; afterward the file contains one line:

        ```text {#notes type=create_file target=../notes.md}
        One line.
        ```
    Good:
        ## Concrete Steps

        In the root of the repository; afterward the file contains one line:

        ```text {#notes type=create_file target=docs/notes.md}
        One line.
        ```
    """
    return step_matches(context, "EP608")


@rule("EP609", HINT, in_archive=False)
def step_without_expectation(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step runs a command but doesn't say what result to expect.

    Without `expect`, `exit`, `test-after` or a code block `{expect}` below it, the only check is that the command
    exits with 0. If that is enough, say so with `exit=0`.

    Bad:
        ## Concrete Steps

        In the root of the repository, where it prints `12 passed`:

        ```sh {#test}
        make test
        ```
    Good:
        ## Concrete Steps

        In the root of the repository, where it prints `12 passed`:

        ```sh {#test expect="12 passed"}
        make test
        ```
    """
    return step_matches(context, "EP609")


@rule("EP610", ERROR, in_archive=False)
def unknown_task(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step completes a task that is not in Progress, or that is ambiguous.

    The step would run, but no task would be checked off. `task` requires the task's ID or unique text.

    Bad:
        ## Progress

        - [ ] Build the parser.
        - [ ] Write the tests.

        ## Concrete Steps

        In the root of the repository it ends without an error:

        ```sh {#build exit=0 task="Build the scanner"}
        make parser
        ```
    Good:
        ## Progress

        - [ ] Build the parser.
        - [ ] Write the tests.

        ## Concrete Steps

        In the root of the repository it ends without an error:

        ```sh {#build exit=0 task="Build the parser"}
        make parser
        ```
    """
    return step_matches(context, "EP610")


@rule("EP611", WARNING, in_archive=False)
def undeclared_shell(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step needs a shell but doesn't declare it.

    A command runs without a shell, so a pipe, a redirection or a variable would be passed to it as text. Such a step is
    compiled but never run. Move the command into a script or a `make` target; with `shell`, the code block itself is a
    script, and its risk is at least MEDIUM. `execplan compile --annotate` adds `shell` to blocks of one command.

    Bad:
        ## Concrete Steps

        In the root of the repository the file contains twelve lines afterward:

        ```sh {#count exit=0}
        make test > out.txt
        ```
    Good:
        ## Concrete Steps

        In the root of the repository the file contains twelve lines afterward:

        ```sh {#count exit=0}
        make out.txt
        ```
    """
    return step_matches(context, "EP611")
