# How the scripts talk: one line at a time, to standard error. Standard output belongs to the
# program. Sourced by ./kvtape and by .ci/run.
# shellcheck shell=bash

say() {
    printf 'kvtape: %s\n' "$*" >&2
}

# Copies standard input to the file LOG. On a terminal, also draws its newest line over the last
# one, and wipes it in the end; elsewhere it says once that WHAT has begun.
#   command 2>&1 | show_progress WHAT LOG
show_progress() {
    local what=$1 log=$2 line width shown=""
    : >"$log"
    if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then
        width=$(tput cols 2>/dev/null || echo 80)
        while IFS= read -r line || [[ -n $line ]]; do
            printf '%s\n' "$line" >>"$log"
            line="kvtape: $what $line"
            printf '\r\033[K%s' "${line:0:width-1}" >&2
        done
        printf '\r\033[K' >&2
        return 0
    fi
    while IFS= read -r line || [[ -n $line ]]; do
        printf '%s\n' "$line" >>"$log"
        if [[ -z $shown ]]; then
            say "$what ..."
            shown=yes
        fi
    done
}
