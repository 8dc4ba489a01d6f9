#!/bin/sh
# Scores the texts of one day with beam-bleu: nightly.sh [DAY]. Without DAY it is yesterday, in UTC.
#
# cron starts it, see docs/nights.md. Copy it, and change the folders and the flags.
# $TEXTS and $SCORES are folders of this machine or of an object store, such as s3://bucket/scores.
#
#   $TEXTS/DAY/systems/NAME.txt      one file for each system
#   $TEXTS/DAY/references/NAME.txt   one file for each stream of references
#   $TEXTS/DAY/_SUCCESS              written last, by whatever writes the texts
#   $SCORES/DAY/                     what beam-bleu writes
#
# $FLAGS: more flags of beam-bleu, separated by spaces. They come last: --partition NAME takes the
# place of the day's label, as a fixed test set needs it. --save_totals keeps what months need.
#
# $GATES: flags of `beam-bleu gate`, such as `--max_drop 0.5 --drop proven`. It compares the result
# with that of the last night before DAY that passed.
#
# $METRICS: the metrics of the last night, for Prometheus: see deploy/monitoring. It is a link to
# them, or a copy if $SCORES is on an object store.
#
# beam-bleu history $SCORES shows the scores of all nights.
#
# The exit codes are those of beam-bleu. If the texts are not complete, the exit code is 3.
set -u
beam_bleu=${BEAM_BLEU:-/srv/beam-bleu/.venv/bin/beam-bleu}
texts=${TEXTS:-/data/translations}
scores=${SCORES:-/data/scores}
day=${1:-$(date --utc --date=yesterday +%F)}

# beam-bleu looks for the files, because it knows object stores, too.
files=$("$beam_bleu" files \
  "$texts/$day/_SUCCESS" "$texts/$day/systems/*.txt" "$texts/$day/references/*.txt")
code=$?
if [ "$code" = 3 ]; then
  echo "nightly.sh: the texts of $day are not complete" >&2
  echo "  when they are complete, run: $0 $day" >&2
fi
[ "$code" = 0 ] || exit "$code"

set --
while IFS= read -r file; do
  folder=${file%/*}
  case ${folder##*/} in
    systems) set -- "$@" --candidates "$file" ;;
    references) set -- "$@" --references "$file" ;;
  esac
done <<END
$files
END

# Without progress, stderr has only warnings and errors.
set -- "$beam_bleu" "$@" --output "$scores/$day" --partition "$day" --progress off
if [ -z "${METRICS-}${GATES-}" ]; then
  exec "$@" ${FLAGS-}
fi

# A signal that this script gets is one to beam-bleu, which then ends in order.
run=
stopped=
trap 'stopped=yes; [ -z "$run" ] || kill -s TERM "$run"' HUP INT TERM
"$@" ${FLAGS-} &
run=$!
[ -z "$stopped" ] || kill -s TERM "$run"
wait "$run"
code=$?
while [ -n "$stopped" ]; do # perhaps the signal has ended `wait`, and not yet beam-bleu
  stopped=
  wait "$run"
  again=$?
  [ "$again" = 127 ] || code=$again # 127: the first `wait` had its exit code
done
run=

if [ "$code" = 0 ] && [ -n "${GATES-}" ]; then
  set --
  case " $GATES" in
    *" --max"[_-]drop*) set -- --against "$scores" ;;
  esac
  "$beam_bleu" gate "$scores/$day" "$@" $GATES
  code=$?
fi

# The gate has added its verdict.
if [ -n "${METRICS-}" ]; then
  case $scores in
    *://*) "$beam_bleu" copy "$scores/$day/metrics.prom" "$METRICS" ;;
    *) ln -sfn "$scores/$day/metrics.prom" "$METRICS" ;;
  esac
fi
exit $code
