#!/usr/bin/env bash
# Run one named step, show how long it took; with --begin and --end, sum up a whole run.
#   step.sh NAME COMMAND…    step.sh --begin    step.sh --end
set -uo pipefail
cd "$(dirname "$0")/.."
record=${CARGO_TARGET_DIR:-target}/steps.tsv

case $1 in
  --begin)
    mkdir -p "$(dirname "$record")"
    : >"$record"
    ;;
  --end)
    printf '\nEvery step passed:\n'
    awk -F '\t' '{ printf "  %5d s  %s\n", $1, $2; sum += $1; count++ } END { printf "  %5d s  in all\n\n%d passed, 0 failed\n", sum, count }' "$record"
    ;;
  *)
    name=$1
    shift
    printf '\033[1m== %s\033[0m\n' "$name"
    from=$SECONDS
    if "$@"; then
      [ -d "$(dirname "$record")" ] && printf '%d\t%s\n' "$((SECONDS - from))" "$name" >>"$record"
      exit 0
    fi
    printf '\033[31m== failed: %s\033[0m   (%s)\n' "$name" "$*" >&2
    exit 1
    ;;
esac
