"""EP4: can a newcomer type what the plan says, and tell whether it worked?"""

from __future__ import annotations

from execplan.lint.prose import is_foreign, prose
from execplan.lint.rule import WARNING, Given, Place, on_line, on_span, rule
from execplan.lint.shell import commands, fences
from execplan.plan import outline
from execplan.plan.grammar import is_nothing
from execplan.text.blocks import FENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.words import Span
    from execplan.plan.model import Plan, Section

_ANYWHERE = ("cd ", "working directory", "workdir", "top level of")
_ROOTS = (
    *"repository root,repo root,repo-root,root of the,project root,workspace root,from the root,worktree root".split(
        ","
    ),
    "checkout root",
)
_FOLDER = (
    *"root,director,folder,checkout,worktree,working tree,work tree,workspace,cwd,from `,from /,in `/,run in `,inside `".split(
        ","
    ),
    *"cd , -c ,--cwd,--prefix,--manifest-path,pushd,--directory,--project,--dir ".split(","),
    *"go to `,go into `,change to `,change into `,switch to `,verzeichnis,ordner,racine,dossier".split(","),
    *"répertoire,repertoire,raíz,raiz,carpeta".split(","),
)
"""What says where to type a command: in the whole plan, and near the commands."""
_INTO = ("in", "into", "inside", "within")
_EXPECTED = (
    *"expect,should,pass,succe,green,exit,output,print,return,show,report,produc,result,must,error,without".split(","),
    *"clean,fail,appear,creat,accept,prove,verif,confirm,see ,observ,match,contain,→,=>,displays,writes,responds".split(
        ","
    ),
    *"erwartet,zeigt,ergibt,meldet,on voit,attendu,affiche,espera,muestra,imprime".split(","),
)
_ATTRIBUTES = ("{expect}", "expect=", "exit=", "test-after=")
_PROVES = ("expect", "proof", "proves", "exit", "pass", "criteria", "evidence", "出口", "通过")
_MOST = 500
"""Commands of one section that may take something away, that are taken apart."""
_SHORT = 30
"""Words of a longer section that says what is to be true, so that the commands of Concrete Steps can show it."""
_BY_HAND = (
    *"click,press,open ,opens,opening,browser,manual,navigate,launch,select,drag,panel,button,toggle,screen,window".split(
        ","
    ),
    *"start the,visual,play,hover,http,concrete steps,command,steps above,listed above,post /,get /".split(","),
)
"""What says that a person looks, or that the commands stand elsewhere."""


_WARNS = ("not ", "n't ", "never", "avoid", "without", "instead", "refus", "reject")
"""What is said of a command that nobody is to type."""


def _holds(words: str, needles: tuple[str, ...]) -> bool:
    """Whether one of the needles is in the words; a loop stops at the first, which most often comes soon."""
    for needle in needles:  # noqa: SIM110 - `any` asks a list whole, and a generator begins slowly
        if needle in words:
            return True
    return False


def _leads_into(said: str) -> bool:
    """Whether a line leads into a folder: `In src/:`, or `in src/,` before what is to be typed there."""
    if "/" not in said:
        return False
    for line in said.split("\n"):
        words = line.lstrip("-*> ").split() if "/" in line and "in" in line else []
        for at, word in enumerate(words[:-1]):
            name = words[at + 1].strip("`*:,")
            closed = at == 0 or words[at + 1][-1] in ":,"
            if word in _INTO and closed and len(name) > 1 and name[-1] == "/":
                return True
    return False


@rule("EP404", WARNING)
def no_folder(plan: Plan, given: Given) -> Iterator[Place]:
    """Commands are given and nothing says in which folder to type them.

    Whoever begins with the plan alone may stand anywhere; the same words do something else, or nothing, one folder off.
    Once is enough: in Concrete Steps, or wherever the plan tells how to work on it.

    Bad:
        ## Concrete Steps

            make parser
            make test

        Both print `ok`.
    Good:
        ## Concrete Steps

        In the root of the repository:

            make parser
            make test

        Both print `ok`.
    """
    sections = [section for name in (outline.STEPS, outline.VALIDATION) if (section := plan.section(name)) is not None]
    said = ""
    for section in sections:
        below = "\n".join(plan.text.lines[section.body : section.end]).casefold()
        if _holds(f"{section.title.casefold()}\n{below}", _FOLDER) or _leads_into(below):
            return
        said += f"{below}\n"
    source = given.words.source.encode("ascii", "replace").lower().decode("ascii")  # a third of what `casefold` takes
    if is_foreign(said) or _holds(source, _ANYWHERE) or ("root" in source and _holds(source, _ROOTS)):
        return
    spans = [span for section in sections for span in commands(plan, given, section)]
    first = min([span for span in spans if not span.text.startswith("git ")], default=None)
    if first is not None:
        yield on_span(first, "nothing says in which folder to type this")


@rule("EP405", WARNING)
def no_expected_result(plan: Plan, given: Given) -> Iterator[Place]:
    """Commands are given and nothing says what is to be seen when they worked.

    A newcomer can't tell a good run from a bad one by having typed the words. A sentence does, or the lines that are
    printed.

    Bad:
        ## Validation and Acceptance

        In the root of the repository:

            make test
            make lint
    Good:
        ## Validation and Acceptance

        In the root of the repository, where both exit with 0 and the first prints `12 passed`:

            make test
            make lint
    """
    validation, steps = plan.section(outline.VALIDATION), plan.section(outline.STEPS)
    if validation is not None and _speaks(plan, given, validation):
        return
    for section in (validation, steps):
        spans = sorted(commands(plan, given, section)) if section is not None else []
        if section is None or not spans:
            continue
        if not (_speaks(plan, given, section) or _prints(plan, section, spans) or _speaks_elsewhere(plan, given)):
            yield on_span(spans[0], "nothing says what is to be seen when this worked")
        return


def _speaks(plan: Plan, given: Given, section: Section) -> bool:
    """Whether the words of a section say what comes of something, or can't be judged."""
    said = prose(plan, given, section)
    return _holds(said, _EXPECTED) or is_foreign(said)


def _speaks_elsewhere(plan: Plan, given: Given) -> bool:
    """Whether milestones or sections of the plan's own tell what proves the work."""
    others = [each for each in plan.sections if each.name is None or each.name in (outline.WORK, outline.ARTIFACTS)]
    return any([_holds(f"{each.title.casefold()}\n{prose(plan, given, each)}", _PROVES) for each in others])


def _prints(plan: Plan, section: Section, spans: list[Span]) -> bool:
    """Whether a block of code shows what is printed, or its attributes say what comes of it."""
    typed = {span.line for span in spans}
    for block, start, end in fences(plan, section):
        if block.kind == FENCE and "{" in block.text and _holds(block.text, _ATTRIBUTES):
            return True
        lines = [at for at in range(start, end) if plan.text.lines[at].strip()]
        if lines and not typed.issuperset(lines):
            return True
    return False


@rule("EP406", WARNING)
def no_command(plan: Plan, given: Given) -> Iterator[Place]:
    """Validation and Acceptance holds no command.

    That "the tests pass" proves nothing to whoever does not know which tests, and how they are run. Where the section says
    in detail what is to be true, the commands may stand in Concrete Steps, and in milestones always; what a person looks at by hand is told by what to click and what is seen then.

    Bad:
        ## Concrete Steps

        Write the scanner, then the reader.

        ## Validation and Acceptance

        All required tests pass and the reader is fast.
    Good:
        ## Concrete Steps

        Write the scanner, then the reader.

        ## Validation and Acceptance

        In the root of the repository `make test` prints `12 passed`.
    """
    section = plan.section(outline.VALIDATION)
    if section is None:
        return
    if next(commands(plan, given, section), None) is not None:
        return
    said = "\n".join(plan.text.lines[section.body : section.end]).casefold()
    if not said.strip() or _holds(said, _BY_HAND) or is_foreign(said):
        return
    guided = any([section.start <= at < section.end for at in plan.guidance])
    vague = "`" not in said and len(said.split()) < _SHORT
    places = (None, outline.WORK, outline.PROGRESS) if vague else (None, outline.WORK, outline.PROGRESS, outline.STEPS)
    others = [each for each in plan.sections if each.name in places]
    typed = any([next(commands(plan, given, each), None) for each in others])
    if not guided and not typed:
        yield on_line(plan, section.start, "no command: say what to type, or what to do by hand, and what is seen then")


@rule("EP408", WARNING)
def risky_without_recovery(plan: Plan, given: Given) -> Iterator[Place]:
    """A command destroys something, and Idempotence and Recovery does not say how to get it back.

    Such a step goes wrong on the second run, or for the second person. Say what it takes away, how to be sure beforehand, and
    what to do when it was the wrong thing.

    Bad:
        ## Concrete Steps

        In the root of the repository, `git reset --hard origin/main` prints `HEAD is now at` and the commit.

        ## Idempotence and Recovery

        N/A
    Good:
        ## Concrete Steps

        In the root of the repository, `git reset --hard origin/main` prints `HEAD is now at` and the commit.

        ## Idempotence and Recovery

        What was not committed is gone after the reset, so commit or stash it first; `git reflog` finds the old commit.
    """
    recovery = plan.section(outline.RECOVERY)
    if recovery is not None:
        for at in range(recovery.body, recovery.notes):
            if not is_nothing(plan.text.lines[at].strip()) and at not in plan.guidance:
                return
    from execplan.lint.risky import NEEDLES, lost

    for section in (plan.section(outline.STEPS), plan.section(outline.VALIDATION)):
        if section is not None and _holds("\n".join(plan.text.lines[section.body : section.end]), NEEDLES):
            spans = [span for span in commands(plan, given, section) if _holds(span.text, NEEDLES)]
            for span in sorted(spans)[:_MOST]:
                gone = lost(span.text)
                if gone and not _holds(plan.text.lines[span.line].casefold(), _WARNS):
                    yield on_span(span, f"{gone}, and {outline.RECOVERY} does not say how to get it back")
