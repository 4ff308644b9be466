"""EP6 rules about steps that compile but are not safe to run as written."""

from __future__ import annotations

from execplan.linter.rule import ERROR, HINT, WARNING, RuleContext, RuleMatch, rule
from execplan.linter.rules.step_compile_rules import step_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan


@rule("EP607", WARNING)
def dangerous_command(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step is a command that can do harm which no rollback takes back.

    Its risk is CRITICAL, as of `sudo`, of what is fetched and fed to a shell, of a force push, or of publishing. Nothing is wrong
    with it where it is meant; most often the work goes without it, or a person does it by hand.

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


@rule("EP608", ERROR)
def path_outside_repository(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step names a path outside the repository, or in a folder that git or this tool keeps for itself.

    A plan changes its own repository and nothing else: `approve` refuses such a step. Paths count from the root.

    Bad:
        ## Concrete Steps

        In the root of the repository; afterwards the file holds one line:

        ```text {#notes type=create_file target=../notes.md}
        One line.
        ```
    Good:
        ## Concrete Steps

        In the root of the repository; afterwards the file holds one line:

        ```text {#notes type=create_file target=docs/notes.md}
        One line.
        ```
    """
    return step_matches(context, "EP608")


@rule("EP609", HINT)
def step_without_expectation(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step runs a command and does not say what comes of it.

    Without `expect`, `exit`, `test-after` or a fence `{expect}` below it, all that is known of it is that it ended with 0.
    That may be enough; then `exit=0` says so.

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


@rule("EP610", ERROR)
def unknown_task(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step completes a task that Progress does not have, or has several of.

    The step would run and nothing would be ticked. `task` takes the task's id, or words that only it has.

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


@rule("EP611", WARNING)
def undeclared_shell(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
    """A step needs a shell and does not say so.

    A command is run as its words, so that a pipe, a redirection or a variable would be handed to it as text; such a step is
    compiled and never run. Put what it does into a script or a target of `make`; with `shell` the fence itself is a script, and
    its risk CRITICAL.

    Bad:
        ## Concrete Steps

        In the root of the repository the file holds twelve lines afterwards:

        ```sh {#count exit=0}
        make test > out.txt
        ```
    Good:
        ## Concrete Steps

        In the root of the repository the file holds twelve lines afterwards:

        ```sh {#count exit=0}
        make out.txt
        ```
    """
    return step_matches(context, "EP611")
