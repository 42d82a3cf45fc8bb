#!/usr/bin/env bash
# Set up what is missing, and say nothing when nothing is. Parts: rust wasm trunk wasm-bindgen node browser.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Run a command with its output kept aside; show the end of it if the command fails.
quietly() {
  "$@" >"$log" 2>&1 && return
  tail -n 30 "$log" >&2
  return 1
}

# Install Debian packages when that is possible here; $1 says what for.
debian() {
  local purpose=$1 sudo=; shift
  command -v apt-get >/dev/null || fail "$purpose: not found, and this is no Debian or Ubuntu. Please install: $*"
  if [ "$(id -u)" != 0 ]; then
    { command -v sudo >/dev/null && sudo -n true 2>/dev/null; } ||
      fail "$purpose: not found. Please run:  sudo apt-get update && sudo apt-get install $*"
    sudo="sudo -n"
  fi
  say "Installing for $purpose: $*"
  quietly $sudo apt-get update || say "apt-get update failed; going on with the lists at hand."
  quietly $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
    fail "$purpose: apt-get could not install $*"
}

setup_rust() {
  command -v cargo >/dev/null || fail "Rust: not found. Install it from https://rustup.rs (1.95 or newer), then run this again."
}

setup_wasm() {
  has_rustup_target && return
  has_debian_target && return
  if command -v rustup >/dev/null; then
    say "Adding the target wasm32-unknown-unknown to the Rust toolchain"
    quietly timeout 300 rustup target add wasm32-unknown-unknown && has_rustup_target && return
    say "rustup could not get it; trying Debian's rustc-web."
  fi
  debian "the WebAssembly target" rustc-web cargo-web rust-web-src lld-22
  has_debian_target || fail "The WebAssembly target: not to be had. On a machine with network access:  rustup target add wasm32-unknown-unknown"
}

# Build a cargo tool into its own folder: NAME VERSION ROOT BINARY FLAGS…
cargo_tool() {
  local name=$1 version=$2 root=$3 binary=$4; shift 4
  say "Building $name $version (once for this machine; minutes)"
  mkdir -p "$root"
  CARGO_TARGET_DIR="$root/build" quietly cargo install "$name" --version "$version" --root "$root" "$@" ||
    fail "$name $version: cargo install failed"
  rm -rf "$root/build"
  [ -x "$root/bin/$binary" ] || fail "$name $version: $binary is missing after its installation"
}

setup_trunk() {
  [ "$(trunk --version 2>/dev/null)" = "trunk $trunk_version" ] && return
  cargo_tool trunk "$trunk_version" "$trunk_root" trunk --locked
}

setup_wasm_bindgen() {
  [ "$(wasm-bindgen --version 2>/dev/null)" = "wasm-bindgen $wasm_bindgen_version" ] &&
    command -v wasm-bindgen-test-runner >/dev/null && return
  cargo_tool wasm-bindgen-cli "$wasm_bindgen_version" "$wasm_bindgen_root" wasm-bindgen-test-runner
}

# Node itself, and the packages of package-lock.json.
setup_node() {
  local stamp=node_modules/.kubestep-lock
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then debian "Node.js" nodejs npm; fi
  [ "$(node -p 'process.versions.node.split(".")[0] >= 18')" = true ] ||
    fail "Node.js $(node --version) is too old: 18 or newer is needed, see https://nodejs.org"
  cmp -s package-lock.json "$stamp" && return
  say "Installing the npm packages of package-lock.json"
  quietly npm ci --prefer-offline --no-audit --no-fund || fail "npm ci failed"
  cp package-lock.json "$stamp"
}

# Chromium with its driver, and letters for Korean in screenshots.
setup_browser() {
  find_chromium >/dev/null && find_chromedriver >/dev/null ||
    debian "the browser tests" chromium chromium-driver
  if command -v dpkg-query >/dev/null && command -v fc-list >/dev/null; then
    [ -n "$(fc-list :lang=ko family)" ] || [ "$(id -u)" != 0 ] || debian "Korean letters in screenshots" fonts-noto-cjk
  fi
}

for part in "$@"; do
  case $part in
    rust | wasm | trunk | node | browser) "setup_$part" ;;
    wasm-bindgen) setup_wasm_bindgen ;;
    *) fail "setup: no part '$part' (rust wasm trunk wasm-bindgen node browser)" ;;
  esac
done
