#!/usr/bin/env bash
# Build the released page into dist/ with Trunk.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
use_wasm_rust
# The references between functions and data stay in what the linker writes: scripts/page/data.mjs reads them.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-Clink-arg=--emit-relocs"
# Trunk must not fetch tools of its own; what it needs is on PATH. Cargo may still fetch crates.
cargo fetch --quiet --locked --target wasm32-unknown-unknown
trunk --quiet build --release --offline --locked
