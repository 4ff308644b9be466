"""Cues in the text around a command that it is not a step: a condition, a choice, a report of past work."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)*?\1")
_SENTENCE_END = re.compile(r"(?<=[.!?;。])\s+|(?<=:)\s+(?=[A-Z`])")
CONDITION = "is to be run only under a condition"
KEEPS_RUNNING = "is done by hand, or keeps running"
CHOICE = "is one of several ways"
ELSEWHERE = "is for another machine, terminal or system"
TO_BE_WRITTEN = "is to be written somewhere, not to be run"
IS_OUTPUT = "stands where the plan shows what is printed"
IS_RECORD = "stands where the plan tells what was done"
_FORBIDDEN = re.compile(
    r"不要|禁止|切勿|무시|금지|하지 (?:않|말|마)|しない|\b(?:never|do not|don't|don’t|must not|mustn't|should not|shouldn't|avoid|no longer|instead of|rather than|without running|forbidden|prohibited|disallowed|not required|"
    r"not needed|unnecessary|not be run|not run|cannot|can't|can’t|skip(?:ped)?|blocked|deprecated|wrong|bad|unsafe|dangerous|destructive|legacy|obsolete|removed?|nicht|keine?)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"可选|如果|如有|若|仅当|선택|필요(?:시|하면| 시)|경우|任意|必要に|もし|場合|\b(?:falls|wenn|bei bedarf|si nécessaire|facultati\w+|opcional\w*|si es necesario|se necess\w+)\b|^\W*(?:\d+[.)]\W*)?(?:if|only|unless|when|whenever|where|otherwise|optional|optionally|in case|should|for .* only|depending|as needed|as appropriate|on failure|nice to have|wenn|falls)\b|"
    r"\b(?:only (?:if|when|after|for|on|with|in)|if (?:needed|necessary|required|available|applicable|useful|you|the|that|this|it|any|there|not|so|and|still|a|an|one|[a-z]+ (?:is|are|was|were|has|have|fails?|changes?|changed)|`)|"
    r"when (?:needed|necessary|available|applicable|useful|ready|touched|changed|changing|the|you|it|there|a|an|any|`)|where (?:needed|available|applicable|relevant|useful|possible|supported)|as (?:needed|necessary|appropriate|relevant|applicable)|"
    r"unless|optional(?:ly)?|in case|otherwise|depending|once (?:the|you|it|there|all|a|an|`)|at most|fallback|may|might|could|can (?:be|also|then|now|optionally)|you can|we can|one can|feel free|nice to have|"
    r"requires?|with (?:access|credentials|permission)|user(?:'s|’s)? (?:approval|permission)|approv\w+|authoriz\w+|before (?:push|releas|deploy|merg|publish)\w*|ready to|"
    r"to (?:undo|revert|roll ?back|recover|reset|restore|debug|troubleshoot|diagnose|abort|retry|resume|clean ?up|inspect manually)|roll ?back|recovery|troubleshoot\w*|debugging|in an emergency|retry|fails?\b|failing|failed|failure|"
    r"must fail|red phase|expected red|red first|reproduce)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\bor `x`|或者|또는|または|\b(?:oder|ou bien|o bien)\b|示例|예시|(?:^|[\s(,;])or[,:]?$|^\W*or\b|^\W*(?:alternatively|equivalently|alternative)\b|\b(?:either|alternatively|alternative(?:s|ly)?|equivalent(?:ly)?|one of|any of|instead|or similar|or the|or an? |or equivalent|choose|pick|such as|e\.g\.|for example|for instance|(?<!run the )(?<!run all )(?<!build the )examples?|"
    r"like|similar|resembl\w+|something|approximately|roughly|suggested|candidates?|proposed|sketch|pseudo\w*|template|shape|form of|along the lines|representative|likely|probably|possible|illustrat\w+|schematic\w*|placeholder|usage|syntax|useful|handy|convenient|helpful|(?:signature|interface)(?! \w+(?: \w+)?\.?$))\b",
    re.IGNORECASE,
)
_OUTPUT = re.compile(
    r"预期(?:输出|结果)|输出如下|예상 (?:출력|결과|동작)|기대 |期待される|出力例|erwartete|attendue?s?\b|esperad[oa]s?\b|\b(?:expect(?:ed|s)?|observed|sample(?! (?:files?|data|project|document)\b)|actual|known[- ]good|captured|recorded|typical|example|successful)\b.*\b(?:outputs?|results?|transcripts?|outcomes?|snippets?|evidence|responses?|logs?|summary|lines?|shape|behaviou?r|messages?|excerpt|artifacts?|files?|state)\b|"
    r"\b(?:outputs?|transcripts?|evidence|outcomes?|responses?|excerpts?|prints?|shows?|returns?|yields?|contains?|reports?|includes?|see)\W*:\W*$|\b(?:should|must|will|to) (?:print|show|see|report|produce|display|look|return|contain|include|match|say|emit|output)\b|^\W*expect(?:ed|s)?\b|"
    r"\b(?:with (?:an? )?(?:output|result|message|error))\b|\blooks? like\b|^\W*(?:output|result|results|transcript|evidence|note|notes|warning)\W*:?\W*$",
    re.IGNORECASE,
)
_PAST_WORK = re.compile(
    r"^\W*before\W*$|\b(?:20\d\d-\d\d-\d\d|(?:was|were|been|already|actually|previously|has|have) (?:\w+ )?(?:run|ran|executed|rerun|used|completed|verified|validated|recorded|captured|done|performed|added|checked|tested)|ran\b|passed|completed|succeeded|"
    r"(?:commands?|checks?|tests?|steps?|validation|validations) (?:already |actually |that were )?(?:executed|recorded|used|completed|performed|done|passed)|executed (?:commands?|validation|checks?|tests?)|completed (?:commands?|validation|checks?|tests?|work)|"
    r"recorded (?:validation|evidence|commands?)|evidence|history|historical|previous(?:ly)?|earlier|so far|at the time|preserved (?:this|these|the following)|baseline results|before the change|prior|original(?:ly)?|log of|implemented|shipped|landed)\b",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"^\W*(?:\d+[.)]\W*)?(?:and |then |also )?(?:document|mention|expose|support|introduce|implement|describe|list|note|explain|name|define|declare|provide|preserve|keep|retain|replace|rename|change|edit|modify|delete|remove)\b(?! (?:in)?to\b)(?!.*\b(?:run|running|execute|executing|verify|confirm|using|with these commands)\b)|"
    r"^\W*(?:\d+[.)]\W*)?(?:add|write|update|insert|include|append|put|paste|extend|create)\b(?!.*\b(?:run|running|execute|executing|verify|confirm)\b).*(?:\b(?:readme|docs?|documentation|help text|usage|makefile|scripts?|snippets?|sections?|config\w*|workflows?|jobs?|files?|comments?|commands?|targets?|aliases|alias|hooks?|entries|entry|subcommands?|cli)\b|\.(?:md|json|toml|ya?ml|sh|py|ts|rs|go)\b)|"
    r"\b(?:new|planned|public|supported|user-facing|future|packaged|proposed|following|these) (?:cli |npm |package |root )?(?:commands?|scripts?|aliases|targets?|subcommands?) (?:are|is|will|should|must|exist|become|remain|stay|were)\b|(?<!/)\b(?:interface|api|cli|surface|contract|schema|grammar|layout|tree|structure|files to|future|later|planned|wishlist|out of scope|non-goals?)\b\W*:?\W*$|"
    r"\b(?:gets?|gains?|has|have|offers?|provides?|exposes?|supports?|knows?|accepts?)\b[^.]*\b(?:commands?|subcommands?|scripts?|targets?|flags?)\W*:\W*$|\b(?:files? (?:to (?:edit|create|change|touch|update|inspect|add)|touched|changed)|required behavio\w+|required cli|environment variables?|^\W*env(?:ironment)?:)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:windows|powershell|macos|mac os|osx|wsl|cmd\.exe|on linux|linux only|in ci|ci only|on ci|ci-only|github actions|android|ios|raspberry|esp32|on the (?:server|host|vps|remote|device|target|box|node|pi|machine|phone|board|runner)|"
    r"over ssh|via ssh|ssh (?:in)?to|remote host|production|staging|(?:second|another|other|separate|new|different|third|first|one) (?:terminal|shell|tab|window|session|pane)|terminal (?:\d|[a-d]\b|one|two|three)|in parallel|concurrently|"
    r"inside (?:the |a )?(?:container|vm|image|pod|repl)|in (?:the|a) (?:container|vm|pod|repl|browser)|discord|slack)\b|\bterminal \w\b",
    re.IGNORECASE,
)
_BY_HAND = re.compile(
    r"\b(?:manual(?:ly)?|by hand|human(?![- ](?:can|could|would|may|verifiable|readable|visible|observable)\b)|interactive(?:ly)?|press|ctrl|click|keyboard|browser|smoke by eye|visually|playtest|qa by)\b",
    re.IGNORECASE,
)
_STARTS_SERVICE = re.compile(
    r"\b(?:start|launch|serve|boot|bring up|spin up)\b(?! from| by| with| at| in| the (?:implementation|work|milestone)|ing)(?=.*\b(?:app|server|servers|service|services|daemon|node|devnet|chain|backend|frontend|ui|stack|cluster|gateway|worker|bot|process|game|client|database|instance|dev)\b)",
    re.IGNORECASE,
)
_REASONS = (
    (_FORBIDDEN, "stands beside words that say not to run something"),
    (_CHOICE, CHOICE),
    (_CONDITION, CONDITION),
    (_OUTPUT, IS_OUTPUT),
    (_PAST_WORK, IS_RECORD),
    (_WRITING, TO_BE_WRITTEN),
    (_ELSEWHERE, ELSEWHERE),
    (_BY_HAND, KEEPS_RUNNING),
    (_STARTS_SERVICE, KEEPS_RUNNING),
)


_FILE_CONTENT = re.compile(
    r"^\W*(?:\d+[.)]\W*)?(?:then |next |and )?(?:add|create|write|save|put|insert|extend|replace)\b.*`[^`\s]+\.\w+`[^`.]*[:：]\W*$",
    re.IGNORECASE | re.DOTALL,
)
"""Instruction with a file, and the file's content after the colon."""
_RUN_WORDS = re.compile(r"\b(?:re-?run|run|execute|verify|validate|confirm|compile|build|check|test)\b", re.IGNORECASE)
_NEXT_ACTION = re.compile(r"^(?:then|next|now|afterwards|finally)\b.*[:：]\W*$", re.IGNORECASE)
"""Introduction of another action than the one before."""
_DATE = re.compile(
    r"\b(?:20\d\d-\d\d-\d\d|20\d\d/\d\d/\d\d|\d\d?\.\d\d?\.20\d\d|(?:\d\d? )?(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\w* \d)",
    re.IGNORECASE,
)
_OCCASION = re.compile(
    r"\b(?:qa|(?:pre|post)-merge|closeout|correction|audit|review|rehearsal|session|pass|round|yesterday|last (?:week|month|night|time)|\w+day|did|went|was|were|had|walked|exercised|tried|checked)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b(?:pass(?:ed)?|green|succe\w+|clean|ok|failures?|failed|(?:all|\d+) (?:of|/) ?\d+|no (?:regressions?|errors?|findings)|results?)\b",
    re.IGNORECASE,
)


_FORBIDDEN_COMMAND = re.compile(r"\W*(?:do not|don't|don’t|never) run `([^`]+)`", re.IGNORECASE)
_TEST_TURNS_GREEN = re.compile(
    r"\bfail(?:s|ed)? before\b.*\b(?:pass(?:es)?|succeeds?|(?:is|are) green) (?:after|with|once|now)", re.IGNORECASE
)
"""Result of a test before the change, and its result when the command runs."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; code spans are not split."""
    code_spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        code_spans.append(match.group())
        return f"\x00{len(code_spans) - 1}\x00"

    fragments = _SENTENCE_END.split(_CODE_SPAN.sub(hide, text))
    return [
        re.sub(r"\x00(\d+)\x00", lambda match: code_spans[int(match.group(1))], fragment)
        for fragment in fragments
        if fragment.strip()
    ]


def find_doubt(sentence: str, *, returns_at_once: bool = False) -> str:
    """Return why commands in a sentence may not be meant to run as written, phrased to follow `it `, or empty text.

    `returns_at_once` means that the command returns at once although it starts something.
    """
    normalized = _CODE_SPAN.sub("`x`", sentence)
    normalized = re.sub(
        r"\bshould be run\b|\bcan be run from\b|\bmust be run\b|\bunless (?:otherwise )?(?:noted|stated|specified|said)(?: otherwise)?\b"
        r"|\bunless (?:another|a different|some other) (?:directory|folder|path|one) is (?:named|given|told|noted|stated|specified|said)\b"
        r"|\bunless (?:a|the) (?:step|command|section) (?:says|names|tells|states) (?:otherwise|another(?: (?:one|directory|folder))?)\b"
        r"|^(?:when|once) (?:you(?: are|'re) )?(?:finished|done)\b",
        "run",
        normalized,
        flags=re.IGNORECASE,
    )
    if _FILE_CONTENT.match(sentence) and not _RUN_WORDS.search(normalized):
        return TO_BE_WRITTEN
    instruction, _, outcome = normalized.partition(" and expect ")
    if _RUN_WORDS.search(instruction) and not re.search(r"fail|error|red\b|non-?zero|\bnot\b", outcome):
        normalized = instruction
    return next(
        (
            why
            for pattern, why in _REASONS
            if not (returns_at_once and pattern is _STARTS_SERVICE) and pattern.search(normalized)
        ),
        "",
    )


def find_doubt_in_lead(lead: str, *, returns_at_once: bool = False) -> str:
    """Return the reason for doubt in a text that introduces commands, from its first and last sentences."""
    lead_sentences = split_sentences(lead)
    reasons = [
        why
        for sentence in dict.fromkeys([*lead_sentences[-1:], *lead_sentences[:1]])
        if (why := find_doubt(sentence, returns_at_once=returns_at_once))
    ]
    if (
        reasons == [TO_BE_WRITTEN]
        and not find_doubt(lead_sentences[-1])
        and (_RUN_WORDS.search(lead_sentences[-1]) or _NEXT_ACTION.search(lead_sentences[-1]))
    ):
        return ""  # write this, then run that
    return reasons[0] if reasons else ""


def find_doubt_in_tail(tail: str, lines: Sequence[str] = ()) -> str:
    """Return the reason for doubt in the text after `lines`, which may only revoke the command or say that it fails."""
    first_sentence = next(iter(split_sentences(tail)), "")
    forbidden = _FORBIDDEN_COMMAND.match(first_sentence)
    if forbidden is not None and lines and not any([forbidden[1] in line for line in lines]):
        return ""  # it refers to another command
    if _TEST_TURNS_GREEN.search(first_sentence):
        return ""
    normalized = _CODE_SPAN.sub("`x`", first_sentence)
    if re.match(r"\W*(?:or\b|alternatively|instead|otherwise|\(?optional)", normalized, re.IGNORECASE):
        return CHOICE
    if re.search(
        r"\b(?:should|must|will|to|may|can|might) (?:\w+ )?fail\b|\bfails? (?:before|because|until|with|on|initially|first)\b|expect\w* (?!(?:0|no|zero|any) )(?:a |an |the )?(?:\w+ )?(?:fail\w*|red\b|error)|non-?zero",
        normalized,
        re.IGNORECASE,
    ):
        return "is said to fail"
    if re.search(
        r"\b(?:not (?:be )?run|do not run|was skipped|is optional|are optional|optional|only needed|not required|placeholder|adjust|replace|substitute|adapt|if (?:the|this|that|those|these) (?:command|script|target|name)s?|exact (?:command|name|flag|script)s? may|or (?:the )?(?:equivalent|similar))",
        normalized,
        re.IGNORECASE,
    ):
        return CONDITION
    return ""


def find_doubt_in_context(context: Iterable[str], *, returns_at_once: bool = False) -> str:
    """Return the first reason for doubt in the texts above, nearest first."""
    return next((why for text in context if (why := find_doubt_in_lead(text, returns_at_once=returns_at_once))), "")


def is_past_record(context: Sequence[str], tail: str) -> bool:
    """Return whether the text reports a past occasion.

    It does if the text before names an occasion without an instruction to run something, and a dated result follows.
    """
    lead = context[0] if context else ""
    return (
        _RESULT.search(tail) is not None
        and _DATE.search(tail) is not None
        and _OCCASION.search(lead) is not None
        and _RUN_WORDS.search(lead) is None
    )
