#!/bin/sh
# Install the wheel in dist/ into an environment of its own, and run the main job with it.
set -eu
python=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check -c constraints.txt dist/*.whl
execplan="$work/venv/bin/execplan"
"$work/venv/bin/python" - <<'EOF' # an installation takes less than 30 MB beyond pip
import pathlib, sysconfig
packages = pathlib.Path(sysconfig.get_path("purelib"))
others = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
files = [path for path in packages.rglob("*") if path.is_file() and path.relative_to(packages).parts[0] not in others]
megabytes = sum(path.stat().st_size for path in files) / 1e6
print(f"installed: {megabytes:.0f} MB")
assert megabytes < 30
EOF
cd "$work"
git init -q repo
cd repo
"$execplan" --version
"$execplan" init -q
"$execplan" new -q "Build the parser" --task "Read lines" --purpose "Plans can be read."
"$execplan" lint --hook -q
"$execplan" done -q 1
"$execplan" status
"$execplan" explain tasks >/dev/null
"$execplan" new -q "Lines with a CR are lost" --template bugfix
"$execplan" lint --hook -q cr
templates=$("$work/venv/bin/python" -c 'from execplan.core.project import builtin_templates; print(builtin_templates.directory())')
cp "$templates/guides/1.md" .agent/PLANS.md
"$execplan" init -q --upgrade
cmp .agent/PLANS.md "$templates/PLANS.md"
case $templates in
"$work"/venv/*) echo "the wheel holds its templates" ;;
*) echo "the wheel does not hold its templates" >&2; exit 1 ;;
esac
