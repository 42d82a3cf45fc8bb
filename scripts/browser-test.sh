#!/usr/bin/env bash
# Run the journeys against dist/: all, or those named: browser-test.sh tests/browser/journeys/opens.test.mjs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
CHROMIUM=$(find_chromium) || fail "No Chromium: run 'scripts/setup.sh browser', or set CHROMIUM."
export CHROMIUM
rm -f tests/browser/shots/failed-*.png
[ $# -gt 0 ] || set -- tests/browser/journeys/*.test.mjs
exec node --test --test-reporter=spec --test-concurrency=2 "$@"
