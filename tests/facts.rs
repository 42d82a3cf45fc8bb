//! The facts of `tests/conformance/facts` as tests, a file of facts at a time.
//!
//! Every row is tried on the code and holds, or is counted in `tests/conformance/FACTS.md` with its reason as not
//! simulated or contradicted. A contradiction that is not listed there fails. `FACTS=write` in the environment writes
//! the list down again.

#![allow(clippy::unwrap_used)]

#[path = "facts/api_machinery.rs"]
mod api_machinery;
#[path = "facts/case.rs"]
mod case;
#[allow(dead_code)]
#[path = "facts/scene.rs"]
mod scene;

#[test]
fn api_machinery() {
    case::judge_file("api-machinery", api_machinery::judge);
}
