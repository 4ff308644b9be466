"""A home is made."""

from __future__ import annotations

import os
from functools import partial

from execplan.repo import settings as config
from execplan.repo import state, stock
from execplan.repo.adoption import settings_file
from execplan.repo.adoption.survey import guide
from execplan.repo.commit import commit_paths
from execplan.repo.home import ensure_inside
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.adoption.survey import Survey
    from execplan.repo.amend import WriteOptions


def init(survey: Survey, options: WriteOptions) -> tuple[str | None, tuple[str, ...]]:
    """Make what a survey says; what is there already stays as it is. The commit if one was made, and warnings."""
    home = survey.homes[0].home
    texts = {guide(home): stock.read_text("PLANS.md").encode("utf-8")}
    for each in survey.homes:
        texts[os.path.join(each.home.base, config.SETTINGS_FILE)] = settings_file.content(each.home.settings)
    replaced = {os.path.join(each.home.base, config.SETTINGS_FILE): each.old for each in survey.homes if each.old}
    made = [os.path.join(home.root, each.path) for each in survey.paths if each.made]
    for path in made:
        ensure_inside(home, os.path.dirname(path))
    if options.dry_run:
        return None, ()
    with state.lock(home, "home", "init"):
        for path in made:
            if path in replaced:
                put = partial(files.replace, path, replaced[path], texts[path], within=home.root)
                files.again(put, home.display_path(path))
            elif path in texts:
                files.create(path, texts[path], within=home.root, folders=True)
            else:
                files.make_folder(path, within=home.root)
    if options.should_commit(home):
        ours = [path for path, content in texts.items() if settings_file.holds(path, content)]
        done = commit_paths(home, "init", ours, "init", "init", {}, "init")
        return done.digest, done.warnings
    return None, ()
