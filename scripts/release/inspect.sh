#!/bin/sh
# Inspects what a release will publish, and writes beside it what it is made of and how to verify it.
#
#   scripts/release/inspect.sh FOLDER SOURCES OUTPUT
#
# FOLDER has the source distribution and wheels, SOURCES is the source distribution unpacked. Needs the programs of
# requirements.txt, and the network for pip-audit.
set -eu
folder=${1:?"usage: scripts/release/inspect.sh FOLDER SOURCES OUTPUT"}
sources=$2
output=$3

python -m twine check --strict "$folder"/*
check-wheel-contents "$folder"/*.whl
for wheel in "$folder"/*-abi3-*.whl; do
    abi3audit --strict --summary "$wheel"
done

# What a user gets with the tested versions: the parts list, and at the end whether a flaw of any of them is known.
mkdir -p "$output"
python -m venv "$output/environment"
pip() { "$output/environment/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install -q --no-deps --no-index --find-links "$folder" --only-binary :all: coreml-tracekit
pip install -q --no-compile -c "$sources/constraints.txt" coreml-tracekit
installed=$(pip freeze --exclude coreml-tracekit)
cyclonedx-py environment --output-reproducible --of JSON -o "$output/coreml-tracekit.cdx.json" "$output/environment"
rm -r "$output/environment"

python "$sources/scripts/release/formula.py" "$folder"/*.tar.gz >"$output/coreml-tracekit.rb"
cp "$folder"/* "$output"
(cd "$output" && sha256sum -- *.tar.gz *.whl *.json *.rb >SHA256SUMS)
echo "$installed" | pip-audit --strict --disable-pip --no-deps -r /dev/stdin
