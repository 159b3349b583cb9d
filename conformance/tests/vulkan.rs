//! Every fixture on Vulkan, one test each.
//!
//! `PURLIN_VALIDATE=1` runs them under the validation layer with synchronization validation; one message fails.
//! `PURLIN_REQUIRE_GPU=1` fails where there is no adapter or layer; otherwise the test says what is missing and passes.

mod common;

use std::path::Path;

use purlin_conformance::{Fixtures, Outcome, for_each_fixture, keep_pictures_in, run};
use purlin_vulkan::Vulkan;

/// Fixtures that fail on a driver for a fault of the driver: fixture, part of the adapter's name, reason. One that
/// passes after all fails the test, so that the list stays true.
const EXPECTED_FAILURES: &[(&str, &str, &str)] = &[(
    "vertex_formats::the_lowest_normalized_number_is_minus_one",
    "llvmpipe",
    "vertex fetch divides -128 by 127 and does not clamp to -1, as VK_FORMAT_R8_SNORM demands",
)];

fn check(name: &str) {
    let fixture = Fixtures::<Vulkan>::named(name).expect("the list names it");
    if let Some(target) = Path::new(env!("CARGO_TARGET_TMPDIR")).parent() {
        keep_pictures_in(&target.join("conformance"));
    }
    let validate = common::is_set("PURLIN_VALIDATE");
    let Some(mut device) = common::open(name, validate) else { return };
    let adapter = device.adapter().name.clone();
    let expected = EXPECTED_FAILURES.iter().find(|(of, part, _)| *of == name && adapter.contains(part));
    let messages = device.backend().messages();
    let answer = run(&mut device, fixture);
    drop(device);
    let texts = messages.take();
    match answer {
        Ok(Outcome::Passed) => {
            assert!(expected.is_none(), "{name}: passes on {adapter}: take it off the list")
        }
        Err(failure) if expected.is_some() => {
            println!(
                "{name}: fails on {adapter} as written down: {}: {failure}",
                expected.map_or("", |(_, _, why)| why)
            );
        }
        Ok(Outcome::Unsupported(capability)) => println!("{name}: unsupported: {capability}"),
        Err(failure) => panic!("{name}: {failure}\nvalidation said:\n{}", texts.join("\n")),
    }
    assert_eq!(messages.count(), 0, "{name}: validation said:\n{}", texts.join("\n"));
}

macro_rules! tests {
    ($($topic:ident { $($name:ident)* })*) => {$(
        mod $topic {
            $(#[test]
            fn $name() {
                super::check(concat!(stringify!($topic), "::", stringify!($name)));
            })*
        }
    )*};
}

for_each_fixture!(tests);
