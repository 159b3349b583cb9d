//! The rings (T2, T8): full, empty, wrapping, and nothing overwritten in flight; the frame arena's pages.

use proptest::prelude::*;
use purlin_rhi::null::{NullCommand, NullConfig};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

fn ring(upload_ring: u64) -> (Gpu, null::NullControl) {
    let config = NullConfig { wait_completes: false, ..NullConfig::manual() };
    device_with(config, StorageCeilings { upload_ring, ..StorageCeilings::default() })
}

#[test]
fn a_full_ring_answers_pending_and_recovers() {
    let (mut gpu, control) = ring(256);
    let data = buffer(&mut gpu, "data", 256, BufferUsages::empty());
    let first = gpu.write_buffer(*data, 0, &[1; 128]).unwrap();
    gpu.write_buffer(*data, 128, &[2; 128]).unwrap();
    let error = err(gpu.checked(|gpu| gpu.write_buffer(*data, 0, &[3; 16])));
    assert!(matches!(error, Error::Pending { .. }));
    refused(
        Err::<(), _>(error),
        &["upload of 16 bytes", "holds 256 of 256 bytes", "256 wait for a submission"],
    );
    gpu.flush_uploads().unwrap();
    refused(gpu.checked(|gpu| gpu.write_buffer(*data, 0, &[3; 16])), &["0 wait for a submission"]);
    assert_eq!(gpu.upload_state(first), Ok(UploadState::Queued));
    control.complete_all();
    gpu.write_buffer(*data, 0, &[3; 16]).unwrap();
    assert_eq!(gpu.uploads().in_use(), 16);
}

#[test]
fn more_than_the_ring_is_refused_for_good() {
    let (mut gpu, _control) = ring(256);
    let data = buffer(&mut gpu, "data", 512, BufferUsages::empty());
    let error = err(gpu.checked(|gpu| gpu.write_buffer(*data, 0, &[1; 260])));
    assert!(matches!(error, Error::CapacityExceeded { requested: 260, capacity: 256, .. }), "{error:?}");
    let error = err(gpu.checked(|gpu| gpu.create_buffer_with("big", BufferUsages::VERTEX, &[1; 300])));
    assert!(matches!(error, Error::CapacityExceeded { requested: 300, .. }), "{error:?}");
    assert_eq!(gpu.object_count(ResourceKind::Buffer), 1, "no ring yet, and none is left behind");
    assert_eq!(gpu.memory().logical, 512);
    gpu.write_buffer(*data, 0, &[1; 256]).unwrap();
}

#[test]
fn whatever_fits_the_ring_fits_it_when_it_is_empty() {
    let (mut gpu, control) = ring(256);
    let data = buffer(&mut gpu, "data", 256, BufferUsages::empty());
    // From every place at which the ring can stand still, all of it can be taken.
    for used in (16..=256).step_by(16) {
        gpu.write_buffer(*data, 0, &vec![1; used]).unwrap();
        gpu.flush_uploads().unwrap();
        control.complete_all();
        assert!(gpu.write_buffer(*data, 0, &[2; 256]).is_ok(), "after {used} bytes");
        gpu.flush_uploads().unwrap();
        control.complete_all();
    }
}

/// Five uploads of a third of the ring, before any work retires.
fn five_uploads(ring_size: u64, side: u32) {
    let (mut gpu, control) = ring(ring_size);
    let bytes = (side * side * 4) as usize;
    let mut images = Vec::new();
    let mut waited = 0;
    for value in 1..=5u8 {
        let image = texture(&mut gpu, "image", side, side, TextureUsages::TEXTURE_BINDING);
        let texels = vec![value; bytes];
        let write = |gpu: &mut Gpu| {
            gpu.write_texture(
                &TexturePlace::mip(*image, 0),
                extent(side, side, 1),
                &rows(side * 4, side),
                &texels,
            )
        };
        if let Err(error) = write(&mut gpu) {
            assert!(matches!(error, Error::Pending { .. }), "{error:?}");
            waited += 1;
            gpu.flush_uploads().unwrap();
            assert!(matches!(err(write(&mut gpu)), Error::Pending { .. }), "in flight is not free");
            control.complete_all();
            write(&mut gpu).unwrap();
        }
        images.push((image, value));
    }
    assert_eq!(waited, 1, "three fit, the fourth waits, the fifth fits");
    gpu.flush_uploads().unwrap();
    control.set_auto_complete(true);
    control.complete_all();
    for (image, value) in images {
        let mut recorder = gpu.record("read back").unwrap();
        let ticket = recorder.read_texture(&TexturePlace::mip(*image, 0), extent(side, side, 1)).unwrap();
        recorder.submit().unwrap();
        assert!(gpu.read_vec(&ticket).unwrap().iter().all(|byte| *byte == value), "image {value}");
    }
}

/// C013: a ring that wraps to its start is full, not empty.
#[test]
fn c013_staging_ring_full_wrap_64_mib() {
    // 2,304 x 2,304 x 4 bytes are 20.25 MiB.
    five_uploads(64 << 20, 2304);
}

#[test]
fn c013_staging_ring_full_wrap_exactly() {
    // 64 x 64 x 4 are 16 KiB, and three of them are all of the ring.
    five_uploads(3 * 16384, 64);
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize),
    Flush,
    Complete(u64),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the sizes and the pace, each buffer ends with its own bytes, and a wait for the GPU always helps.
    #[test]
    fn nothing_in_flight_is_overwritten(steps in prop::collection::vec(prop_oneof![
        4 => (1usize..=1024).prop_map(Step::Write),
        1 => Just(Step::Flush),
        1 => (0u64..3).prop_map(Step::Complete),
    ], 1..60)) {
        let (mut gpu, control) = ring(1024);
        let mut written = Vec::new();
        let mut newest = 0;
        for step in steps {
            match step {
                Step::Write(size) => {
                    let value = written.len() as u8;
                    let data = buffer(&mut gpu, "data", size as u64, BufferUsages::empty());
                    if gpu.write_buffer(*data, 0, &vec![value; size]).is_err() {
                        newest = gpu.flush_uploads().unwrap().ordinal();
                        control.complete_all();
                        gpu.write_buffer(*data, 0, &vec![value; size]).unwrap();
                    }
                    written.push((data, value, size));
                }
                Step::Flush => newest = gpu.flush_uploads().unwrap().ordinal(),
                Step::Complete(back) => control.complete_to(newest.saturating_sub(back)),
            }
        }
        gpu.flush_uploads().unwrap();
        control.complete_all();
        for (data, value, size) in &written {
            let bytes = control.buffer_bytes(data.slot()).unwrap();
            prop_assert!(bytes[..*size].iter().all(|byte| byte == value), "buffer {value}");
        }
    }
}

fn arena(frame_arena_page: u64) -> (Gpu, null::NullControl) {
    let config = NullConfig { wait_completes: false, ..NullConfig::manual() };
    device_with(config, StorageCeilings { frame_arena_page, ..StorageCeilings::default() })
}

#[test]
fn frame_data_is_packed_into_pages_by_alignment() {
    let (mut gpu, _control) = arena(1000);
    assert_eq!(gpu.frame_arena().page_size(), 1024);
    let slices: Vec<_> = (0..5).map(|_| gpu.push_frame_data(&[7; 200], 4).unwrap()).collect();
    let places: Vec<_> = slices.iter().map(|slice| slice.offset).collect();
    // Offsets serve as dynamic offsets, so the device's 256 is the least step.
    assert_eq!(places, [0, 256, 512, 768, 0]);
    assert_ne!(slices[3].buffer, slices[4].buffer);
    assert_eq!(gpu.frame_arena().pages(), 2);
    let wide = gpu.push_frame_data(&[], 512).unwrap();
    assert_eq!((wide.offset, wide.size), (512, 0));
}

#[test]
fn frame_data_is_checked() {
    let (mut gpu, control) = arena(1024);
    let error = err(gpu.checked(|gpu| gpu.push_frame_data(&[0; 1025], 4)));
    assert!(matches!(error, Error::CapacityExceeded { requested: 1025, capacity: 1024, .. }), "{error:?}");
    for alignment in [0, 3, 1 << 17, u64::MAX] {
        invalid(
            gpu.checked(|gpu| gpu.push_frame_data(&[0; 4], alignment)),
            "alignment",
            &["a power of two up to 65536"],
        );
    }
    assert_eq!(gpu.frame_arena().pages(), 0);
    control.fail_allocation(1);
    let error = err(gpu.checked(|gpu| gpu.push_frame_data(&[0; 4], 4)));
    assert!(matches!(error, Error::OutOfMemory { bytes: 1024, .. }), "{error:?}");
    assert_eq!(gpu.push_frame_data(&[0; 4], 4).unwrap().offset, 0);
}

#[test]
fn pages_in_flight_are_not_written_and_come_back_after() {
    let (mut gpu, control) = arena(1024);
    let target = buffer(&mut gpu, "target", 1024, BufferUsages::empty());
    let mut pages = Vec::new();
    for frame in 0..4u8 {
        let mut recorder = gpu.record("frame").unwrap();
        let data = recorder.push_frame_data(&[frame + 1; 256], 4).unwrap();
        // Pages are legal sources of copies, though no submission ever wrote them.
        recorder.copy_buffer(data, *target, u64::from(frame) * 256).unwrap();
        recorder.submit().unwrap();
        pages.push(data.buffer);
        if frame == 2 {
            control.complete_to(1);
        }
    }
    assert_eq!(pages[3], pages[0], "the only page that was free again");
    assert!(pages[0] != pages[1] && pages[1] != pages[2] && pages[0] != pages[2]);
    control.complete_all();
    let expected: Vec<u8> = (1..5).flat_map(|value| [value; 256]).collect();
    assert_eq!(control.buffer_bytes(target.slot()), Some(expected));
}

#[test]
fn frame_data_of_a_discarded_recording_stays_for_the_next() {
    let (mut gpu, _control) = arena(1024);
    let mut recorder = gpu.record("discarded").unwrap();
    let first = recorder.push_frame_data(&[1; 16], 4).unwrap();
    drop(recorder);
    let second = gpu.push_frame_data(&[2; 16], 4).unwrap();
    assert_eq!((second.buffer, second.offset), (first.buffer, 256));
}

/// Every draw finds its own data: the group of its page at its offset, and the bytes there.
#[test]
fn frame_data_for_a_hundred_thousand_draws() {
    const DRAWS: u32 = 100_000;
    let (mut gpu, control) = device(NullConfig::executing());
    let shape = group_layout(&mut gpu, &[entry(0, ShaderStages::VERTEX, dynamic_uniform(16)); 1]);
    let pipeline = pipeline_of(&mut gpu, &BOUND, &[*shape, *shape], &[]);
    let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    let mut groups: Vec<Owned<kind::BindGroup>> = Vec::new();
    let mut data_of = |index: u32| gpu.push_frame_data(&index.to_le_bytes().repeat(4), 16).unwrap();
    let slices: Vec<BufferSlice> = (0..DRAWS).map(&mut data_of).collect();
    let mut pages: Vec<Buffer> = Vec::new();
    for data in &slices {
        if pages.last() != Some(&data.buffer) {
            pages.push(data.buffer);
            groups.push(group(&mut gpu, *shape, &[BindGroupEntry::buffer_range(0, data.buffer, 0, 16)]));
        }
    }
    assert_eq!(groups.len() as u32, gpu.frame_arena().pages());
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&pass(&[cleared(*target)], &[]), |pass| {
            pass.set_pipeline(*pipeline.pipeline);
            let mut page = 0;
            for data in &slices {
                page += usize::from(data.buffer != pages[page]);
                for index in 0..2 {
                    pass.set_bind_group(index, *groups[page], &[data.offset as u32]);
                }
                pass.draw(0..3, 0..1);
            }
        })
        .unwrap();
    recorder.submit().unwrap();
    let memory: Vec<_> = pages.iter().map(|page| control.buffer_bytes(page.slot()).unwrap()).collect();
    let (mut count, mut page) = (0, 0);
    for command in draws(&control) {
        let NullCommand::Draw { changed, .. } = command else { panic!("{command:?}") };
        for found in &changed.groups {
            page = groups.iter().position(|group| group.slot() == found.slot).unwrap();
            let at = found.offsets[0] as usize;
            assert_eq!(memory[page][at..at + 4], u32::to_le_bytes(count), "draw {count}");
        }
        assert!(!changed.groups.is_empty(), "draw {count}");
        count += 1;
    }
    assert_eq!((count, page + 1), (DRAWS, pages.len()));
}
