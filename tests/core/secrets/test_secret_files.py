"""Files for secrets are known by their names, by hard links too, and modules, documents and examples are none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.agents.enhancer import mask
from execplan.agents.guard import protected_paths
from execplan.context.gathering import change_units, file_units
from execplan.core.secrets import secret_files
from execplan.core.secrets.secret_files import find_hard_link, is_secret_file
from execplan.execution.risk.risk_table import SECRETS, builtin_table
from execplan.execution.risk.row_matching import row_matches_path

if TYPE_CHECKING:
    from pathlib import Path

SECRET_FILES = """.env a/.env.local .ENV prod.env config/prod.env tests/.env .envrc .netrc _netrc .npmrc .pypirc .htpasswd .pgpass .my.cnf
.git-credentials .vault-token .dockercfg .docker/config.json /home/ann/.docker/config.json .kube/config .aws/config .aws/sso/cache/a.json
.gnupg/pubring.kbx .ssh/config .config/gcloud/x.db .config/gh/hosts.yml .m2/settings.xml terraform/prod.tfvars a.auto.tfvars
a.tfvars.json prod.tfstate prod.tfstate.backup id_rsa id_rsa.old deploy/id_ed25519 x/server.key A.PEM a.p12 a.keystore credentials
a/credentials.json credentials.toml my-credentials.json service-account-prod.json client_secret_1.json app-firebase-adminsdk-x.json
secrets secrets.yml prod.secrets kubeconfig deploy/kubeconfig.yaml prod.kubeconfig wp-config.php site/wp-config.php passwords.txt
passwords.csv wallet.dat .bash_history .psql_history /home/test/.ssh/id_rsa /home/test/id_rsa /etc/shadow /etc/shadow- /proc/1/environ
/proc/self/task/1/environ /root /root/notes.txt /run/secrets/x /etc/ssl/private ./x/../.env deploy//.env""".split()
NOT_SECRET = """.env.example .env.sample .env.production.example id_rsa.pub credentials.py docs/credentials.md passwords_test.py docs/passwords.md
src/environment.py environment.env.md keys.md a.keys env.py kubeconfig.go secrets.ts src/secrets.rs docs/secrets.md credentials.html
resources/lang/en/passwords.php package.json tests/fixtures/server.pem tests/id_rsa testdata/a.key config.json .docker/Dockerfile
src/config .env.d.ts history.py kube/config settings.xml /etc/passwd /usr/share/doc/credentials.md environ secrets/readme""".split()


@pytest.mark.parametrize("path", SECRET_FILES)
def test_a_file_for_secrets(path: str) -> None:
    assert is_secret_file(path)
    assert is_secret_file(path.upper())


@pytest.mark.parametrize("path", NOT_SECRET)
def test_another_file(path: str) -> None:
    assert not is_secret_file(path)


def test_a_package_is_no_file() -> None:
    assert not is_secret_file("src/credentials", is_directory=True)
    assert is_secret_file("a/.ssh", is_directory=True)


def test_a_hard_link_is_recognized_by_its_other_name(tmp_path: Path) -> None:
    project, root = tmp_path / "home", tmp_path / "repo"
    for path in (project / ".aws/config", root / "deploy/prod.env", root / "src/app.py", root / "node_modules/.env"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    roots = (str(root), str(project))
    for name, to in (("a", project / ".aws/config"), ("b", root / "deploy/prod.env"), ("c", root / "src/app.py")):
        os.link(to, root / f"{name}.txt")
    assert find_hard_link(str(root / "a.txt"), roots) == str(project / ".aws/config")
    assert find_hard_link(str(root / "b.txt"), roots) == str(root / "deploy/prod.env")
    assert not find_hard_link(str(root / "c.txt"), roots)
    assert not find_hard_link(str(root / "missing"), roots)
    assert not find_hard_link(str(root), roots)


def test_only_a_file_with_several_names_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")
    monkeypatch.setattr(os, "scandir", lambda path: pytest.fail("it looks through folders"))
    assert not find_hard_link(str(tmp_path / "a"), (str(tmp_path),))


def test_the_search_for_the_other_name_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_files, "_MAX_ENTRIES", 10)
    folder = tmp_path / "repo"
    for number in range(12):
        (folder / f"{number}/deep").mkdir(parents=True)
        (folder / f"{number}/deep/.env").write_text("x")
    os.link(folder / "0/deep/.env", tmp_path / "x")
    assert not find_hard_link(str(tmp_path / "x"), (str(folder),))
    monkeypatch.setattr(secret_files, "_MAX_ENTRIES", 1000)
    assert find_hard_link(str(tmp_path / "x"), (str(folder),))


def test_there_is_one_list() -> None:
    assert all([vars(module)["is_secret_file"] is is_secret_file for module in (file_units, change_units, mask)])
    (row,) = [row for row in builtin_table().rows if SECRETS in row.path]
    for path in SECRET_FILES:
        assert protected_paths.secret_reason(path), path
        assert row_matches_path(path, row), path
    for path in NOT_SECRET:
        assert not protected_paths.secret_reason(path), path
        assert not row_matches_path(path, row), path
