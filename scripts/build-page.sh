#!/usr/bin/env bash
# Build the released page into dist/ with Trunk.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
use_wasm_rust
# Trunk must not fetch tools of its own; what it needs is on PATH. Cargo may still fetch crates.
cargo fetch --quiet --locked --target wasm32-unknown-unknown
trunk --quiet build --release --offline --locked
