//! Promises about a whole cluster, whatever is asked of it: random sessions, and what is *always*, *eventually* and
//! *sometimes* true of them.
//!
//! The same sessions are drawn each time. `KUBESTEP_PROPERTY_CASES` asks for another number of them,
//! `KUBESTEP_PROPERTY_SEED` for other ones. A session that breaks a promise is made as short as it can be; its acts go into
//! `properties/found.rs`. `KUBESTEP_PROPERTY_TRACE=1` prints who wrote what, tick by tick.

#![allow(clippy::unwrap_used)]

mod properties {
    pub mod act;
    pub mod found;
    pub mod rest;
    pub mod watch;
}

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use properties::act::{Act, Ground, act};
use properties::watch::{Counters, Watch};

/// Sessions of a usual run.
const CASES: u32 = 72;

/// The seed of a usual run.
const SEED: u64 = 20_260_105;

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays a session to its end. Returns what was seen on the way.
fn play(acts: &[Act]) -> Result<Counters, TestCaseError> {
    let mut ground = Ground::default();
    let mut watch = Watch::new(&ground);
    for act in acts {
        for _ in 0..ground.perform(act) {
            ground.tick();
            ground.tell();
            watch.look(&mut ground)?;
        }
    }
    properties::rest::heal(&mut ground);
    properties::rest::untangle(&mut ground, &mut watch)?;
    properties::rest::wait_until_quiet(&mut ground, &mut watch)?;
    properties::rest::unstick(&mut ground, &mut watch)?;
    properties::rest::look(&mut ground)?;
    Ok(watch.counters)
}

#[test]
fn whatever_is_asked_the_promises_hold() {
    let cases = number_from("KUBESTEP_PROPERTY_CASES").map_or(CASES, |cases| cases as u32);
    let config = Config {
        cases,
        max_shrink_iters: 400,
        max_shrink_time: 40_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number_from("KUBESTEP_PROPERTY_SEED").unwrap_or(SEED).to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let seen = RefCell::new(Counters::default());
    let outcome = runner.run(&prop::collection::vec(act(), 1..40), |acts| {
        seen.borrow_mut().add(&play(&acts)?);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert_eq!(seen.never(), Vec::<&str>::new(), "what should happen sometimes never did: {seen:?}");
}

#[test]
fn what_was_found_stays_mended() {
    for (sentence, acts) in properties::found::sessions() {
        if let Err(broken) = play(&acts) {
            panic!("{sentence}: {broken}");
        }
    }
}
