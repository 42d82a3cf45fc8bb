#!/usr/bin/env bash
# What only the built command line can prove: every lesson can be played, and conformance is above its floors.
set -euo pipefail
cd "$(dirname "$0")/.."
kubestep() { cargo run --quiet --no-default-features --features cli --bin kubestep -- "$@"; }

if [ -d lessons ]; then kubestep lesson check lessons/; fi
if [ -d tests/conformance/recorded ]; then kubestep conformance tests/conformance/recorded --floors tests/conformance/floors.toml; fi
