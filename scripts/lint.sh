#!/usr/bin/env bash
# The rules of CONTRIBUTING.md that a search can check, over every file that git tracks or would
# track. Prints the lines that break a rule as "file:line:text"; exit code 1 if there are any.
set -uo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit 1

# What a folder may include, itself apart: the arrows of the house.
declare -A may_include=(
    [core]=""
    [tracer]="core"
    [reference_cpu]="core tracer"
    [cuda]="core tracer reference_cpu"
    [lessons]="core tracer reference_cpu cuda"
    [cli]="core tracer reference_cpu cuda"
    [bench]="core tracer reference_cpu cuda viewer"
    [viewer]="core tracer reference_cpu"
    [tests]="viewer core tracer reference_cpu cuda lessons cli bench support"
)

mapfile -t files < <(git ls-files --cached --others --exclude-standard | sort -u)
((${#files[@]} > 0)) || { echo "lint: git lists no files here"; exit 1; }

# The listed files whose names match REGEX.   named REGEX
named() { printf '%s\n' "${files[@]}" | grep -P -- "$1"; }
cxx='\.(h|cpp|cu|cuh)$'
text='(?<!\.png)(?<!\.gif)(?<!\.safetensors)(?<!\.npy)(?<!tokenizer\.json)(?<!^scripts/lint\.sh)$'

# Lines that match REGEX in the files named on standard input.   search REGEX
search() { xargs -r -d '\n' grep -nHP -- "$1"; }

# Reports what comes on standard input, if anything, as breaking RULE.   breaks RULE < <(...)
broken=0
breaks() {
    local found
    found=$(cat)
    [[ -n $found ]] || return 0
    printf 'lint: %s\n%s\n' "$1" "$found"
    broken=$((broken + 1))
}

breaks 'finish it or leave it out; plans belong in the issue tracker' \
    < <(named "$text" | search '\b(TODO|FIXME|XXX)\b')
breaks 'no path of one particular machine' \
    < <(named "$text" | search '(^|[\s"=(])/(work|home|root)/')

breaks 'include from the root of the house: "core/check.h"' \
    < <(named "$cxx" | search '^\s*#\s*include\s*"\.\.?/')
breaks 'a header has #pragma once' \
    < <(named '\.(h|cuh)$' | xargs -r -d '\n' grep -L '^#pragma once')
breaks 'name what you use, std::vector, instead of using namespace std' \
    < <(named "$cxx" | search '^\s*using namespace std\s*;')

for folder in "${!may_include[@]}"; do
    allowed="$folder ${may_include[$folder]}"
    allowed=${allowed% }
    breaks "$folder/ may include only: $allowed" \
        < <(named "^$folder/.*$cxx" | search "^\s*#\s*include\s*\"(?!(${allowed// /|})/)[a-z_]+/")
done
breaks 'of the viewer, only live mode needs the decoder' \
    < <(named "^viewer/(?!live_|gated_cache|pace_gate).*$cxx" |
        search '^\s*#\s*include\s*"reference_cpu/')
breaks 'Eigen stays in reference_cpu/, bench/ and tests/' \
    < <(named "^(core|tracer|cuda|lessons|cli|viewer)/.*$cxx" | search '^\s*#\s*include\s*<Eigen/')
# The system's exp differs between machines in the last bit; the one in core does not.
breaks 'use the exp of core/, not the one of the system or of Eigen' \
    < <(named "^(core|reference_cpu|cuda)/.*$cxx" |
        search '^(?!\s*//).*(\bstd::exp2?f?\s*\(|(?<![\w:.>])exp2?f\s*\(|\.exp\(\))')

if ((broken > 0)); then
    echo "lint: $broken rules broken"
    exit 1
fi
echo "lint: ${#files[@]} files keep the rules"
