#!/bin/sh
# Records a small program with known problems on this Mac, with tracekit and with xctrace alone, exports and analyzes what
# was recorded, and judges whether tracekit found what was planted. Needs Xcode.
#
#   PYTHON=.venv/bin/python scripts/mac/record.sh FOLDER [PLAN]
#
# PYTHON has tracekit. FOLDER, which must be new, receives recordings, exports, reports and summary.md. The exit status is
# 1 where Core ML's table has no rows, a planted problem is not found or found where there is none, or readers disagree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
mkdir "${1:?"usage: scripts/mac/record.sh FOLDER [PLAN]"}"
folder=$(cd "$1" && pwd)
plan=${2:-$here/plan.txt}

tracekit() { "$python" -m tracekit "$@"; }
step() { echo "== $*" >&2; }

# What the comparison of readers is about; the rest of the template takes an hour to export on a small machine.
exported="coreml-os-signpost ane-hw-intervals ane-hw-intervals-internal mps-hw-intervals metal-gpu-intervals"

step "this Mac"
{
    xcrun xctrace version
    sw_vers || :
    tracekit doctor || :
} >"$folder/machine.txt" 2>&1
cat "$folder/machine.txt" >&2

step "packages of Instruments"
"$python" "$here/packages.py" "$folder" || echo "status $?" >&2

step "models and program"
"$python" "$here/models.py" "$folder/models"
for model in Float16 Float32; do
    xcrun coremlcompiler compile "$folder/models/$model.mlpackage" "$folder/models"
done
xcrun swiftc -O -parse-as-library -swift-version 5 -o "$folder/planted" "$here/planted.swift"
codesign --force --sign - --entitlements "$here/entitlements.plist" "$folder/planted"

analyze() {
    # $1 is the recording, $2 the reader; the rest are outputs. Findings and unreadable tables have a status of their
    # own, and what is missing is judged below.
    recording=$1 reader=$2
    shift 2
    tracekit analyze "$recording" --reader "$reader" --no-config -q "$@" >/dev/null || echo "status $? ($reader)" >&2
}

while read -r mode model loads predictions problem <&3; do
    case $mode in "#"*) continue ;; esac
    set -- "$folder/planted" "$folder/models/$model.mlmodelc" "$mode" "$loads" "$predictions"
    step "$mode: recording with tracekit"
    tracekit record --no-prompt --time-limit 2m -o "$folder/$mode.trace" --launch -- "$@" || echo "status $?" >&2
    step "$mode: recording with xctrace alone"
    # It exits with 54 after many good recordings.
    xcrun xctrace record --template 'Core ML' --no-prompt --time-limit 2m --output "$folder/$mode-alone.trace" \
        --launch -- "$@" || echo "status $?" >&2

    for name in "$mode" "$mode-alone"; do
        step "$name: exporting and analyzing"
        trace=$folder/$name.trace export=$folder/$name-export
        mkdir "$export"
        xcrun xctrace export --input "$trace" --toc --output "$export/toc.xml" || continue
        for schema in $exported; do
            grep -q "schema=\"$schema\"" "$export/toc.xml" || continue
            xcrun xctrace export --input "$trace" --output "$export/$schema.xml" \
                --xpath "/trace-toc/run[@number=\"1\"]/data/table[@schema=\"$schema\"]" || rm -f "$export/$schema.xml"
        done
        analyze "$trace" native -o "$folder/$name.native.json" -o "$folder/$name.html" -o "$folder/$name.zip" --rows
        analyze "$trace" xctrace -o "$folder/$name.xctrace.json"
        analyze "$export" auto -o "$folder/$name.export.json"
    done
    : "$problem" # is for judge.py
done 3<"$plan"

step "judging"
"$python" "$here/judge.py" "$folder" "$plan"
