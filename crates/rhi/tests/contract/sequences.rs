//! Random sequences on device and model (see [`crate::model`]): 20,000 of them in four kinds of worlds.

use proptest::prelude::*;

use crate::model::{Completion, Setup, Step, run};

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..200)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn completed_at_once(steps in steps()) {
        run(Setup { completion: Completion::AtOnce, tight: false, lossy: false }, &steps);
    }

    #[test]
    fn completed_by_hand(steps in steps()) {
        run(Setup { completion: Completion::ByHand, tight: false, lossy: true }, &steps);
    }

    #[test]
    fn completed_at_random_with_losses(steps in steps(), seed in any::<u64>()) {
        run(Setup { completion: Completion::Random(seed), tight: false, lossy: true }, &steps);
    }

    #[test]
    fn at_ceilings_and_budgets(steps in steps(), seed in any::<u64>()) {
        let completion = if seed % 2 == 0 { Completion::ByHand } else { Completion::Random(seed) };
        run(Setup { completion, tight: true, lossy: false }, &steps);
    }
}
