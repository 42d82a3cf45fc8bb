//! A whole session goes the same way in WebAssembly as natively, bit for bit, after every command.

#[path = "../determinism/session.rs"]
mod session;

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
fn a_session_has_the_digests_written_down_natively() {
    let digests = session::digests(&session::play()).join("\n") + "\n";
    assert!(digests == session::WRITTEN_DOWN, "{digests}");
}

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
fn a_session_replayed_from_its_link_is_the_same_bits() {
    let live = session::play();
    assert_eq!(session::digests(&live), session::digests(&session::replay(&live)));
}
