//! Sequences of calls on a null device and on the model of `crates/rhi/tests/contract/model`, for long runs:
//! `cargo xtask fuzz`.
#![no_main]

#[path = "../crates/rhi/tests/contract/model/mod.rs"]
mod model;
#[allow(dead_code, reason = "the contract tests use the rest")]
#[path = "../crates/rhi/tests/contract/support.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use model::{Completion, Setup, Step, run};

fuzz_target!(|data: &[u8]| {
    let Some((&[kind, seed], steps)) = data.split_first_chunk::<2>() else { return };
    let completion = match kind % 3 {
        0 => Completion::AtOnce,
        1 => Completion::ByHand,
        _ => Completion::Random(seed.into()),
    };
    let (tight, lossy) = (kind & 64 != 0, kind & 128 != 0);
    let steps: Vec<Step> = steps.as_chunks().0.iter().take(400).copied().collect();
    run(Setup { completion, tight, lossy }, &steps);
});
