//! What must come out of WebAssembly exactly as it comes out of a native build. `make wasm-test` runs this binary in
//! headless Chromium; a native `cargo test` runs the same cases against the same constants.

mod determinism;
mod streams;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
