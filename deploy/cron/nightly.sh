#!/bin/sh
# Scores the texts of one day with beam-bleu: nightly.sh [DAY]. Without DAY it is yesterday, in UTC.
#
# cron or systemd starts it, see docs/scheduling.md. Copy it, and change the folders and the flags.
#
#   $TEXTS/DAY/systems/NAME.txt      one file for each system
#   $TEXTS/DAY/references/NAME.txt   one file for each stream of references
#   $TEXTS/DAY/_SUCCESS              written last, by whatever writes the texts
#   $SCORES/DAY/                     what beam-bleu writes
#
# $FLAGS: more flags of beam-bleu, separated by spaces. They come last: --partition NAME takes the
# place of the day's label, as a fixed test set needs it. --save_totals keeps what months need.
#
# The exit codes are those of beam-bleu. If the texts are not complete, the exit code is 3.
set -u
beam_bleu=${BEAM_BLEU:-/srv/beam-bleu/.venv/bin/beam-bleu}
texts=${TEXTS:-/data/translations}
scores=${SCORES:-/data/scores}
day=${1:-$(date --utc --date=yesterday +%F)}

if [ ! -e "$texts/$day/_SUCCESS" ]; then
  echo "nightly.sh: the texts of $day are not complete: there is no $texts/$day/_SUCCESS" >&2
  echo "  when they are complete, run: $0 $day" >&2
  exit 3
fi

for folder in systems references; do
  for file in "$texts/$day/$folder"/*.txt; do
    [ -e "$file" ] && continue 2
  done
  echo "nightly.sh: there are no *.txt in $texts/$day/$folder" >&2
  echo "  when they are there, run: $0 $day" >&2
  exit 3
done

set --
for file in "$texts/$day/systems"/*.txt; do set -- "$@" --candidates "$file"; done
for file in "$texts/$day/references"/*.txt; do set -- "$@" --references "$file"; done

# Without progress, stderr has only warnings and errors.
exec "$beam_bleu" "$@" --output "$scores/$day" --partition "$day" --progress off ${FLAGS-}
