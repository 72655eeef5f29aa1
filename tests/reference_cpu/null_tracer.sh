#!/bin/sh
# Shows that NullTracer costs nothing: the attention kernel and the view are compiled twice, as they are and
# with the lines that report to the tracer deleted from reference_cpu/kv_view.h. The assembly must be the
# same, instruction for instruction.
#
# usage: null_tracer.sh COMPILER SOURCE_DIR EIGEN_INCLUDE_DIR
# The flags are its own, so the build type and sanitizers around it do not matter.
set -eu
compiler=$1 source=$2 eigen=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/probe.cpp" <<'PROBE'
#include "reference_cpu/attention.h"
namespace kvtape {
template class KvView<NullTracer>;
template void attend<float, NullTracer>(KvView<NullTracer>&, const ModelShape&, const Attend&,
                                        const float*, float*, AttentionScratch<float>&);
}  // namespace kvtape
PROBE

# Two include roots that differ in one file.
for root in with without; do
    mkdir -p "$work/$root/reference_cpu"
    ln -s "$source/core" "$source/tracer" "$work/$root/"
    ln -s "$source"/reference_cpu/*.h "$work/$root/reference_cpu/"
done
rm "$work/without/reference_cpu/kv_view.h"
sed '/tracer_\.\(write\|read\)(/,/;$/d' "$source/reference_cpu/kv_view.h" \
    > "$work/without/reference_cpu/kv_view.h"
reports=$(grep -c 'tracer_\.[a-z]*(' "$source/reference_cpu/kv_view.h")
left=$(grep -c 'tracer_\.[a-z]*(' "$work/without/reference_cpu/kv_view.h" || true)
if [ "$reports" -ne 2 ] || [ "$left" -ne 0 ]; then
    echo "kv_view.h has $reports reports to the tracer, $left were not deleted; expected 2 and 0"
    exit 1
fi

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
