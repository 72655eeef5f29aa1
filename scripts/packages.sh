# The one list of the Debian packages that kvtape needs, and what each is for; and how they are
# installed. Sourced by ./kvtape and by .ci/run, after terminal.sh.
#
# A line is "package|command|purpose". Where a command is named, any installation of that command
# will do and the package is asked for only if the command is not found.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are read by the scripts that source this one

packages_to_build=(
    "g++|c++|compiles kvtape (GCC 12 or newer)"
    "cmake|cmake|configures the build (3.25 or newer)"
    "ninja-build|ninja|runs the build"
    "libeigen3-dev||vectors and matrices of the CPU reference"
    "nlohmann-json3-dev||model configuration, tokenizer and tape files"
    "libicu-dev||Unicode classes of the tokenizer"
    "libcli11-dev||command line options"
)

packages_to_view=(
    "libimgui-dev||Dear ImGui, which draws the viewer"
    "libglfw3-dev||windows and keys"
    "libopengl-dev||OpenGL"
    "libegl-dev||pictures without a window"
    "libgl1-mesa-dri||OpenGL without a graphics card"
    "libstb-dev||PNG files"
    "fonts-dejavu-core||the viewer's font"
    "pkg-config|pkg-config|finds Dear ImGui"
)

packages_to_test=(
    "libgtest-dev||GoogleTest, which runs the tests"
    "libgmock-dev||GoogleTest's matchers"
    "xvfb|Xvfb|a display in memory, for the window's tests"
    "xdotool|xdotool|presses keys in those tests"
    "libx11-dev||drops a file on the window in those tests"
    "x11-apps|xwd|reads the pixels back"
)

packages_to_check=(
    "git|git|lists the files to check"
    "clang|clang++|the second compiler, the sanitizers and the fuzzers"
    "libclang-rt-14-dev||run-time library of the sanitizers and fuzzers"
    "clang-format-14|clang-format-14|checks the layout of the source"
    "shellcheck|shellcheck|checks the shell scripts"
)

# Prints the lines of those packages that are not installed.
#   missing_packages "package|command|purpose"...
missing_packages() {
    local line package command known=""
    for line in "$@"; do
        known+=" ${line%%|*}"
    done
    # One query for all. It fails when a name is unknown, which only means "not installed".
    # shellcheck disable=SC2086
    known=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $known 2>/dev/null || true)
    for line in "$@"; do
        IFS='|' read -r package command _ <<<"$line"
        if [[ -n $command ]] && command -v "$command" >/dev/null; then
            continue
        fi
        grep -qxF "$package installed" <<<"$known" || printf '%s\n' "$line"
    done
}

# Installs what is missing: says what and why, then calls apt-get, through sudo where the caller
# is not root. Returns 1, after one line with the remedy, if that cannot be done.
#   install_packages "package|command|purpose"...
install_packages() {
    local missing line package purpose names=()
    missing=$(missing_packages "$@")
    [[ -z $missing ]] && return 0

    while IFS='|' read -r package _ _; do
        names+=("$package")
    done <<<"$missing"
    local by_hand="apt-get install ${names[*]}"

    local as_root=()
    if [[ $(id -u) != 0 ]]; then
        if ! command -v sudo >/dev/null; then
            say "these packages are missing and only root can install them; ask for: $by_hand"
            return 1
        fi
        as_root=(sudo)
    fi

    say "missing here, and installed now with ${as_root[*]:+sudo }apt-get:"
    while IFS='|' read -r package _ purpose; do
        printf '    %-20s %s\n' "$package" "$purpose" >&2
    done <<<"$missing"

    local log
    log=$(mktemp)
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y
               -o DPkg::Lock::Timeout=120)
    # An update may fail for a source that has nothing to do with us; the installation decides.
    if ! "${apt[@]}" update </dev/null 2>&1 | show_progress "reading the package lists" "$log"; then
        say "apt-get update reported errors; trying with the package lists as they are"
    fi
    if ! "${apt[@]}" install --no-install-recommends "${names[@]}" </dev/null 2>&1 |
        show_progress "installing" "$log"; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        say "installing failed (above); put it right, or install by hand: $by_hand"
        return 1
    fi
    rm -f "$log"
}
