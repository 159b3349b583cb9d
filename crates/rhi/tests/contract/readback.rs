//! Readbacks (T3): exact bytes, once, after completion; staging that is kept until it is safe.

use std::time::Duration;

use purlin_rhi::null::{NullConfig, POISON};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

fn staged(readback: u64) -> (Gpu, null::NullControl) {
    let config = NullConfig { wait_completes: false, ..NullConfig::manual() };
    device_with(config, StorageCeilings { readback, ..StorageCeilings::default() })
}

fn filled(gpu: &mut Gpu, bytes: &[u8]) -> Owned<kind::Buffer> {
    let made = buffer(gpu, "data", bytes.len() as u64, BufferUsages::empty());
    gpu.write_buffer(*made, 0, bytes).unwrap();
    made
}

fn read(gpu: &mut Gpu, buffer: Buffer, size: u64) -> Result<ReadTicket> {
    gpu.checked(|gpu| {
        let mut recorder = gpu.record("read")?;
        let ticket = recorder.read_buffer(slice(buffer, 0, size))?;
        recorder.submit()?;
        Ok(ticket)
    })
}

#[test]
fn a_result_is_delivered_once_after_completion() {
    let (mut gpu, control) = manual();
    let data = filled(&mut gpu, &[5; 16]);
    let mut recorder = gpu.record("frame").unwrap();
    let ticket = recorder.read_buffer(slice(*data, 4, 8)).unwrap();
    assert_eq!((ticket.len(), ticket.is_empty()), (8, false));
    recorder.submit().unwrap();
    let mut out = [9; 8];
    let error = err(gpu.checked(|gpu| gpu.read(&ticket, &mut out)));
    assert!(matches!(error, Error::Pending { .. }), "{error:?}");
    refused(Err::<(), _>(error), &["submission 1", "0 is complete"]);
    assert_eq!(out, [9; 8], "untouched");
    control.complete_all();
    invalid(gpu.checked(|gpu| gpu.read(&ticket, &mut [0; 7])), "out", &["8 bytes", "7"]);
    assert_eq!(gpu.read(&ticket, &mut out), Ok(()));
    assert_eq!(out, [5; 8]);
    out.fill(1);
    wrong_state(gpu.checked(|gpu| gpu.read(&ticket, &mut out)), &["delivered already"]);
    assert_eq!(out, [1; 8]);
    assert_eq!(gpu.readbacks().outstanding(), 0);
}

#[test]
fn a_ticket_is_of_its_device_and_its_submission() {
    let (mut gpu, _control) = manual();
    let data = filled(&mut gpu, &[5; 16]);
    let ticket = read(&mut gpu, *data, 16).unwrap();
    bad_handle(plain().read_vec(&ticket), HandleProblem::Foreign);
    let mut recorder = gpu.record("discarded").unwrap();
    let lost = recorder.read_buffer(slice(*data, 0, 16)).unwrap();
    drop(recorder);
    wrong_state(gpu.checked(|gpu| gpu.read_vec(&lost)), &["its recording was discarded"]);
}

/// C016: what was written is read, whether or not anything was submitted in between.
#[test]
fn c016_write_then_read_with_and_without_a_submission() {
    for submit_between in [false, true] {
        let (mut gpu, _control) = executing();
        let bytes: Vec<u8> = (0..12).collect();
        let data = filled(&mut gpu, &bytes);
        if submit_between {
            gpu.record("empty").unwrap().submit().unwrap();
        }
        assert_eq!(bytes_of(&mut gpu, *data), bytes);
    }
}

/// C017: results keep apart, whatever their sizes and the order in which they are asked for.
#[test]
fn c017_two_concurrent_readbacks() {
    let ten: Vec<u8> = (0..10u32).flat_map(u32::to_le_bytes).collect();
    let seven = 7u32.to_le_bytes();
    for swapped in [false, true] {
        let (mut gpu, control) = manual();
        let small = filled(&mut gpu, &seven);
        let large = filled(&mut gpu, &ten);
        let (first, second) = if swapped { (*large, *small) } else { (*small, *large) };
        let sizes = [gpu.buffer_size(first).unwrap(), gpu.buffer_size(second).unwrap()];
        let a = read(&mut gpu, first, sizes[0]).unwrap();
        let b = read(&mut gpu, second, sizes[1]).unwrap();
        control.complete_all();
        let (b, a) = (gpu.read_vec(&b).unwrap(), gpu.read_vec(&a).unwrap());
        let (of_small, of_large) = if swapped { (b, a) } else { (a, b) };
        assert_eq!((of_small, of_large), (seven.to_vec(), ten.clone()));
    }
}

/// C015: staging that comes and goes does not disturb what was uploaded once.
#[test]
fn c015_contents_survive_the_allocators_traffic() {
    let (mut gpu, _control) = executing();
    let kept: Vec<u8> = (0..128).collect();
    let a = filled(&mut gpu, &kept);
    for frame in 0..12 {
        let other: Vec<u8> = (128..=255).collect();
        let temporary = gpu.create_buffer_with("temporary", BufferUsages::COPY_SRC, &other).unwrap();
        let copy = buffer(&mut gpu, "copy", 128, BufferUsages::empty());
        let mut recorder = gpu.record("frame").unwrap();
        recorder.copy_buffer(slice(*a, 0, 128), *copy, 0).unwrap();
        let ticket = recorder.read_buffer(slice(*copy, 0, 128)).unwrap();
        recorder.submit().unwrap();
        drop(temporary);
        assert_eq!(gpu.read_vec(&ticket), Ok(kept.clone()), "frame {frame}");
    }
}

#[test]
fn a_cancelled_readback_keeps_its_staging_until_the_gpu_is_done() {
    let (mut gpu, control) = staged(256);
    let data = filled(&mut gpu, &[5; 16]);
    let ticket = read(&mut gpu, *data, 16).unwrap();
    drop(ticket);
    gpu.maintain().unwrap();
    assert_eq!(gpu.readbacks().outstanding(), 256);
    let error = err(read(&mut gpu, *data, 16));
    assert!(matches!(error, Error::Pending { .. }), "{error:?}");
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(gpu.readbacks().outstanding(), 0);
    let ticket = read(&mut gpu, *data, 16).unwrap();
    control.complete_all();
    assert_eq!(gpu.read_vec(&ticket), Ok(vec![5; 16]));
    assert_eq!(control.live(ResourceKind::Buffer), 3, "the staging was used again");
}

#[test]
fn staging_is_bounded_by_its_ceiling() {
    let (mut gpu, control) = staged(1000);
    let data = filled(&mut gpu, &[5; 1024]);
    let error = err(read(&mut gpu, *data, 1004));
    assert!(matches!(error, Error::CapacityExceeded { requested: 1004, capacity: 1000, .. }), "{error:?}");
    // 600 bytes round up to 1,024, which the ceiling cuts.
    let large = read(&mut gpu, *data, 600).unwrap();
    assert_eq!(gpu.readbacks().outstanding(), 1000);
    let error = err(read(&mut gpu, *data, 4));
    assert!(matches!(error, Error::Pending { .. }), "{error:?}");
    refused(Err::<(), _>(error), &["256 bytes asked for, 0 free until results are read"]);
    control.complete_all();
    assert_eq!(gpu.read_vec(&large), Ok(vec![5; 600]));
    // Free staging of another size gives way instead of adding up.
    let small = read(&mut gpu, *data, 4).unwrap();
    control.complete_all();
    assert_eq!(gpu.read_vec(&small), Ok(vec![5; 4]));
    gpu.maintain().unwrap();
    let ring = gpu.uploads().capacity();
    assert_eq!(gpu.memory().logical, 1024 + ring + 256);
}

#[test]
fn sizes_of_all_bits_are_refused() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, &[5; 16]);
    for size in [u64::MAX, u64::MAX / 2 + 2] {
        let mut recorder = gpu.record("frame").unwrap();
        invalid(recorder.read_buffer(slice(*data, 4, size)), "uses", &["a range within the resource"]);
        drop(recorder);
        let mut recorder = gpu.record("frame").unwrap();
        let error = err(recorder.read_buffer_planned(slice(*data, 0, size)));
        assert!(matches!(error, Error::CapacityExceeded { .. }), "{error:?}");
    }
}

#[test]
fn rows_come_without_padding_in_every_width_and_format() {
    let formats = [
        (TextureFormat::R8Unorm, 1),
        (TextureFormat::Rg8Uint, 2),
        (COLOR, 4),
        (TextureFormat::Rgba16Float, 8),
        (TextureFormat::Rgba32Float, 16),
        (TextureFormat::Depth16Unorm, 2),
        (TextureFormat::Stencil8, 1),
    ];
    for (format, bytes) in formats {
        for width in [1, 3, 17, 64, 65, 255] {
            let (mut gpu, _control) = executing();
            let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
            let image = gpu.create_texture(&TextureDesc::d2("image", width, 3, format, usage)).unwrap();
            let texels: Vec<u8> = (0..width * 3 * bytes).map(|index| (index % 251) as u8).collect();
            let place = TexturePlace::mip(*image, 0);
            gpu.write_texture(&place, extent(width, 3, 1), &rows(width * bytes, 3), &texels).unwrap();
            assert_eq!(texels_of(&mut gpu, place, extent(width, 3, 1)), texels, "{format:?}, width {width}");
        }
    }
}

#[test]
fn blocks_mips_and_layers_come_back_exactly() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let desc = TextureDesc::d2("bc", 12, 8, TextureFormat::Bc1RgbaUnorm, usage).with_mips(3);
    let image = gpu.create_texture(&TextureDesc { size: extent(12, 8, 2), ..desc }).unwrap();
    // Mips of 12x8, 6x4 and 3x2 texels are 3x2, 2x1 and 1x1 blocks of 8 bytes.
    for (mip, size, blocks) in [(0, (12, 8), (3, 2)), (1, (6, 4), (2, 1)), (2, (3, 2), (1, 1))] {
        let count = blocks.0 * blocks.1 * 2;
        let bytes: Vec<u8> = (0..count * 8).map(|index| (index + mip * 10) as u8).collect();
        let place = TexturePlace::mip(*image, mip);
        gpu.write_texture(&place, extent(size.0, size.1, 2), &rows(blocks.0 * 8, blocks.1), &bytes).unwrap();
        assert_eq!(texels_of(&mut gpu, place, extent(size.0, size.1, 2)), bytes, "mip {mip}");
        let half = texels_of(&mut gpu, at(*image, mip, 0, 0, 1), extent(size.0, size.1, 1));
        assert_eq!(half, bytes[bytes.len() / 2..]);
    }
}

#[test]
fn undefined_contents_are_not_read() {
    let (mut gpu, _control) = executing();
    let fresh = buffer(&mut gpu, "fresh", 16, BufferUsages::empty());
    gpu.write_buffer(*fresh, 0, &[1; 8]).unwrap();
    assert!(read(&mut gpu, *fresh, 8).is_ok());
    let texts = ["pass \"read_buffer\"", "CopySrc of bytes 0..12 of buffer \"fresh\"", "undefined at"];
    wrong_state(read(&mut gpu, *fresh, 12), &texts);
    // The executor's poison never comes out.
    assert_ne!(bytes_of_defined(&mut gpu, *fresh), [POISON; 8]);
}

fn bytes_of_defined(gpu: &mut Gpu, buffer: Buffer) -> Vec<u8> {
    let ticket = read(gpu, buffer, 8).unwrap();
    gpu.read_vec(&ticket).unwrap()
}

#[test]
fn times_of_passes_have_states() {
    let (mut gpu, control) = manual();
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    assert_eq!(gpu.pass_times(), Ok(None));
    control.set_clock(100, 40);
    let frame = |gpu: &mut Gpu, label: &str| {
        let mut recorder = gpu.record("frame").unwrap();
        recorder.compute_pass(&ComputePassDesc { label, uses: &[], ..Default::default() }, |_| {}).unwrap();
        recorder.submit().unwrap();
    };
    frame(&mut gpu, "first");
    assert_eq!(gpu.pass_times(), Ok(None), "not complete is not zero");
    control.complete_all();
    let first = PassTime { label: "first".into(), time: GpuTime::Elapsed(40.0) };
    assert_eq!(gpu.pass_times(), Ok(Some(vec![first])));
    assert_eq!(gpu.pass_times(), Ok(None), "delivered once");
    drop(gpu.record("discarded").unwrap());
    gpu.enable_timings(token, false);
    frame(&mut gpu, "untimed");
    control.complete_all();
    assert_eq!(gpu.pass_times(), Ok(None));
}

#[test]
fn timing_sets_are_used_again_and_passes_beyond_the_last_are_not_timed() {
    let (mut gpu, control) = manual();
    let token = gpu.capability::<TimestampQuery>().unwrap();
    gpu.enable_timings(token, true);
    for _ in 0..20 {
        let mut recorder = gpu.record("frame").unwrap();
        for _ in 0..600 {
            recorder
                .compute_pass(&ComputePassDesc { label: "p", uses: &[], ..Default::default() }, |_| {})
                .unwrap();
        }
        recorder.submit().unwrap();
        control.complete_all();
    }
    assert_eq!(gpu.pass_times().unwrap().unwrap().len(), 512);
    assert!(control.live(ResourceKind::QuerySet) <= 6, "{}", control.live(ResourceKind::QuerySet));
}

#[test]
fn waits_answer_within_their_time() {
    let (mut gpu, control) = manual();
    let token = gpu.record("frame").unwrap().submit().unwrap();
    assert_eq!(gpu.wait(token, Duration::from_millis(1)), Ok(false));
    control.complete_all();
    assert_eq!(gpu.wait(token, Duration::ZERO), Ok(true));
}

#[test]
fn a_result_that_is_given_up_after_completion_frees_its_staging_at_once() {
    let (mut gpu, _control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    gpu.write_buffer(*data, 0, &[1; 16]).unwrap();
    let mut recorder = gpu.record("frame").unwrap();
    let ticket = recorder.read_buffer(slice(*data, 0, 16)).unwrap();
    recorder.submit().unwrap();
    gpu.maintain().unwrap();
    drop(ticket);
    gpu.maintain().unwrap();
    assert_eq!(gpu.readbacks().outstanding(), 0);
}
