#!/usr/bin/env bash
# Tests of ./kvtape, the launcher, against stand-ins: cmake, apt-get, dpkg-query, sudo, id and uname
# are small scripts in a folder that is the whole PATH. Nothing is installed and nothing is built.
set -euo pipefail

source_dir=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CC CXX CXXFLAGS LDFLAGS KVTAPE_BUILD_DIR KVTAPE_CMAKE_FLAGS

# stand_in NAME: the command NAME becomes the script on standard input, with calls noted in $work/calls.
stand_in() {
    {
        printf '#!%s\necho "%s $*" >>"%s/calls"\n' "$(command -v bash)" "$1" "$work"
        cat
    } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A fresh clone on a fresh machine: nothing installed, root, a CPU like this one.
fresh_machine() {
    rm -rf "${work:?}"/{bin,clone,calls,installed}
    mkdir -p "$work/bin" "$work/clone/scripts" "$work/clone/lessons/01_one_token"
    touch "$work/calls" "$work/installed" "$work/clone/lessons/01_one_token/exercise.cpp"
    cp "$source_dir/kvtape" "$work/clone/"
    cp "$source_dir"/scripts/{packages.sh,terminal.sh,test_summary.awk} "$work/clone/scripts/"
    local tool
    for tool in awk bash cat chmod cut dirname env flock grep ln mkdir mktemp nproc paste printf readlink \
        realpath rm sed sleep sort tail touch; do
        ln -s "$(command -v "$tool")" "$work/bin/$tool"
    done
    stand_in uname <<<'echo x86_64'
    stand_in id <<<'echo 0'
    stand_in tput <<<'echo 80'
    stand_in dpkg-query <<<"sed 's/\$/ installed/' '$work/installed'"
    # Installing a package brings its command.
    stand_in apt-get <<TEXT
for word in "\$@"; do
    case \$word in
        -* | DPkg* | update | install) ;;
        *)  echo "\$word" >>'$work/installed'
            case \$word in
                g++) ln -s '$work/compiler' '$work/bin/c++' ;;
                cmake) ln -s '$work/cmake' '$work/bin/cmake'; ln -s '$work/ctest' '$work/bin/ctest' ;;
                ninja-build) ln -s '$work/compiler' '$work/bin/ninja' ;;
            esac ;;
    esac
done
TEXT
    printf '#!/bin/sh\n' >"$work/compiler"
    cat >"$work/program" <<TEXT
#!$(command -v bash)
printf 'program in %s:' "\$PWD"
printf ' <%s>' "\$@"
exit 7
TEXT
    cat >"$work/cmake" <<TEXT
#!$(command -v bash)
echo "cmake \$*" >>'$work/calls'
build='$work/clone/build/release'
if [[ \$1 == -S ]]; then
    echo '-- talk'
    [[ ! -e '$work/configure_fails' ]] || { echo 'CMake Error: no Eigen'; exit 1; }
    touch "\$build/build.ninja"
else
    [[ ! -e '$work/build_fails' ]] || {
        printf '[1/2] good.cpp\nFAILED: bad.o\n/usr/bin/c++ -DX bad.cpp\nbad.cpp:1: error: bad\n'; exit 1; }
    [[ ! -e "\$build/cli/kvtape" ]] || { echo 'ninja: no work to do.'; exit 0; }
    echo '[1/2] a.cpp'
    mkdir -p "\$build/cli" "\$build/lessons" "\$build/viewer"
    ln -s '$work/program' "\$build/cli/kvtape"
    ln -s '$work/program' "\$build/lessons/lesson_01_exercise"
    ln -s '$work/program' "\$build/viewer/kvtape-view"
fi
TEXT
    cat >"$work/ctest" <<TEXT
#!$(command -v bash)
echo "ctest \$*" >>'$work/calls'
echo 'ctest ran'
cat >'$work/clone/build/release/test-results.xml' <<XML
<testcase name="a" status="run">
</testcase>
<testcase name="b" status="notrun">
<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>b_test.cpp:1: Skipped
no such CPU
</system-out>
</testcase>
XML
[[ ! -e '$work/tests_fail' ]] || exit 8
TEXT
    chmod +x "$work/compiler" "$work/program" "$work/cmake" "$work/ctest"
    rm -f "$work"/{build_fails,configure_fails,tests_fail}
}

# Runs the launcher; leaves $status, $out (standard output) and $err (standard error).
launch() {
    status=0
    PATH=$work/bin "${launcher:-$work/clone/kvtape}" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    out=$(<"$work/out")
    err=$(<"$work/err")
}

checks=0
failures=0
# expect_equal WHAT WANTED FOUND   expect_part WHAT PART FOUND   calls_of REGEX (of a whole call)
expect_equal() {
    checks=$((checks + 1))
    [[ $2 == "$3" ]] && return 0
    failures=$((failures + 1))
    printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
}
expect_part() {
    checks=$((checks + 1))
    [[ $3 == *"$2"* ]] && return 0
    failures=$((failures + 1))
    printf 'FAILED: %s\n  expected: ... %s ...\n  found:    %s\n' "$1" "$2" "$3"
}
calls_of() { grep -c "^$1" "$work/calls" || true; }

# A bare machine: installs all, says why, builds, hands over; keeps folder, words and exit code.
fresh_machine
cd "$work"
launch run --prompt 'two words'
expect_equal 'exit code of the program' 7 "$status"
expect_equal 'folder and words of the program' "program in $work: <run> <--prompt> <two words>" "$out"
expect_part 'says what is missing' 'libeigen3-dev' "$err"
expect_part 'says why' 'vectors and matrices of the CPU reference' "$err"
expect_equal 'the package lists are read once' 1 "$(calls_of 'apt-get .* update')"
expect_equal 'no test packages for run' 0 "$(calls_of 'apt-get .*libgtest')"
expect_equal 'no tests for run' 1 "$(calls_of 'cmake .*-DKVTAPE_TESTS=OFF')"

# The second time: silent, and nothing is installed or configured.
: >"$work/calls"
mkdir -p "$work/elsewhere"
ln -s "$work/clone/kvtape" "$work/elsewhere/link"
cd "$work/elsewhere"
launcher=./link
launch compare
launcher=
expect_equal 'through a link, from another folder' "program in $work/elsewhere: <compare>" "$out"
expect_equal 'silent when up to date' '' "$err"
expect_equal 'nothing is installed twice' 0 "$(calls_of apt-get)"
expect_equal 'nothing is configured twice' 0 "$(calls_of 'cmake -S')"

# Lessons need their programs too; an exercise is built and run alone.
: >"$work/calls"
launch lesson 1
expect_part 'lesson: handed to the program' '<lesson> <1>' "$out"
expect_equal 'lesson: its programs are built' 1 "$(calls_of 'cmake --build .*--target kvtape_cli lessons/all$')"
launch lesson 1 --exercise
expect_equal 'exercise: exit code' 7 "$status"
expect_equal 'exercise: built alone' 1 "$(calls_of 'cmake --build .*--target lesson_01_exercise$')"
launch lesson 9 --exercise
expect_equal 'no such exercise: exit code' 1 "$status"
expect_part 'no such exercise: message' 'lesson 9 has no exercise' "$err"

# The viewer brings its own packages, and is then configured.
: >"$work/calls"
launch view some.tape --step 3
expect_equal 'view: handed to the viewer' "program in $PWD: <some.tape> <--step> <3>" "$out"
expect_equal 'view: its packages alone' 1 "$(calls_of 'apt-get .* install .* libimgui-dev .*pkg-config$')"
expect_equal 'view: configured anew' 1 "$(calls_of 'cmake -S')"
expect_equal 'view: built alone' 1 "$(calls_of 'cmake --build .*--target kvtape_view$')"
touch demo.tape
launch lesson 1 --view
rm demo.tape
expect_part 'lesson with the viewer' '<demo.tape> <--lesson> <1>' "$out"
touch demo.tape
launch lesson --view 1
rm demo.tape
expect_part 'lesson with the viewer, the other way round' '<demo.tape> <--lesson> <1>' "$out"
launch lesson one --view
expect_part 'no such lesson: message' "'one' is not a number" "$err"

# Where standard output is no terminal, the demo opens no window.
DISPLAY=:0 launch demo --tape x.tape
expect_equal 'demo: without a window' "program in $PWD: <demo> <--tape> <x.tape>" "$out"
launch demo --no-window
expect_equal 'demo: the word is for the launcher' "program in $PWD: <demo>" "$out"

# Where it is one, and somebody sits before a display, it does; but not to show its help.
on_terminal() { DISPLAY=:0 PATH=$work/bin TERM=dumb script -qec "$work/clone/kvtape $*" /dev/null </dev/null; }
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    ln -s "$(command -v script)" "$work/bin/script"
    sed -i 's/^exit 7$/exit 0/' "$work/program"
    expect_part 'demo on a terminal: a window' '<x.tape>' "$(on_terminal demo --tape x.tape)"
    expect_part 'demo on a terminal: announced' 'opening a window' "$(on_terminal demo --tape x.tape)"
    for word in -h --help --json; do
        shown=$(on_terminal demo "$word")
        expect_part "demo $word on a terminal" "<demo> <$word>" "$shown"
        expect_equal "demo $word on a terminal: no window" 0 "$(grep -c 'opening a window' <<<"$shown" || true)"
    done
    sed -i 's/^exit 0$/exit 7/' "$work/program"
fi

# Tests need more packages, and stay configured afterwards.
launch test -R name
expect_equal 'only the new packages' 1 \
    "$(calls_of 'apt-get .* install --no-install-recommends libgtest-dev libgmock-dev xvfb xdotool libx11-dev x11-apps$')"
expect_part 'words for ctest' '-R name' "$(grep '^ctest' "$work/calls")"
expect_part 'why tests were skipped' 'skipped: 1 test: no such CPU' "$out"
expect_equal 'the counts close the run' '1 passed, 0 failed, 1 skipped' "${out##*$'\n'}"
: >"$work/calls"
launch run
expect_equal 'tests stay configured' 0 "$(calls_of 'cmake -S')"

touch "$work/tests_fail"
launch test
expect_equal 'failed tests: exit code of ctest' 8 "$status"
expect_equal 'failed tests: the counts close the run' '1 passed, 0 failed, 1 skipped' "${out##*$'\n'}"

# A configuration that was interrupted is made again.
rm "$work/clone/build/release/build.ninja"
: >"$work/calls"
launch run
expect_equal 'interrupted configuration' 1 "$(calls_of 'cmake -S')"

# Another compiler or another option configures anew; a compiler that is not there is named.
: >"$work/calls"
CXX=$work/compiler launch run
expect_equal 'another compiler' 1 "$(calls_of 'cmake -S .*--fresh')"
CXX=clang-of-tomorrow launch run
expect_equal 'missing compiler: exit code' 1 "$status"
expect_part 'missing compiler: message' "compiler 'clang-of-tomorrow' is not" "$err"
: >"$work/calls"
KVTAPE_CMAKE_FLAGS='-DA=1 -DB=2' launch run
expect_equal 'more options' 1 "$(calls_of 'cmake -S .* -DA=1 -DB=2')"

# A build that fails shows the error without commands and progress.
touch "$work/build_fails"
launch run
expect_equal 'failed build: exit code' 1 "$status"
expect_part 'failed build: the error' 'bad.cpp:1: error: bad' "$err"
expect_equal 'failed build: no commands' 0 "$(grep -c -e '-DX' -e good.cpp "$work/err" || true)"
fresh_machine
touch "$work/configure_fails"
launch run
expect_equal 'failed configuration: exit code' 1 "$status"
expect_part 'failed configuration: the error' 'CMake Error: no Eigen' "$err"

# Not root.
fresh_machine
stand_in id <<<'echo 1000'
launch run
expect_equal 'no root, no sudo: exit code' 1 "$status"
expect_part 'no root, no sudo: remedy' 'ask for: apt-get install g++ cmake' "$err"
expect_equal 'no root, no sudo: nothing tried' 0 "$(calls_of apt-get)"
stand_in sudo <<<'"$@"'
launch run
expect_equal 'with sudo' 7 "$status"
expect_equal 'sudo is asked for update and install' 2 "$(calls_of 'sudo env DEBIAN_FRONTEND=noninteractive apt-get')"

# apt-get fails.
fresh_machine
stand_in apt-get <<<'echo "E: no network"; exit 100'
launch run
expect_equal 'apt-get fails: exit code' 1 "$status"
expect_part 'apt-get fails: its own words' 'E: no network' "$err"
expect_part 'apt-get fails: remedy' 'by hand: apt-get install g++' "$err"

# Not Debian: the packages are named, and what is there is used.
fresh_machine
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
launch run
expect_equal 'no apt-get, no tools: exit code' 1 "$status"
expect_part 'no apt-get, no tools: named' 'libeigen3-dev' "$err"
expect_part 'no apt-get, no tools: not found' 'not found: c++ cmake ninja' "$err"
ln -s "$work/compiler" "$work/bin/c++"
ln -s "$work/compiler" "$work/bin/ninja"
ln -s "$work/cmake" "$work/bin/cmake"
launch run
expect_equal 'no apt-get, tools there' 7 "$status"
launch run
expect_equal 'no apt-get: said once' '' "$err"

# Another CPU is refused before anything is installed.
fresh_machine
stand_in uname <<<'echo aarch64'
launch run
expect_equal 'other CPU: exit code' 1 "$status"
expect_part 'other CPU: message' 'x86-64 CPUs with AVX2 and FMA' "$err"
expect_equal 'other CPU: nothing installed' 0 "$(calls_of apt-get)"
fresh_machine
rm "$work/bin/grep"
stand_in grep <<TEXT
[[ "\$*" == *cpuinfo* ]] || exec $(command -v grep) "\$@"
echo 'flags : fpu sse2 avx2 fma4'
TEXT
launch run
expect_equal 'old CPU: exit code' 1 "$status"
expect_part 'old CPU: message' "does not list 'fma'" "$err"
expect_equal 'old CPU: nothing installed' 0 "$(calls_of apt-get)"

# help touches nothing.
fresh_machine
launch help
expect_part 'help' './kvtape demo' "$out"
expect_equal 'help touches nothing' '' "$(<"$work/calls")"
launch
expect_part 'no verb: help' './kvtape demo' "$out"
launch help run
expect_part 'help of a verb' '<run> <--help>' "$out"

echo "$checks checks, $failures failed"
((failures == 0))
