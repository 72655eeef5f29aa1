#!/bin/sh
# Shows that NullTracer costs nothing: a worker's walk through a pass, with the attention kernel and the view in
# it, is compiled twice, as it is and with the statements that report to the tracer deleted from
# reference_cpu/kv_view.h and reference_cpu/forward_body.h. The assembly must be the same, instruction for
# instruction.
#
# usage: null_tracer.sh COMPILER SOURCE_DIR EIGEN_INCLUDE_DIR
# The flags are its own, so the build type and sanitizers around it do not matter.
set -eu
compiler=$1 source=$2 eigen=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/probe.cpp" <<'PROBE'
#include "reference_cpu/forward_body.h"
template class kvtape::KvView<kvtape::NullTracer>;
template class kvtape::detail::Pass<float, kvtape::NullTracer>;
PROBE

# Two include roots that differ in the files with reports.
for root in with without; do
    mkdir -p "$work/$root/reference_cpu"
    ln -s "$source/core" "$source/tracer" "$work/$root/"
    ln -s "$source"/reference_cpu/*.h "$work/$root/reference_cpu/"
done
delete_reports() { # FILE EXPECTED_NUMBER
    from=$source/reference_cpu/$1 to=$work/without/reference_cpu/$1
    rm "$to"
    sed -e '/tracer_\.[a-z]*(.*;$/d' -e '/tracer_\.[a-z]*(/,/;$/d' "$from" > "$to"
    reports=$(grep -c 'tracer_\.[a-z]*(' "$from")
    left=$(grep -c 'tracer_\.[a-z]*(' "$to" || true)
    if [ "$reports" -ne "$2" ] || [ "$left" -ne 0 ]; then
        echo "$1 has $reports reports to the tracer, $left were not deleted; expected $2 and 0"
        exit 1
    fi
}
delete_reports kv_view.h 2
delete_reports forward_body.h 9

failed=0
for level in -O2 -O3; do
    for root in with without; do
        "$compiler" -std=c++20 $level -mavx2 -mfma -ffp-contract=off -w -S -I"$work/$root" \
            -isystem "$eigen" "$work/probe.cpp" -o "$work/$root.s"
        # Instructions only: no directives, labels or comments.
        sed -e 's/[[:space:]]*#.*//' "$work/$root.s" |
            grep -E '^[[:space:]]+[a-z]' > "$work/$root.instructions"
    done
    count=$(wc -l < "$work/with.instructions")
    if [ "$count" -lt 100 ]; then
        echo "only $count instructions were found in the assembly"
        failed=1
    elif diff "$work/without.instructions" "$work/with.instructions" > "$work/difference"; then
        echo "$compiler $level: the same $count instructions with and without the reports"
    else
        echo "$compiler $level: the reports to NullTracer left instructions behind:"
        head -20 "$work/difference"
        failed=1
    fi
done
exit $failed
