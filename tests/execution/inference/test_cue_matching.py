"""The notation of phrases in cues.toml, and the cues themselves: each is used, and its phrases are what they match."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from execplan.execution.inference.cue_table import EXPRESSIONS, WORDS
from execplan.execution.inference.prose_cues import find_cue

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from phrase_patterns import PhraseCompiler  # noqa: E402

INFERENCE = ROOT / "execplan" / "execution" / "inference"
CONTENT = tomllib.loads((INFERENCE / "cues.toml").read_text(encoding="utf-8"))


def compile_phrase(phrase: str, language: str = "en") -> re.Pattern[str]:
    """The pattern of a phrase, with a few parts and places."""
    content = {
        "parts": {"path": "`([^`]+)`", "noun": ["file[s]", "folder"]},
        "places": {"start": r"^\W*", "later": r"\b.*\b", "end": r"\W*$"},
        "cues": {"negation": {"en": ["no", "not"]}, "cue": {language: [phrase]}},
    }
    return re.compile(PhraseCompiler(content).expression("cue"), re.IGNORECASE)


MATCHES = {
    "words": ("do not", ["Do not!", "and do not run"], ["undo not", "do nothing", "do  not"]),
    "alternatives": ("(run|carry out) it", ["run it", "carry out it"], ["carry it"]),
    "an optional word": ("in [the] root", ["in root", "in the root"], ["in theroot", "inroot"]),
    "an optional last word": ("noted [otherwise]", ["noted", "noted otherwise"], ["notedotherwise"]),
    "an optional ending": ("file[s]", ["file", "files"], ["filed"]),
    "an optional group of words": ("[if|when] (it|this) fails", ["if it fails", "this fails"], ["fails"]),
    "any ending": ("approv*", ["approv", "approval"], ["unapproved"]),
    "any ending but none": ("approv+", ["approves"], ["approv"]),
    "within a word": ("...wait...", ["awaits", "wait"], ["wai"]),
    "the beginning of a word": ("wait...", ["waits"], ["awaits"]),
    "a part": ("in {path} now", ["in `a b` now"], ["in a now"]),
    "a part of phrases": ("the {noun}", ["the files", "the folder"], ["the folders"]),
    "a cue": ("{negation} more", ["no more", "not more"], ["more"]),
    "a place": ("{start} stop {end}", ["stop", " - stop."], ["now stop", "stop it"]),
    "a place in between": ("run {later} test", ["run the test", "run test"], ["run latest", "rerun test"]),
    "not followed by": ("sample {not file[s]|data}", ["sample", "sample filed"], ["sample files", "sample data"]),
    "not followed by a beginning": ("start {not from...}", ["start", "start of"], ["start from", "start fromage"]),
    "not followed by, within a word": ("human{not (-| )can}", ["human", "human eye"], ["human-can", "human can"]),
    "not followed by later": ("add {never run|test}", ["add a", "run add"], ["add and run", "add a test"]),
    "not after": ("{not after run the |a }test", ["the test"], ["run the test", "a test"]),
    "one or more words": ("in {some the|own}dir", ["in the dir", "in the own dir"], ["in dir", "in a dir"]),
    "a character that means something": (r"\(a\)...", ["x(a)"], ["a"]),
    "regular expressions are text": ("e.g.", ["e.g.x"], ["ebgbx"]),
}


@pytest.mark.parametrize("name", MATCHES)
def test_phrases_match(name: str) -> None:
    phrase, matching_texts, other_texts = MATCHES[name]
    pattern = compile_phrase(phrase)
    assert [text for text in matching_texts if not pattern.search(text)] == []
    assert [text for text in other_texts if pattern.search(text)] == []


def test_phrases_of_languages_without_spaces_match_anywhere() -> None:
    assert compile_phrase("如果", "zh").search("你如果要")
    assert not compile_phrase("если", "ru").search("еслибы")


def test_a_place_or_part_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        compile_phrase("in {nowhere}")


def test_everything_in_the_table_is_used() -> None:
    code = "\n".join([path.read_text(encoding="utf-8") for path in INFERENCE.glob("*.py")])
    phrases = (INFERENCE / "cues.toml").read_text(encoding="utf-8")
    names = [*CONTENT["cues"], *CONTENT["words"]]
    assert [name for name in names if not re.search(rf"[\"']{name}[\"']", code) and f"{{{name}}}" not in phrases] == []
    assert [name for name in (*CONTENT["parts"], *CONTENT["places"]) if f"{{{name}}}" not in phrases] == []
    assert [name for name in names if not (CONTENT["cues"].get(name) or CONTENT["words"][name])["about"]] == []
    assert set(EXPRESSIONS) == set(CONTENT["cues"])
    assert set(WORDS) == set(CONTENT["words"])


def test_each_plain_phrase_is_found_by_its_cue() -> None:
    """Whoever adds a phrase without brackets finds it in a sentence that has it."""
    missed = [
        (cue, phrase)
        for cue, table in CONTENT["cues"].items()
        for language, phrases in table.items()
        if language not in ("about", "case")
        for phrase in phrases
        if isinstance(phrase, str) and phrase.replace(" ", "").isalpha() and not find_cue(cue, f"so {phrase} it")
    ]
    assert missed == []
