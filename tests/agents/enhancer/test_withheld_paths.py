"""Which files git ignores, whatever the paths of a plan's steps look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.enhancer.enhancement import find_ignored_paths
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from tests.conftest import Folder


def test_paths_with_links_and_colons(repo: Folder) -> None:
    """Links are followed; what leads out of the repository counts as ignored."""
    repo.write(".gitignore", "secret.ini\n/local/\n")
    repo.write("real/x.py", "x = 1\n")
    for name, target in (("link", "real"), ("hidden", "local"), ("outside", "/usr")):
        (repo.path / name).symlink_to(target)
    ignored = [
        "real/secret.ini",
        "link/secret.ini",
        "hidden/x.py",
        "outside/x.py",
        "../x.py",
        "/etc/x.py",
        ":(top)/secret.ini",
    ]
    accepted = ["real/x.py", "link/x.py", "link", ":(bad)/x.py", ":!real/x.py", "*.ini", "new/x.py", "./real/./x.py"]
    project = project_discovery.find(str(repo.path))
    assert find_ignored_paths(project, [*ignored, *accepted]) == set(ignored)


def test_without_git_only_paths_out_of_the_project_count(plain: Folder) -> None:
    project = project_discovery.find(str(plain.path))
    assert find_ignored_paths(project, ["x.py", "../x.py"]) == {"../x.py"}
