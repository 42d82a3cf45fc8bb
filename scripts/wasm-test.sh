#!/usr/bin/env bash
# Run tests/wasm in headless Chromium. Arguments go to the test binary.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
use_wasm_rust
CHROMEDRIVER=$(find_chromedriver) || fail "No chromedriver: run 'scripts/setup.sh browser', or set CHROMEDRIVER."
export CHROMEDRIVER CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=wasm-bindgen-test-runner
# The runner's patience, in seconds: the machine may be busy.
export WASM_BINDGEN_TEST_TIMEOUT=${WASM_BINDGEN_TEST_TIMEOUT:-300}
exec cargo test --profile page --target wasm32-unknown-unknown --no-default-features --test wasm -- "$@"
