#!/bin/sh
# Scores the texts of one day with beam-bleu: nightly.sh [DAY]. The default is yesterday, in UTC.
#
# Let cron start a copy with your folders and flags; see docs/nights.md. $TEXTS and $SCORES are
# folders of this machine or of an object store, such as s3://bucket/scores.
#
#   $TEXTS/DAY/systems/NAME.txt      one file for each system
#   $TEXTS/DAY/references/NAME.txt   one file for each stream of references
#   $TEXTS/DAY/_SUCCESS              written last, by whatever writes the texts
#   $SCORES/DAY/                     what beam-bleu writes
#
# $RECORDS: a pattern of files in $TEXTS/DAY, such as *.parquet, if these are records and not text.
# Name the columns in $FLAGS. $PREFIX: what stands before DAY in $TEXTS, such as dt= for a table with
# partitions: $TEXTS/dt=DAY/*.parquet and $TEXTS/dt=DAY/_SUCCESS.
#
# $FLAGS: more flags of beam-bleu, separated by spaces. They come last, so --partition NAME overrides
# the label of the day, as a fixed test set needs. --save_totals keeps the sums for whole months.
#
# $GATES: flags of `beam-bleu gate`, such as `--max_drop 0.5 --drop proven`, which compares the
# result with that of the last night before DAY that passed.
#
# $METRICS: where Prometheus finds the metrics of the last night (see deploy/monitoring): a link to
# them, or a copy if $SCORES is on an object store.
#
# beam-bleu history $SCORES shows the scores of all nights.
#
# The exit codes are those of beam-bleu; 3 if the texts are not complete.
set -uf # patterns in $FLAGS are for beam-bleu
beam_bleu=${BEAM_BLEU:-/srv/beam-bleu/.venv/bin/beam-bleu}
texts=${TEXTS:-/data/translations}
scores=${SCORES:-/data/scores}
day=${1:-$(date --utc --date=yesterday +%F)}
texts=$texts/${PREFIX-}$day

if [ -n "${RECORDS-}" ]; then
  set -- "$texts/$RECORDS"
else
  set -- "$texts/systems/*.txt" "$texts/references/*.txt"
fi
# beam-bleu itself looks for the files, because it also knows object stores.
files=$("$beam_bleu" files "$texts/_SUCCESS" "$@")
code=$?
if [ "$code" = 3 ]; then
  echo "nightly.sh: the texts of $day are not complete" >&2
  echo "  when they are complete, run: $0 $day" >&2
fi
[ "$code" = 0 ] || exit "$code"

if [ -n "${RECORDS-}" ]; then
  set -- --input "$1"
else
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
fi

# Without progress, stderr has only warnings and errors.
set -- "$beam_bleu" "$@" --output "$scores/$day" --partition "$day" --progress off
if [ -z "${METRICS-}${GATES-}" ]; then
  exec "$@" ${FLAGS-}
fi

# Signals are passed on to beam-bleu, which then ends in order.
run=
stopped=
trap 'stopped=yes; [ -z "$run" ] || kill -s TERM "$run"' HUP INT TERM
"$@" ${FLAGS-} &
run=$!
[ -z "$stopped" ] || kill -s TERM "$run"
wait "$run"
code=$?
while [ -n "$stopped" ]; do # the signal may have ended `wait` before beam-bleu has ended
  stopped=
  wait "$run"
  again=$?
  [ "$again" = 127 ] || code=$again # 127: the first `wait` already got its exit code
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

# Only now, because the gate has added its verdict.
if [ -n "${METRICS-}" ]; then
  case $scores in
    *://*) "$beam_bleu" copy "$scores/$day/metrics.prom" "$METRICS" ;;
    *) ln -sfn "$scores/$day/metrics.prom" "$METRICS" ;;
  esac
fi
exit $code
