"""No secret leaves, wherever in an execution plan it stands, of whatever kind; and all of it comes back."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.enhancer.mask import PlanMasker
from execplan.agents.enhancer.proposal import plan_content
from execplan.agents.enhancer.unmask import unmask
from execplan.agents.user_program.personal_data import PersonalData, collect_personal_data
from execplan.cli.schema_builder import build_schema
from execplan.core.documents.document_model import validate_document
from execplan.core.text.fast_json import iter_texts
from execplan.execution.execution_plan import ExecutionPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.agents.enhancer.enhancer_repository import EnhancerRepository

MARK = "0a1b2c3d"
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
STEP: dict[str, Any] = {
    "number": 1,
    "id": "first",
    "type": "execute_command",
    "tool": "shell.run",
    "description": "Do it",
    "target": "src/a.py",
    "lines": [1, 2],
    "action": "An action",
    "command": "make it",
    "argv": ["make", "it"],
    "content": "one\ntwo\n",
    "patch": "--- a/src/a.py\n+++ b/src/a.py\n",
    "parameters": {"path": "src", "body": {"deep": ["x", {"er": "y"}]}, "query": {"text": "z"}},
    "depends_on": ["zero"],
    "on_failure": {"strategy": "alternative:other"},
    "when": {"kind": "exists", "of": "src"},
    "cwd": "src",
    "env": {"CI": "1", "STAGE": "test"},
    "shell": "sh",
    "service": "line:ready",
    "inputs": ["in.txt"],
    "outputs": ["out.txt"],
    "expect": "fine",
    "validation": {"syntax_check": True, "test_after": ["make", "test"]},
    "task": "A task",
    "risk": {"level": "HIGH", "reasons": ["because"]},
    "allow": ["ls"],
    "deny": ["rm"],
    "source": {"line_start": 1, "line_end": 2},
    "from": "src/old.py",
    "overwrite": True,
    "replacement": {"paths": ["src/b.py"], "find": "one", "with": "two", "regex": True, "count": 2},
}
PLAN: dict[str, Any] = {
    "plan_id": "parser",
    "revision": 2,
    "source": {"path": "plans/parser.md", "sha256": "0" * 64},
    "description": "A parser",
    "mode": "agent",
    "intent": {"summary": "A summary", "category": "files", "risk_level": "HIGH"},
    "steps": [STEP],
    "constraints": {"max_duration_s": 5, "forbidden_paths": ["etc"], "forbidden_commands": ["rm"]},
    "metadata": {
        "history": [
            {
                "revision": 1,
                "sha256": "1" * 64,
                "reason": "why",
                "completed_steps": [1],
                "failed_steps": [2],
                "new_information": {"note": ["n"]},
            }
        ],
        "context": {"kept": {"a": "b"}},
    },
}
"""Every field of the model, filled; no rule between them counts here."""
FIXED = frozenset(
    "schema mode type phase effect shell kind level risk_level sha256 triggers completed_steps failed_steps".split()
)
"""Fields that can hold a few words only."""


def random_looking_text(number: int, length: int) -> str:
    """Characters that look as if they were drawn by a machine, other ones for each number."""
    hash_number = int.from_bytes(hashlib.sha512(str(number).encode()).digest() * 2, "big")
    return "".join([ALPHABET[hash_number // 62**at % 62] for at in range(length - 4)]) + "aZ9b"


def key(number: int) -> tuple[str, str]:
    body = "\n".join([random_looking_text(number + at, 64) for at in range(3)])
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----", body.split("\n")[1]


def base64_pair(text: str) -> tuple[str, str]:
    encoded = base64.b64encode(text.encode()).decode()
    return encoded, encoded


KINDS: dict[str, Callable[[int], tuple[str, str]]] = {
    "token": lambda n: (f"ghp_{random_looking_text(n, 36)}",) * 2,
    "row": lambda n: (random_looking_text(n, 24),) * 2,
    "hex": lambda n: (hashlib.sha1(str(n).encode()).hexdigest(),) * 2,
    "password": lambda n: (f"password: hunter{n}x", f"hunter{n}x"),
    "assigned": lambda n: (f"API_TOKEN=tok{n}en", f"tok{n}en"),
    "quoted": lambda n: (f'"client_secret": "two words {n}"', f"two words {n}"),
    "option": lambda n: (f"tool --password pass{n}ing", f"pass{n}ing"),
    "header": lambda n: (f"Authorization: Bearer b{n}earer", f"b{n}earer"),
    "header alone": lambda n: (f"sent as Bearer b{n}earer", f"b{n}earer"),
    "address": lambda n: (f"https://bob:pw{n}q@db.corp.test/x", f"pw{n}q"),
    "address of a host without dots": lambda n: (f"redis://:pw{n}q@cache/0", f"pw{n}q"),
    "asked": lambda n: (f"https://db.corp.test/x?access_token=ask{n}ed&y=1", f"ask{n}ed"),
    "curl": lambda n: (f"curl -u bob:cu{n}rl https://db.corp.test", f"cu{n}rl"),
    "base64": lambda n: base64_pair(f"password=hunter{n}"),
    "base64 of few characters": lambda n: base64_pair(f"pwd=h{n}x"),
    "variable": lambda n: (f"a quiet-river-{n}-stone", f"quiet-river-{n}-stone"),
    "variable in base64": lambda n: base64_pair(f"quiet-river-{n}-stone"),
    "key over lines": key,
}
"""By its name, what stands somewhere, and what of it is the secret."""


def plan_masker(*ignored: str, paths: Iterable[str] = (), names: Iterable[str] = ()) -> PlanMasker:
    return PlanMasker(MARK, PersonalData(paths, names), lambda asked: set(ignored) & set(asked), FIELDS)


def full_plan() -> dict[str, Any]:
    """The plan with all that is there by default."""
    filled, _ = validate_document({**PLAN, "revision": 1, "metadata": {}, "steps": [MINIMAL_STEP]}, ExecutionPlan)
    assert filled is not None
    default_fields = filled.model_dump()
    step = {
        **default_fields["steps"][0],
        **STEP,
        "on_failure": {**default_fields["steps"][0]["on_failure"], **STEP["on_failure"]},
    }
    return {
        **default_fields,
        **PLAN,
        "schema": default_fields["schema"],
        "steps": [step],
        "constraints": {**default_fields["constraints"], **PLAN["constraints"]},
    }


MINIMAL_STEP = {
    "number": 1,
    "id": "a",
    "type": "use_tool",
    "tool": "x.y",
    "description": "d",
    "risk": {"level": "HIGH"},
    "source": None,
}


def planted(value: Any, make: Callable[[], str], name: str = "") -> Any:
    """A value with something of its own put into each string, and into each name that is not one of the model's."""
    if isinstance(value, str):
        return value if name in FIXED else f"{value} {make()}"
    if isinstance(value, list):
        return [planted(nested, make, name) for nested in value]
    if isinstance(value, dict):
        free = name in ("env", "parameters", "body", "deep", "query", "context", "kept", "new_information")
        return {
            f"{field_name} {make()}" if free else field_name: planted(nested, make, field_name)
            for field_name, nested in value.items()
        }
    return value


def sent_of(plan: dict[str, Any]) -> dict[str, Any]:
    """What is left of it as `bare` does it."""
    return {**plan, "source": None, "metadata": {}, "steps": [{**step, "source": None} for step in plan["steps"]]}


@pytest.mark.parametrize("kind", KINDS)
def test_no_canary_leaves(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets: list[str] = []

    def make() -> str:
        text, secret = KINDS[kind](1000 + len(secrets))
        secrets.append(secret)
        return text

    plan = sent_of(planted(full_plan(), make))
    assert len(secrets) > 40
    for at in range(len(secrets)) if "variable" in kind else ():
        monkeypatch.setenv(f"CANARY_{at}", f"quiet-river-{1000 + at}-stone")
    masked = plan_masker().mask_plan(plan)
    masked_text, plan_text = ["\0".join(iter_texts(document)) for document in (masked, plan)]
    assert len([secret for secret in secrets if secret in plan_text]) > 40
    assert [secret for secret in secrets if secret in masked_text] == []
    restored = unmask(json.loads(json.dumps(masked)), masked, plan, MARK)
    assert restored.plan == plan
    assert restored.violations == []


def test_every_field_is_there() -> None:
    plan = full_plan()
    field_names = set(_names(plan))
    schema = build_schema("execution-plan")
    for title, definition in [("", schema), *schema["$defs"].items()]:
        for name in definition.get("properties", ()):
            # what an approval binds is in no document that is sent
            assert name in field_names | {"files"}, f"{title}.{name} is not tried"


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [name for name, nested in value.items() if nested not in (None, {})]
    for nested in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(nested)


def test_where_a_plan_comes_from_is_not_sent() -> None:
    document, violations = validate_document(
        {**PLAN, "revision": 1, "steps": [MINIMAL_STEP], "metadata": {"context": {"a": "b"}}}, ExecutionPlan
    )
    assert document is not None, violations
    content = plan_content(document)
    assert content["source"] is None
    assert content["metadata"] == {"history": [], "context": {}}


def test_what_stands_under_a_name_that_is_not_known_is_withheld() -> None:
    step = {
        **STEP,
        "parameters": {"colour": "blue", "Pin": 1234, "new_text": "plain", "path": "src", "x": None, "many": [1]},
    }
    step |= {"env": {"STAGE": "blue", "CI": "1"}, "command": "STAGE=blue make it", "argv": ["make", "blue"]}
    masked_step = plan_masker().mask_plan(sent_of({**full_plan(), "steps": [{**full_plan()["steps"][0], **step}]}))[
        "steps"
    ][0]
    assert [masked_step["parameters"][name][:17] for name in ("colour", "Pin", "many")] == ["redacted_withheld"] * 3
    assert (
        masked_step["parameters"]["new_text"],
        masked_step["parameters"]["path"],
        masked_step["parameters"]["x"],
    ) == (
        "plain",
        "src",
        None,
    )
    assert masked_step["env"]["CI"] == "1"
    assert masked_step["env"]["STAGE"].startswith("redacted_withheld_")
    assert masked_step["command"].startswith("STAGE=redacted_secret_")
    assert masked_step["command"].endswith(" make it")


@pytest.mark.parametrize("target", [".env", "deploy/prod.pem", "local/settings.ini"])
def test_what_is_written_to_files_that_git_ignores_is_not_sent(target: str) -> None:
    step = {
        **full_plan()["steps"][0],
        "target": target,
        "content": "A=not-so-quiet-river\nplain words\n",
        "patch": None,
    }
    other_step = {**full_plan()["steps"][0], "id": "other", "content": "say not-so-quiet-river", "outputs": []}
    plan = sent_of({**full_plan(), "steps": [step | {"outputs": []}, other_step]})
    masked = plan_masker("local/settings.ini").mask_plan(plan)
    assert masked["steps"][0]["content"].startswith("redacted_withheld_")
    assert "plain words" not in json.dumps(masked)
    assert "river" not in json.dumps(masked), "nor what is given there, wherever else it stands"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cd /nowhere/ann/repo/src && ls", "cd PATH/src && ls"),
        ("cat /home/ann/.netrc /Users/bob/x", "cat PATH/.netrc PATH/x"),
        ("see /nowhere/ann/repository", "see /nowhere/NAME/repository"),
        (
            "ls /etc/hosts /usr/bin/env /api/v1 https://x.org/home",
            "ls /etc/hosts /usr/bin/env /api/v1 https://x.org/home",
        ),
        ("as Ann Lee, planned by ann", "as NAME, planned by NAME"),
        ("mail ann.lee@corp.test or git@forge.test:x", "mail NAME or git@forge.test:x"),
    ],
)
def test_paths_of_this_machine_and_names_of_users(text: str, told: str) -> None:
    masker = plan_masker(paths=["/nowhere/ann/repo"], names=["Ann Lee", "ann", "root", "me"])
    plan = sent_of({**full_plan(), "description": text})
    masked_text = masker.mask_plan(plan)["description"]
    for kind in ("path", "name"):
        for number in range(1, 4):
            masked_text = masked_text.replace(f"redacted_{kind}_{number}_{MARK}", kind.upper())
    assert masked_text == told


@pytest.mark.parametrize(
    "text",
    [
        "make parser",
        "Say hunter at the door",
        "def token(text: str) -> str: ...",
        "password: str | None = None",
        'secret = os.environ["APP_SECRET"]',
        "TOKEN=$TOKEN make",
        'KEY="${KEY}"',
        "src/components/UserProfileSettings/indexOfAllThings.py",
        "class AbstractSingletonProxyFactoryBean2:",
        "install requests==2.32.3",
        shlex.join(["git", "log", "--format=%h %s"]),
    ],
)
def test_what_is_no_secret_is_sent(text: str) -> None:
    assert plan_masker().mask_text(text) == text


def test_what_is_given_to_an_option() -> None:
    argv = ["tool", "--api-token", "quiet", "--user", "bob:river", "-u", "plain", "--secret", "--dry-run"]
    step = {**full_plan()["steps"][0], "argv": argv, "validation": {"syntax_check": True, "test_after": argv}}
    masked_step = plan_masker().mask_plan(sent_of({**full_plan(), "steps": [step]}))["steps"][0]
    for arguments in (masked_step["argv"], masked_step["validation"]["test_after"]):
        assert "quiet" not in arguments
        assert "river" not in str(arguments)
        assert [arguments[at] for at in (0, 1, 3, 5, 6, 7, 8)] == [argv[at] for at in (0, 1, 3, 5, 6, 7, 8)]


@pytest.mark.parametrize(
    ("value", "elsewhere"), [("ab1x9", False), ("ab1x9z", True), ("meadowlarks", False), ("meadowlarkss", True)]
)
def test_from_which_length_on_a_value_is_taken_out_elsewhere(value: str, elsewhere: bool) -> None:
    step = {**full_plan()["steps"][0], "env": {"STAGE": value}, "content": f"as {value} says"}
    masked_step = plan_masker().mask_plan(sent_of({**full_plan(), "steps": [step]}))["steps"][0]
    assert value not in masked_step["env"]["STAGE"]
    assert (value not in masked_step["content"]) == elsewhere


def test_names_of_this_machine_and_of_its_user(asking: EnhancerRepository) -> None:
    asking.patch.setattr("platform.node", lambda: "willow.corp.test")
    asking.git("config", "user.name", "Rosalind Elsie")
    asking.patch.delenv("GIT_AUTHOR_NAME", raising=False)
    asking.patch.setenv("LOGNAME", "rosalind-e")
    personal_data = collect_personal_data(asking.project()[0])
    text = f"Rosalind Elsie and rosalind-e on willow in {asking.path} and {Path.home()}/notes"
    matches = [text[start:end] for start, end in [*personal_data.find_names(text), *personal_data.find_paths(text)]]
    assert {"Rosalind Elsie", "rosalind-e", "willow", str(asking.path), str(Path.home())} <= set(matches)


def test_what_leaks() -> None:
    step = {**full_plan()["steps"][0], "target": ".env", "content": "only plain words\nin two lines\n", "patch": None}
    masker = plan_masker()
    masker.mask_plan(sent_of({**full_plan(), "steps": [step]}))
    assert masker.has_leak("it says: only plain words\nin two lines.")
    assert not masker.has_leak("only plain words")
    assert masker.has_leak(f"ghp_{random_looking_text(1, 36)}")


def test_other_paths_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("execplan.agents.user_program.personal_data._is_there", lambda path: path in ("/corp", "/usr"))
    masked_text = plan_masker().mask_text(
        "cat /corp/secret/plans.txt /usr/bin/env /api/corp https://x.org/corp/a ./corp/b"
    )
    assert masked_text == f"cat redacted_path_1_{MARK} /usr/bin/env /api/corp https://x.org/corp/a ./corp/b"


def test_hostile_texts_take_no_time() -> None:
    covered = plan_masker()
    for text in (
        "token" * 10_000,
        "a" * 50_000,
        "-u a:" * 10_000,
        "password=" * 5_000,
        "a.a" * 15_000,
        "/x" * 25_000,
    ):
        covered.mask_text(text)
