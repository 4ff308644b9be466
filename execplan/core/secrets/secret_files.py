"""Name patterns of files with keys and passwords, shared by the guard, context packs, risk ratings and enhancers.

In a pattern, `*` matches any text; case is ignored. The module imports nothing, because each tool call loads it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

SECRET_FILES: Final = tuple(
    """.env .env.* *.env .envrc .netrc _netrc .pypirc .npmrc .htpasswd .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials
.vault-token .vault_pass* .vault-pass* .dockercfg .s3cfg .boto .passwd-s3fs .msmtprc .fetchmailrc .*_history .terraformrc terraform.rc
*.tfstate *.tfstate.backup *.tfvars *.tfvars.json *.ovpn *.kdbx *.kdb *.agekey .secret .secrets .token wallet.dat wp-config.php
*-credentials.json service-account*.json service_account*.json *firebase-adminsdk*.json client_secret*.json client-secret*.json
application_default_credentials.json token.json auth.json rclone.conf local.settings.json password.txt passwords passwords.txt
passwords.csv passwords.json passwords.yml passwords.yaml passwords.xlsx""".split()
)
"""Names of files with secrets."""
KEY_FILES: Final = tuple(
    "id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.pk8".split()
)
"""Names of key files; those in a repository's test directories contain made-up keys."""
AMBIGUOUS_FILES: Final = tuple(
    "credentials credentials.* secrets secrets.* *.secrets kubeconfig kubeconfig.* *.kubeconfig".split()
)
"""Names that a module or a document may also have."""
SECRET_DIRECTORIES: Final = tuple(
    """.ssh .aws .gnupg .kube .azure .oci .password-store .secrets .config/gcloud .config/gh .config/hub .config/op .config/doctl
.config/heroku""".split()
)
"""Directories in which every file is secret."""
SECRET_PATHS: Final = tuple(
    """.docker/config.json .config/containers/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
.config/hub .config/git/credentials .composer/auth.json .bundle/config .gem/credentials""".split()
)
"""Files that are secret only in their directory."""
SYSTEM_PATHS: Final = tuple(
    """/etc/shadow* /etc/gshadow* /etc/sudoers* /etc/ssl/private/* /proc/*/environ /proc/*/mem /root/* /dev/mem /dev/kmem /dev/tcp/*
/dev/udp/* /run/secrets/* /var/run/secrets/*""".split()
)
"""Absolute paths of secret files."""
EXAMPLES: Final = tuple("*.example *.sample *.template *.dist *.pub *.example.* *.sample.*".split())
"""Names of examples and of public keys."""
CODE_SUFFIXES: Final = frozenset(
    """md rst adoc html htm css scss less svg png jpg vue svelte py pyi go rs ts tsx mts cts js jsx mjs cjs java kt kts scala rb erb cs c
h cc cpp hpp m mm swift dart ex exs erl clj lua pl r jl proto graphql feature""".split()
)
"""Suffixes of modules and documents."""
CODE_TYPES: Final = frozenset("css dart go graphql js lua py rust svg swift ts vue".split())
"""Types of files, as ripgrep names them, that have only such suffixes."""
TEST_DIRECTORIES: Final = frozenset("tests test fixtures testdata".split())
"""Directories of a repository in which keys are made up."""
DOCUMENTED_PATTERNS: Final = (
    *SECRET_FILES,
    *KEY_FILES,
    *AMBIGUOUS_FILES,
    *[f"{name}/" for name in SECRET_DIRECTORIES],
    *SECRET_PATHS,
    *SYSTEM_PATHS,
)
"""All patterns, for the documentation."""
DIGEST_RULES: Final = (
    SECRET_FILES,
    KEY_FILES,
    AMBIGUOUS_FILES,
    SECRET_DIRECTORIES,
    SECRET_PATHS,
    SYSTEM_PATHS,
    EXAMPLES,
    sorted(CODE_SUFFIXES),
    sorted(TEST_DIRECTORIES),
)
"""All rules in a stable order, for a digest."""

_MAX_ENTRIES: Final = 20_000
"""Maximum number of names to compare with a file that has several names, about 50 ms."""
_SKIPPED_DIRECTORIES: Final = frozenset(
    ".git node_modules .venv venv __pycache__ .tox target .cache .mypy_cache".split()
)


def is_secret_file(path: str, *, is_directory: bool = False) -> bool:
    """Return whether a path, absolute or relative to a repository's root, has the name of a secret file.

    With `is_directory`, only directories of secrets count.
    """
    components = [
        component for component in path.replace("\\", "/").casefold().split("/") if component not in ("", ".")
    ]
    if not components:
        return False
    name, rooted_path = components[-1], f"/{'/'.join(components)}"
    if _matches_any(name, EXAMPLES):
        return False
    if path.startswith("/") and (_matches_any(rooted_path, SYSTEM_PATHS) or f"{rooted_path}/*" in SYSTEM_PATHS):
        return True
    if any([f"/{directory}/" in f"{rooted_path}/" for directory in SECRET_DIRECTORIES]):
        return True
    if is_directory:
        return False
    suffix = name.rpartition(".")[2]
    if any([rooted_path.endswith(f"/{secret_path}") for secret_path in SECRET_PATHS]) or (
        _matches_any(name, SECRET_FILES) and suffix not in CODE_SUFFIXES
    ):
        return True
    if _matches_any(name, KEY_FILES) and suffix not in CODE_SUFFIXES:
        return path.startswith("/") or TEST_DIRECTORIES.isdisjoint(components[:-1])
    return _matches_any(name, AMBIGUOUS_FILES) and suffix not in CODE_SUFFIXES


def find_hard_link(path: str, roots: Iterable[str]) -> str:
    """Return the secret file in one of the roots to which an absolute path is a hard link, or an empty string.

    The search covers only files with several names, and a limited number of directory entries per root.
    """
    import os

    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    if status.st_nlink < 2 or (status.st_mode & 0o170000) != 0o100000:
        return ""
    for root in dict.fromkeys(roots):
        remaining_entries, folders = _MAX_ENTRIES, [(root, "")]
        for folder, relative_directory in folders:  # the list grows in the loop: directories near the root first
            try:
                with os.scandir(folder) as iterator:
                    directory_entries = list(iterator)
            except OSError:
                continue
            remaining_entries -= len(directory_entries)
            for entry in directory_entries:
                relative_path = f"{relative_directory}/{entry.name}" if relative_directory else entry.name
                if (
                    entry.inode() == status.st_ino
                    and is_secret_file(relative_path)
                    and _is_on_device(entry.path, status.st_dev)
                ):
                    return entry.path
                if entry.name not in _SKIPPED_DIRECTORIES and entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, relative_path))
            if remaining_entries <= 0:
                break
    return ""


def _is_on_device(path: str, device: int) -> bool:
    import os

    try:
        return os.lstat(path).st_dev == device
    except OSError:
        return False


def _matches_any(text: str, patterns: tuple[str, ...]) -> bool:
    return any([_matches_pattern(text, pattern) for pattern in patterns])


def _matches_pattern(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern in which `*` matches any text."""
    prefix, star, _ = pattern.partition("*")
    if not star:
        return text == pattern
    *literals, suffix = pattern.split("*")[1:]
    if not (text.startswith(prefix) and text.endswith(suffix) and len(text) >= len(prefix) + len(suffix)):
        return False
    index, end = len(prefix), len(text) - len(suffix)
    for literal in literals:
        index = text.find(literal, index, end)
        if index < 0:
            return False
        index += len(literal)
    return True
