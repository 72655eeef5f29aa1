#!/usr/bin/env bash
# Makes the film and the pictures of the texts anew, from a demo's tape: those of README.md in
# docs/, and picture.png in the folder of each lesson. Needs no display; the film needs ffmpeg.
#   scripts/pictures.sh
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Times differ from run to run; the pictures show those of this one.
./kvtape demo --no-window --tape "$work/demo.tape" >/dev/null

mkdir -p docs
./kvtape view "$work/demo.tape" --record docs/demo.gif --size 960x540 --panel grid \
    --from 0 --to 11 --fps 12 --speed 1.5
./kvtape view "$work/demo.tape" --screenshot docs/viewer.png --size 1280x720 --step 20 --within 0.6 \
    --cell 1,0,k,12

# Of each lesson's guide, in their order, a page that shows what the lesson is about.
pages=(2 2 3 3 3 2)
for folder in lessons/[0-9]*_*; do
    lesson=${folder#lessons/} lesson=$((10#${lesson%%_*}))
    ./kvtape view "$work/demo.tape" --screenshot "$folder/picture.png" --size 1280x720 \
        --lesson "$lesson" --page "${pages[lesson - 1]}"
done
echo "pictures: docs/demo.gif, docs/viewer.png and lessons/*/picture.png"
