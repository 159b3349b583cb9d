//! The validation layer in use reports a barrier that is missing. Without this its silence proves nothing.

mod common;
#[path = "common/vulkan.rs"]
mod open;

use purlin_conformance::canary;

#[test]
fn a_missing_barrier_is_reported() {
    if !common::is_set("PURLIN_VALIDATE") {
        println!("not run: PURLIN_VALIDATE is not set");
        return;
    }
    let Some(mut device) = open::open("canary", true) else { return };

    canary::write_then_read(&mut device, true).unwrap();
    let texts = device.backend().take_validation_messages();
    assert_eq!(device.validation_messages(), 0, "with barriers:\n{}", texts.join("\n"));

    canary::write_then_read(&mut device, false).unwrap();
    let texts = device.backend().take_validation_messages();
    assert!(
        texts.iter().any(|text| text.contains("SYNC-HAZARD")),
        "the layer does not see a missing barrier between two dispatches, so its silence proves nothing; it said {texts:?}"
    );
    assert!(device.validation_messages() > 0);
}
