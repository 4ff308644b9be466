"""What is a secret and what only looks like one; the samples are put together here, so that no scanner takes them for real."""

from __future__ import annotations

import pytest

from execplan.core.secrets.certain_secrets import find_secrets, mask_secrets

RANDOM = "Zk3Qw9Xb7Lm2Rt5Yc8Vn4Hj6Pd1Fg0Ts"  # 32 letters and digits
LONG = RANDOM + "uE4iO8aS2dW6" + RANDOM[::-1]
HEX = "9f3b7c1e5a2d8046b9e7f1c3a5d02846"

REAL = {
    "AWS access key": "AKIA" + "Q3EGRCW7T5ZLM2XB",
    "GitHub token": "ghp_" + RANDOM + "uE4i",
    "GitLab token": "glpat-" + RANDOM[:20],
    "Slack token": "xoxb-" + "281930475612-" + RANDOM[:24],
    "Stripe key": "sk_live_" + RANDOM[:24],
    "Google API key": "AIza" + RANDOM + "-uE",
    "Anthropic key": "sk-ant-api03-" + LONG,
    "API key": "sk-proj-" + LONG,
    "npm token": "npm_" + RANDOM + "uE4i",
    "PyPI token": "pypi-AgE" + LONG,
    "DigitalOcean token": "dop_v1_" + HEX + HEX[::-1],
    "JSON Web Token": f"eyJ{RANDOM[:18]}.eyJ{RANDOM[:24]}.{LONG[:43]}",
}


LETTERS = "ZkQwXbLmRtYcVnHjPdFgTsuEiOaSdWqKyB"

REAL |= {
    "Hugging Face token": "hf_" + LETTERS,
    "GitLab runner": "glrt-t1_" + RANDOM[:20],
    "Google client secret": "GOCSPX-" + RANDOM[:12] + "_" + RANDOM[13:28],
    "Figma token": "figd_" + RANDOM[:9] + "-" + LETTERS[:24],
}
REAL["GitLab token"] = REAL.pop("GitLab runner")


@pytest.mark.parametrize("kind", REAL)
@pytest.mark.parametrize("line", ["{}", "`{}`", "export KEY={} && run", '"{}",', "the key 열쇠 {}.", "<!-- {} -->"])
def test_a_secret_is_found_to_the_character(kind: str, line: str) -> None:
    source = "Words before.\n" + line.format(REAL[kind]) + "\nWords behind."
    assert [(secret.kind, source[secret.start : secret.end]) for secret in find_secrets(source)] == [(kind, REAL[kind])]


@pytest.mark.parametrize("line", ["{}", "`{}`", "<{}>", "curl {} -d x", '"{}",', "[hook]({}).", "It is {}."])
def test_a_webhook_is_found_to_the_character(line: str) -> None:
    secret = f"T01AB2CD3EF/B04GH5IJ6KL/{RANDOM[:24]}"
    source = line.format(f"https://hooks.slack.com/services/{secret}")
    assert [(match.kind, source[match.start : match.end]) for match in find_secrets(source)] == [
        ("Slack webhook", secret)
    ]


@pytest.mark.parametrize(
    "text",
    [
        f'password = "{RANDOM}"',
        f"API_KEY={RANDOM}",
        f"client-secret: {RANDOM}",
        f"Authorization: Bearer {RANDOM}",
        f"DB_PASSWORD='{HEX}'",
        f"postgres://app:{RANDOM[:12]}@db.prod.acme.net/x",
        f"redis://:{RANDOM[:12]}@cache:6379/0",
        f"redis://:{RANDOM[:9]}@cache.acme.net:6379",
        f"PGPASSWORD={RANDOM[:12]} psql -h db",
        f"password: {RANDOM[:14]}",
        f"**Password:** `{RANDOM[:14]}`.",
        f'"db_password": "{RANDOM[:6]}#!{RANDOM[6:12]}",',
        f"curl -u ann:{RANDOM[:10]} https://api.acme.net/x",
        f"curl -s -u 'ann:{RANDOM[:10]}' https://api.acme.net/x",
        f"AccountName=acme;AccountKey={RANDOM}+/{RANDOM}==;EndpointSuffix=core",
    ],
)
def test_a_random_value_under_the_name_of_a_secret_is_found(text: str) -> None:
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA" + "X" * 16,
        "ghp_" + "x" * 36,
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-1234567890abcdef1234567890abcdef1234567890abcdef",
        "sk-your-key-goes-here-your-key-goes-here",
        "OPENAI_API_KEY=<your-key>",
        'password = "correct-horse-battery"',
        f"password: {RANDOM[:11]}",
        "PGPASSWORD=postgres psql",
        "PGPASSWORD=$PROD_PASSWORD_2 psql",
        "password: <14CharactersMixed9>",
        "password: myPassword2And3",
        "password: Argon2.Hasher22Config",
        "The password of Zk3Qw9Xb7Lm2Rt",
        f"if password == {RANDOM[:14]}:",
        f"curl -u ann:{RANDOM[:10]} http://localhost:8080",
        "curl -u admin:admin123 https://api.acme.net",
        "curl -u name:password https://api.acme.net",
        f"git push -u origin:{RANDOM[:10]}",
        f"AccountKey={'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq'}/K1SZFPTOtr==",
        "AccountKey=abc==",
        f"redis://:{RANDOM[:12]}@localhost:6379",
        "redis://:password@cache:6379",
        "token = resolveAuthorizationTokenFromHeaders",
        "token: $GITHUB_TOKEN_FOR_RELEASES_2026",
        "commit " + HEX + "9f3b7c1e",
        "sha256: " + HEX * 2,
        "task-0123-risk-and-disk-management-2026-03-07-plan",
        "postgres://postgres:postgres@localhost:5432/app",
        "postgres://user:password1@db.example.com/app",
        "postgres://user:$PASSWORD_OF_DB@db.acme.net/app",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----",
        "gen3d_info_kv_get_many_selector_misplaced_error_is_actionable",
        "src/AbstractSingletonProxyFactoryBean2.java",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_a_private_key_is_found_whole() -> None:
    body = "\n".join([LONG[:64]] * 3)
    key = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"
    source = f"Use\n\n    {key}\n\nthen"
    assert [source[secret.start : secret.end] for secret in find_secrets(source)] == [key]


def test_secrets_come_in_order() -> None:
    source = " ".join(REAL.values())
    secrets = find_secrets(source)
    assert [secret.kind for secret in secrets] == list(REAL)


def test_of_a_short_password_nothing_is_shown() -> None:
    assert mask_secrets(f"password: {RANDOM[:14]}") == "password: " + "*" * 14
    assert mask_secrets(f"password: {RANDOM}") == f"password: {RANDOM[:4]}" + "*" * 28
    assert mask_secrets(REAL["AWS access key"]) == "AKIA" + "*" * 16


@pytest.mark.parametrize(
    "part", ["password:", "PASSWORD=A1", "curl -u a:", "AccountKey=A", " -u ", "password" + " " * 9]
)
def test_much_of_a_name_is_no_work_without_end(part: str) -> None:
    assert find_secrets(part * (100_000 // len(part))) == []
