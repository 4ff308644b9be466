#!/bin/sh
# Build the compiled wheel and check it in a copy of the checkout that contains the wheel's package instead of its own:
# tests of the compiled packages, real plans, and the same output as pure Python.
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
jobs=$2
if ! "$python" -c 'import os, shutil, sys, sysconfig
sys.exit(not (shutil.which("cc") and os.path.exists(sysconfig.get_path("include") + "/Python.h")))'; then
	echo "no C compiler, or no Python.h: the compiled wheel is not checked"
	[ "${EXECPLAN_TOOLS-}" != required ]
	exit
fi
checkout=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HATCH_BUILD_HOOKS_ENABLE=1 "$python" -m build --wheel --no-isolation --outdir "$work" . >"$work/build.log" 2>&1 ||
	{ tail -n 40 "$work/build.log" >&2; exit 1; }
mkdir "$work/tree"
cp -R .agent Makefile README.md constraints.txt docs pyproject.toml scripts templates tests "$work/tree"
[ ! -d build ] || cp -R build "$work/tree" # examples of the CommonMark specification
"$python" -m zipfile -e "$work"/*.whl "$work/tree"
export PYTHONPATH="$work/tree"
export EXECPLAN_CORPUS="${EXECPLAN_CORPUS:-$checkout/../shared/corpus}"
cd "$work/tree"
"$python" -m execplan --version | tee /dev/stderr | grep -q "(compiled)"
"$python" scripts/compare_builds.py "$checkout" .
"$python" scripts/corpus.py --check
"$python" -m pytest -q -n "$jobs" -p no:cacheprovider -m "not hypothesis" \
	tests/test_clock.py tests/test_cases.py tests/text tests/plan tests/linter
