//! Failures on demand.

use super::*;

fn try_buffer(null: &mut Null, slot: u32) -> NativeResult {
    null.create_buffer(slot, &BufferDesc::new("b", 16, BufferUsages::COPY_DST), MemoryClass::Device)
}

#[test]
fn allocations_fail_by_count() {
    let mut null = Null::new(NullConfig::executing());
    let control = null.control();
    control.fail_allocation(2);
    assert_eq!(try_buffer(&mut null, 0), Ok(()));
    assert_eq!(try_buffer(&mut null, 1), Err(BackendError::OutOfMemory { bytes: 16 }));
    assert_eq!(control.live(ResourceKind::Buffer), 1);
    assert_eq!(control.buffer_bytes(1), None);
    assert_eq!(try_buffer(&mut null, 1), Ok(()));
}

#[test]
fn allocations_fail_by_kind() {
    let mut null = Null::new(NullConfig::default());
    let control = null.control();
    control.fail_allocation_of(ResourceKind::Texture, 1);
    assert_eq!(try_buffer(&mut null, 0), Ok(()));
    let bytes = 64;
    assert_eq!(null.create_texture(0, &desc(COLOR, 4, 4)), Err(BackendError::OutOfMemory { bytes }));
    control.fail_allocation(1);
    control.clear_failures();
    assert_eq!(null.create_texture(0, &desc(COLOR, 4, 4)), Ok(()));
}

#[test]
fn a_failed_submission_signals_nothing() {
    let mut null = Null::new(NullConfig::executing());
    let control = null.control();
    control.fail_next_submit();
    let mut encoders = vec![null.begin("a").unwrap(), null.begin("b").unwrap()];
    assert!(matches!(null.submit(&mut encoders, 1, &[]), Err(BackendError::Failed { call: "submit", .. })));
    assert!(encoders.is_empty());
    assert_eq!((control.open_encoders(), control.submitted(), null.completed()), (0, vec![], Ok(0)));
    assert!(control.take_log().is_empty());
    submit(&mut null, |_, _| {});
    assert_eq!(null.completed(), Ok(1));
}

#[test]
fn the_device_is_lost_at_a_step() {
    let mut null = Null::new(NullConfig::manual());
    let control = null.control();
    try_buffer(&mut null, 0).unwrap();
    submit(&mut null, |encoder, null| encoder.clear_buffer(null, 0, 0, 16));
    let steps = control.steps();
    control.lose_device_at(3);
    assert_eq!(null.completed(), Ok(0));
    let encoder = null.begin("e").unwrap();
    assert!(matches!(null.submit(&mut vec![encoder], 2, &[]), Err(BackendError::DeviceLost(_))));
    assert_eq!(control.steps(), steps + 3);
    assert!(control.is_lost());
    let lost = || Err(BackendError::DeviceLost(format!("lost by the test at call {}", steps + 3)));
    assert_eq!(null.completed(), lost());
    assert_eq!(null.wait(1, Duration::MAX).map(|_| 0), lost());
    assert_eq!(try_buffer(&mut null, 1).map(|()| 0), lost());
    assert!(null.begin("e").is_err());
    // Nothing completes any more, and what was in flight may go.
    control.complete_all();
    assert_eq!(control.completed(), 0);
    null.destroy_buffer(0);
    assert_eq!((control.live_total(), control.open_encoders()), (0, 0));
}

#[test]
fn the_device_is_lost_now() {
    let mut null = Null::new(NullConfig::default());
    null.control().lose_now();
    assert!(matches!(null.completed(), Err(BackendError::DeviceLost(_))));
}
