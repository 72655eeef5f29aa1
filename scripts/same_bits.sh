#!/usr/bin/env bash
# Runs one prompt through several builds of the program and compares the hashes of all logits.
# Compiler, optimisation, sanitizers and vector width must not change a single bit; neither may the
# kind of cache, so that all hashes of one KV dtype are equal.
#
#   scripts/same_bits.sh PROGRAM...      each PROGRAM is a build/<preset>/cli/kvtape
set -euo pipefail
model=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../models/storyteller
prompt="Mia has 4821. Ben went to the market with a red lamp. Mia has"

# Prints the hash of all logits of one run.   logits_hash PROGRAM CACHE DTYPE
logits_hash() {
    "$1" run --model "$model" --prompt "$prompt" --max-tokens 12 --temperature 0 --ignore-eos \
        --cache "$2" --kv-cache-dtype "$3" --json |
        grep -oE '"logits_hash": *"[^"]+"' | cut -d '"' -f 4
}

differing=0
for dtype in f32 f16 bf16 fp8_e4m3 fp8_e5m2; do
    wanted=""
    # The rounded dtypes take the shortest way: their own conversions are what is compared here.
    caches=paged
    [[ $dtype == f32 ]] && caches="none contiguous paged"
    for program in "$@"; do
        for cache in $caches; do
            hash=$(logits_hash "$program" "$cache" "$dtype") ||
                { echo "same bits: no logits_hash from $program, $dtype, $cache"; exit 1; }
            verdict=""
            if [[ $hash != "${wanted:=$hash}" ]]; then
                verdict="   DIFFERS"
                differing=$((differing + 1))
            fi
            printf '%-9s %-10s %s  %s%s\n' "$dtype" "$cache" "$hash" "$program" "$verdict"
        done
    done
done
((differing == 0)) || { echo "same bits: $differing hashes differ"; exit 1; }
echo "same bits: all hashes of each KV dtype are equal in $# builds"
