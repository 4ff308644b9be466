"""Masking of an execution plan before it is sent: unique placeholders replace texts, which can be restored later."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from execplan.agents.enhancer.field_sharing import withhold_fields
from execplan.agents.user_program.personal_data import PersonalData
from execplan.core.secrets.redaction import Redactor
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.secrets.suspected_secrets import find_secret_arguments, find_suspected_secrets
from execplan.core.text.fast_json import iter_texts
from execplan.execution.documents.written_paths import written_paths

SECRET: Final = "secret"  # noqa: S105 - the name of a kind
WITHHELD: Final = "withheld"
PATH: Final = "path"
NAME: Final = "name"
KINDS: Final = (SECRET, WITHHELD, PATH, NAME)
"""Kinds of masked texts.

They are: possible secrets; values under a key that is not known to be harmless or in a file that git ignores; paths of
this machine; names of its users.
"""
_HARMLESS_KEYS = frozenset(
    "action branch count description encoding file files filter format folder globs include kind language limit line lines "
    "message mode name new newtext note offset old oldtext path paths pattern query range recursive replace revision search "
    "summary text timeout title tool type url".split()
)
"""Names of agent tool parameters whose values are sent after inspection, regardless of word separators."""
_HARMLESS_VARIABLES = frozenset(
    "CARGO_TERM_COLOR CC CFLAGS CGO_ENABLED CI COLUMNS CXX CXXFLAGS DEBUG FORCE_COLOR GOARCH GOFLAGS GOOS LANG LANGUAGE LC_ALL "
    "LC_CTYPE LDFLAGS LINES MAKEFLAGS NODE_ENV NO_COLOR PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONPATH PYTHONUNBUFFERED "
    "RUSTFLAGS RUST_BACKTRACE RUST_LOG SOURCE_DATE_EPOCH TERM TZ".split()
)
"""Environment variables whose values are sent after inspection."""
_CHOICE_FIELDS = frozenset("schema mode type phase effect shell kind level".split())
"""Fields of a plan that accept only a fixed set of words."""
_CONTENT_FIELDS = ("content", "patch", "expect")
_ASSIGNMENT = re.compile(
    r"(?m)^[ +]?[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*[=:][ \t]*[\"']?([^\"'\n]*[^\"'\s])[\"']?[ \t\r]*$"
)
_MIN_WORD_LENGTH = 12
"""Minimum length, in characters, of a value that is masked everywhere."""
_MIN_MIXED_LENGTH = 6
"""The same minimum length for a value that is neither only letters nor only digits."""


class PlanMasker:
    """Replaces texts with placeholders for one call.

    `mark` makes the placeholders differ from all texts of the plan.
    """

    def __init__(
        self,
        mark: str,
        personal: PersonalData,
        find_ignored: Callable[[Iterable[str]], set[str]],
        share: Collection[str] = (),
    ) -> None:
        """Set the mark, the personal data and the shared fields.

        `find_ignored` returns the paths, of those given from the repository root, that git ignores; `share` lists the
        fields whose texts may be sent.
        """
        self._share = frozenset(share)
        self.mark = mark
        self._personal = personal
        self._find_ignored = find_ignored
        self._placeholders: dict[tuple[str, str], str] = {}
        self._known_placeholders: set[str] = set()
        self._secrets = _build_redaction({})
        self._withheld_texts: tuple[str, ...] = ()
        """Complete texts that were withheld."""

    def mask_plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Mask a plan given as plain data. The shape stays the same, so that both can be traversed in parallel."""
        self._learn_secrets(plan, self._find_hidden_steps(plan))
        return self.mask_revised_plan(plan)

    def mask_revised_plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Mask another plan by what was masked in the first one, with the same placeholders."""
        hidden = self._find_hidden_steps(plan)
        plan = withhold_fields(plan, self._share, lambda text: self._make_placeholder(WITHHELD, text))
        steps = [self._mask_step(step, withheld=index in hidden) for index, step in enumerate(plan["steps"])]
        return {**self._mask_value({**plan, "steps": []}), "steps": steps}

    def mask_text(self, text: str) -> str:
        """Mask secrets, paths and names in a text."""
        if text in self._known_placeholders:
            return text
        return self._replace_spans(text, self._find_spans(text))

    def count_redactions(self, masked_plan: object) -> dict[str, int]:
        """Count the placeholders of each kind in a masked plan."""
        pattern = re.compile(rf"redacted_({'|'.join(KINDS)})_\d+_{self.mark}")
        counts = Counter([match[1] for text in iter_texts(masked_plan) for match in pattern.finditer(text)])
        return {kind: counts[kind] for kind in KINDS}

    def has_leak(self, text: str) -> bool:
        """Check whether a text contains a masked secret, or something that looks like a secret."""
        return bool(self._secrets.spans(text)) or any([withheld_text in text for withheld_text in self._withheld_texts])

    def _find_hidden_steps(self, plan: dict[str, Any]) -> set[int]:
        """Return the indexes of the steps that write files that git ignores or whose names indicate secrets."""
        paths = {path for step in plan["steps"] for path in written_paths(step)}
        ignored = self._find_ignored(paths) | {path for path in paths if is_secret_file(path)}
        return {index for index, step in enumerate(plan["steps"]) if ignored.intersection(written_paths(step))}

    def _learn_secrets(self, plan: dict[str, Any], hidden: set[int]) -> None:
        """Collect the secrets and withheld texts of a plan, so that they are masked in all places."""
        secrets: dict[str, str] = {}
        for text in iter_texts(plan):
            for start, end in [*find_suspected_secrets(text), *self._secrets.spans(text)]:
                _remember_secret(secrets, "", text[start:end])
        for step in plan["steps"]:
            for name, value in _find_withheld_values(step):
                _remember_secret(secrets, name, value)
        contents = [plan["steps"][index][name] or "" for index in hidden for name in _CONTENT_FIELDS]
        for text in contents:
            for name, value in _ASSIGNMENT.findall(text):
                _remember_secret(secrets, name, value)
        self._secrets = _build_redaction(secrets)
        self._withheld_texts = tuple(
            [content.strip() for content in contents if len(content.strip()) >= _MIN_WORD_LENGTH]
        )

    def _mask_step(self, step: dict[str, Any], *, withheld: bool) -> dict[str, Any]:
        """Mask the texts of a step."""
        masked = {**step, "env": {}, "parameters": None}
        if withheld:
            masked |= {name: self._make_placeholder(WITHHELD, step[name]) for name in _CONTENT_FIELDS if step[name]}
            texts = step.get("replacement") or {}
            withheld_texts = {
                name: self._make_placeholder(WITHHELD, texts[name]) for name in ("find", "with") if texts.get(name)
            }
            masked |= {"replacement": {**texts, **withheld_texts}} if texts else {}
        masked = {
            name: field_value if name in _CHOICE_FIELDS else self._mask_value(field_value)
            for name, field_value in masked.items()
        }
        pairs = [(name, value) for name, value in step["env"].items() if name not in _HARMLESS_VARIABLES and value]
        if pairs:
            masked |= {
                name: self._mask_assignments(step[name], masked[name], pairs)
                for name in ("command", "description", "argv")
            }
        masked["argv"] = self._mask_argv(step["argv"], masked["argv"])
        test = step["validation"]["test_after"]
        masked["validation"] = {
            **masked["validation"],
            "test_after": self._mask_argv(test, masked["validation"]["test_after"]),
        }
        masked["env"] = {
            self.mask_text(name): self.mask_text(value)
            if name in _HARMLESS_VARIABLES or not value
            else self._make_placeholder(WITHHELD, value)
            for name, value in step["env"].items()
        }
        parameters = step["parameters"]
        masked["parameters"] = None if parameters is None else self._mask_parameters(parameters)
        return masked

    def _mask_value(self, value: Any) -> Any:
        """Mask the strings of a value with a known shape; its keys are those of a plan and stay."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list | tuple):
            return [self._mask_value(child) for child in value]
        if isinstance(value, dict):
            return {name: child if name in _CHOICE_FIELDS else self._mask_value(child) for name, child in value.items()}
        return value

    def _mask_parameters(self, value: Any) -> Any:
        """Mask a value of unknown shape: everything under an unknown key is withheld."""
        if isinstance(value, dict):
            return {
                self.mask_text(name): self._mask_parameters(child)
                if _is_harmless_key(name)
                else self._withhold_value(child)
                for name, child in value.items()
            }
        return [self._mask_parameters(child) for child in value] if isinstance(value, list) else self._mask_value(value)

    def _withhold_value(self, value: Any) -> Any:
        import json

        if value in (None, "", [], {}) or (isinstance(value, str) and value in self._known_placeholders):
            return value
        return self._make_placeholder(WITHHELD, json.dumps(value, sort_keys=True))

    def _mask_argv(self, argv: list[str] | None, masked_argv: list[str] | None) -> list[str] | None:
        """Mask arguments, including those that follow an option for a secret."""
        if argv is None or masked_argv is None:
            return masked_argv
        new_argv = list(masked_argv)
        for index, offset in find_secret_arguments(argv):
            new_argv[index] = self.mask_text(argv[index][:offset]) + (
                self._make_placeholder(SECRET, argv[index][offset:]) if argv[index][offset:] else ""
            )
        return new_argv

    def _mask_assignments(self, original: Any, masked: Any, pairs: list[tuple[str, str]]) -> Any:
        """Mask assignments in a command that set variables of the step's environment, whose values are withheld."""
        from shlex import quote

        if isinstance(original, list):
            return [
                self._mask_assignments(original_arg, masked_arg, pairs)
                for original_arg, masked_arg in zip(original, masked, strict=True)
            ]
        if not isinstance(original, str):
            return masked
        spans = []
        for name, value in pairs:
            for form in (value, quote(value), f'"{value}"'):
                start = original.find(f"{name}={form}")
                while start >= 0:
                    spans.append((start + len(name) + 1, start + len(name) + 1 + len(form), SECRET))
                    start = original.find(f"{name}={form}", start + 1)
        return self._replace_spans(original, [*spans, *self._find_spans(original)]) if spans else masked

    def _find_spans(self, text: str) -> list[tuple[int, int, str]]:
        spans = [(start, end, SECRET) for start, end in [*self._secrets.spans(text), *find_suspected_secrets(text)]]
        spans += [(start, end, PATH) for start, end in self._personal.find_paths(text)]
        return spans + [(start, end, NAME) for start, end in self._personal.find_names(text)]

    def _replace_spans(self, text: str, spans: list[tuple[int, int, str]]) -> str:
        """Replace spans of a text with placeholders.

        Overlapping spans are merged; the result is a secret if one of them is.
        """
        merged: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(spans):
            if merged and start < merged[-1][1]:
                previous_start, previous_end, previous_kind = merged[-1]
                merged[-1] = (
                    previous_start,
                    max(previous_end, end),
                    SECRET if SECRET in (kind, previous_kind) else previous_kind,
                )
            else:
                merged.append((start, end, kind))
        for start, end, kind in reversed(merged):
            text = text[:start] + self._make_placeholder(kind, text[start:end]) + text[end:]
        return text

    def _make_placeholder(self, kind: str, text: str) -> str:
        """Return the placeholder for a text: lowercase letters, digits and `_`, which every field of a plan accepts."""
        if text in self._known_placeholders:
            return text
        number = len([known_kind for known_kind, _ in self._placeholders if known_kind == kind]) + 1
        placeholder = self._placeholders.setdefault((kind, text), f"redacted_{kind}_{number}_{self.mark}")
        self._known_placeholders.add(placeholder)
        return placeholder


def _build_redaction(secrets: dict[str, str]) -> Redactor:
    """Build the redactor for the values that are redacted in all output, plus the given secrets."""
    from execplan.execution.engine.commands.command_environment import public_variables

    return Redactor({**os.environ, **secrets}, public_variables(os.environ))


def _remember_secret(secrets: dict[str, str], name: str, value: str) -> None:
    """Remember the lines of a secret or withheld value that are distinctive enough."""
    for line in map(str.strip, value.splitlines()):
        is_word = line.isalpha() or line.isdigit()
        if len(line) >= (_MIN_WORD_LENGTH if is_word else _MIN_MIXED_LENGTH) and line not in secrets.values():
            secrets[f"{name}_SECRET_{len(secrets)}"] = line


def _is_harmless_key(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _HARMLESS_KEYS


def _find_withheld_values(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the values of a step that are not sent because of their name, each with that name if it has one."""
    for argv in (step["argv"], step["validation"]["test_after"]):
        yield from [("", argv[index][offset:]) for index, offset in find_secret_arguments(argv or ())]
    yield from [(name, value) for name, value in step["env"].items() if name not in _HARMLESS_VARIABLES]
    yield from _find_unlisted_values(step["parameters"] or {})


def _find_unlisted_values(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings under an unknown key, at any depth, each with that key."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _find_unlisted_values(child, name or ("" if _is_harmless_key(key) else key))
    elif isinstance(value, list):
        for child in value:
            yield from _find_unlisted_values(child, name)
    elif isinstance(value, str) and name:
        yield name, value
