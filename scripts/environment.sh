#!/bin/sh
# Makes .venv hold tracekit and what it needs, and does nothing where it already does.
#
#   scripts/environment.sh runtime    what `tracekit` needs to run
#   scripts/environment.sh dev        the same, and what the checks need
#
# PYTHON=/path/to/python chooses the interpreter for a new .venv.
set -eu
cd "$(dirname "$0")/.."

kind=${1:?"usage: scripts/environment.sh runtime|dev"}
venv=.venv
python=$venv/bin/python

fail() {
    echo "$*" >&2
    exit 1
}

# $1 runs, is Python 3.11 or newer (and older than 3.$2), and can make an environment with pip.
fits() {
    "$1" -c "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, $2))" 2>/dev/null
}

candidates() {
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        command -v "$name" || :
    done
    for folder in "$HOME"/.pyenv/versions/*/bin "$HOME"/.local/share/uv/python/*/bin /opt/homebrew/bin /usr/local/bin \
        /Library/Frameworks/Python.framework/Versions/*/bin; do
        for name in python3.13 python3.12 python3.11 python3.14 python3; do
            [ ! -x "$folder/$name" ] || echo "$folder/$name"
        done
    done
}

# Versions that pip finds wheels of the pinned packages for come first, 3.14 among them, which is untested; a newer one is
# better than none.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        fits "$PYTHON" 99 || fail "PYTHON=$PYTHON is not a Python 3.11 or newer with the venv and ensurepip modules."
        echo "$PYTHON"
        return
    fi
    for newest in 15 99; do
        found=$(candidates | while IFS= read -r candidate; do
            if fits "$candidate" "$newest"; then
                echo "$candidate"
                break
            fi
        done)
        if [ -n "$found" ]; then
            echo "$found"
            return
        fi
    done
    fail "tracekit needs Python 3.11 or newer with its venv module, and none was found: install one (on Debian and" \
        "Ubuntu also the package python3-venv), or name it with 'make PYTHON=/path/to/python3 ...'."
}

# A stamp holds what it was made from, so that a changed pin, a moved checkout or a replaced Python installs again.
fingerprint() {
    pwd -P
    "$python" -VV
    cat pyproject.toml constraints.txt scripts/environment.sh hatch_scanner.py tracekit/recording/export/scan/*
    # The scanner is built where there is a compiler, and again when one comes.
    command -v "${CC:-cc}" gcc || :
}

if ! "$python" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    base=$(find_python)
    rm -rf "$venv"
    echo "Creating $venv with $("$base" -V) ..." >&2
    "$base" -m venv "$venv"
fi

now=$(fingerprint | cksum)
stamp=$venv/installed-$kind
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$now" ]; then
    exit 0
fi

if [ "$kind" = dev ]; then what='.[dev]'; else what=.; fi
echo "Installing tracekit into $venv (the first time takes a few minutes) ..." >&2
rm -f "$venv"/installed-*
# What builds tracekit is installed first, so that it is pinned like everything else. Nothing is compiled ahead: that takes
# as long as the rest of the installation, for 8,000 modules of which all the checks together import a third.
"$python" -m pip install -q --no-compile --disable-pip-version-check -c constraints.txt hatchling editables setuptools
"$python" -m pip install -q --no-compile --disable-pip-version-check -c constraints.txt --no-build-isolation -e "$what"
echo "$now" >"$stamp"
# Whoever has the larger set has the smaller one.
[ "$kind" != dev ] || echo "$now" >"$venv/installed-runtime"
