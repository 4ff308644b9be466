#!/bin/sh
# Compile git for Windows, which tests/test_windows.py runs in Wine: windows_git.sh SOURCE
#
# SOURCE is a directory with git's source, as `apt-get source git` unpacks it. Needs gcc-mingw-w64-x86-64 and
# libz-mingw-w64-dev, and takes a quarter of an hour. The result, .venv/windows/git/git.exe, has no shell, so git can't
# run hooks and merge drivers in Wine.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"
host=x86_64-w64-mingw32
# Windows doesn't distinguish the case of names, and git writes these headers in mixed case.
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
for header in NTSecAPI.h Psapi.h tlHelp32.h; do
	ln -s "/usr/share/mingw-w64/include/$(echo "$header" | tr '[:upper:]' '[:lower:]')" "$headers/$header"
done
# Wine has no names for pipes, which the check for terminals of MSYS expects.
grep -q '^#undef DETECT_MSYS_TTY' compat/winansi.c || sed -i '1i #undef DETECT_MSYS_TTY' compat/winansi.c
CPATH=$headers make -j "${JOBS:-2}" git.exe uname_S=MINGW uname_M=x86_64 uname_R=3 uname_O=Msys MSYSTEM=MINGW64 \
	CC=$host-gcc AR=$host-ar RC="$host-windres -O coff" EXTLIBS='-lws2_32 -lntdll -l:libz.a -l:libssp.a' INSTALL=install \
	USE_LIBPCRE= HAVE_LIBCHARSET_H= NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_ICONV=1 NO_OPENSSL=1 NO_PERL=1 NO_PYTHON=1 NO_TCLTK=1
mkdir -p "$root/.venv/windows/git"
$host-strip -o "$root/.venv/windows/git/git.exe" git.exe
