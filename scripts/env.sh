# Sourced by the other scripts: pinned versions, where tools are kept, and which Rust builds WebAssembly.

trunk_version=0.21.14
wasm_bindgen_version=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/version = |"/, ""); print; exit }' Cargo.lock)
binaryen_version=132

# Tools that the project builds for itself live outside the checkout, keyed by version, so that a second clone is warm.
tools=${KUBESTEP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/kubestep}
trunk_root=$tools/trunk-$trunk_version
wasm_bindgen_root=$tools/wasm-bindgen-$wasm_bindgen_version
export PATH="$trunk_root/bin:$wasm_bindgen_root/bin:$PATH"

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
fail() { printf '\033[31m%s\033[0m\n' "$*" >&2; exit 1; }

# The rustup toolchain builds WebAssembly when it has the target.
has_rustup_target() {
  local sysroot
  sysroot=$(rustc --print sysroot 2>/dev/null) && [ -d "$sysroot/lib/rustlib/wasm32-unknown-unknown/lib" ]
}

# Debian's rustc-web does when its sources and linker are there; it has no ready-made standard library.
has_debian_target() {
  [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -x /usr/bin/wasm-ld-22 ] &&
    dpkg-query -W -f '${db:Status-Status}\n' rustc-web rust-web-src 2>/dev/null | grep -c '^installed$' | grep -qx 2
}

# Point cargo, Trunk and the test runner at the Rust that can build WebAssembly. A target folder of its own keeps these
# builds from waiting for native ones.
use_wasm_rust() {
  # Trunk takes NO_COLOR for a flag of its own and refuses the value 1 that the convention knows.
  unset NO_COLOR
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/page"
  has_rustup_target && return
  has_debian_target || fail "No Rust for wasm32-unknown-unknown here: run 'scripts/setup.sh wasm' first."
  export PATH="$trunk_root/bin:$wasm_bindgen_root/bin:/usr/bin:$PATH"
  export RUSTC=/usr/bin/rustc CARGO=/usr/bin/cargo RUSTC_BOOTSTRAP=1
  # The standard library is built along with the page, so it can be built small: sorting alone saves a tenth.
  export CARGO_UNSTABLE_BUILD_STD=std,panic_abort CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22
}

# The browser for tests: $CHROMIUM, or the first of the usual names.
find_chromium() {
  local name
  if [ -n "${CHROMIUM:-}" ]; then printf '%s\n' "$CHROMIUM"; return; fi
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" && return
  done
  return 1
}

find_chromedriver() {
  if [ -n "${CHROMEDRIVER:-}" ]; then printf '%s\n' "$CHROMEDRIVER"; return; fi
  command -v chromedriver
}
