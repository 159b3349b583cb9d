//! Fixtures against the backend without a GPU, to test the fixtures themselves.

use purlin_conformance::{Fixture, Fixtures, Outcome, run};
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::{Device, DeviceRequest};

/// What needs no GPU to be right: calls that are refused, states, what a device says of itself.
const WITHOUT_WORK: &[&str] = &[
    "draws::out_of_range_draws_are_refused",
    "formats::every_row_has_fixtures",
    "formats::shapes_hold_to_their_ends",
    "formats::what_every_device_has",
    "frames::upload_tickets_advance",
    "queries::c078_slots_never_written",
    "queries::mistakes_are_refused",
    "storage::eighty_objects_of_every_kind",
    "indirect::an_undeclared_tracked_buffer_is_refused",
    "indirect::arguments_outside_the_buffer_are_refused",
    "bindings::undeclared_writes_are_refused",
    "compressed::blocks_are_whole",
    "strips::c040_strip_format_on_a_list_is_refused",
    "textures::undefined_texels_are_not_read",
    "timings::frames_are_timed",
    "timings::passes_are_timed",
];

/// What copies alone decide, besides the topics of buffers and textures.
const BY_COPIES: &[&str] = &[
    "compressed::block_pitches",
    "compressed::boxes_of_blocks",
    "formats::copied_bit_by_bit",
    "frames::c013_the_upload_ring_full_and_wrapped",
    "frames::c015_upload_memory_stays_what_it_was",
    "frames::c024_destroyed_between_record_and_submit",
    "frames::dropped_recordings_leave_nothing",
    "frames::frame_data_as_copy_source",
    "storage::seventy_two_small_textures",
    "frames::t4_uploads_into_tracked_contents",
    "frames::textures_updated_while_in_use",
];

fn outcome(fixture: &Fixture<Null>, config: NullConfig) -> Result<Outcome, String> {
    let mut device = Device::from_backend(Null::new(config), &DeviceRequest::default()).unwrap();
    run(&mut device, fixture).map_err(|failure| failure.to_string())
}

#[test]
fn every_fixture_notices_when_nothing_is_done() {
    for fixture in Fixtures::<Null>::ALL {
        let outcome = outcome(fixture, NullConfig::default());
        let passed = outcome == Ok(Outcome::Passed);
        assert_eq!(passed, WITHOUT_WORK.contains(&fixture.name), "{}: {outcome:?}", fixture.name);
    }
}

#[test]
fn copies_are_right_with_rows_aligned_to_256() {
    let by_copies = |name: &str| {
        name.starts_with("buffers::") || name.starts_with("textures::") || BY_COPIES.contains(&name)
    };
    for fixture in Fixtures::<Null>::ALL.iter().filter(|fixture| by_copies(fixture.name)) {
        let config = NullConfig { execute: true, ..NullConfig::default() };
        assert_eq!(outcome(fixture, config), Ok(Outcome::Passed), "{}", fixture.name);
    }
}
