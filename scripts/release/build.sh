#!/bin/sh
# Builds the source distribution of this checkout, the same to the byte for the same commit.
#
#   scripts/release/build.sh FOLDER [TAG]
#
# With TAG it fails where the version is not that of the tag. Needs what backend.txt has.
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?"usage: scripts/release/build.sh FOLDER [TAG]"}
tag=${2:-}

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
python -m hatchling build -t sdist -d "$folder"
if [ -n "$tag" ] && [ ! -f "$folder/coreml_tracekit-${tag#v}.tar.gz" ]; then
    echo "The tag $tag is not the version of what was built:" "$folder"/* >&2
    exit 1
fi
