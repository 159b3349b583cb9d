//! Every fixture on Vulkan, one test each.
//!
//! `PURLIN_VALIDATE=1` runs them under the validation layer with synchronization validation; one message fails.
//! `PURLIN_REQUIRE_GPU=1` fails where there is no adapter or layer; otherwise the test says what is missing and passes.

mod common;
#[path = "common/vulkan.rs"]
mod open;

use std::path::Path;

use purlin_conformance::{Fixtures, Verdict, for_each_fixture, keep_pictures_in, run};
use purlin_vulkan::Vulkan;

fn check(name: &str) {
    let fixture = Fixtures::<Vulkan>::named(name).expect("the list names it");
    if let Some(target) = Path::new(env!("CARGO_TARGET_TMPDIR")).parent() {
        keep_pictures_in(&target.join("conformance"));
    }
    let validate = common::is_set("PURLIN_VALIDATE");
    let Some(mut device) = open::open(name, validate) else { return };
    let adapter = device.adapter().clone();
    let messages = device.backend().messages();
    let answer = run(&mut device, fixture);
    drop(device);
    let texts = messages.take();
    match Verdict::of(name, &adapter, answer) {
        Verdict::Pass => {}
        Verdict::Fail(why) => {
            panic!("{name} on {}: {why}\nvalidation said:\n{}", adapter.name, texts.join("\n"))
        }
        other => println!("{name} on {}: {other}", adapter.name),
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
