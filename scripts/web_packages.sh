#!/bin/sh
# Installs what the tests of the HTML report need beyond Python, where it can be had: the npm packages of web/, and
# Chromium on a Debian where this user may install programs. It never fails: tests that lack something are skipped by name.
set -u
cd "$(dirname "$0")/../web" || exit

if command -v npm >/dev/null && ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
    timeout 120 npm ci --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 ||
        echo "The npm packages of web/ cannot be installed here; the tests that need them will be skipped." >&2
fi
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    timeout 180 sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium' >/dev/null 2>&1 ||
        echo "Chromium cannot be installed here; the tests of the HTML report in a browser will be skipped." >&2
fi
exit 0
