//! Uploads (T1, T2, T4): bytes, tickets, order, pitches, blocks, and resources that go meanwhile.

use purlin_rhi::null::{NullCommand, NullConfig};
use purlin_rhi::services::{align_up, row_pitch};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

/// C001 and C002: aligned values stay, and the pitch is rounded after the multiplication.
#[test]
fn c001_c002_pitches() {
    assert_eq!([0, 1, 255, 256, 257, 512].map(|n| align_up(n, 256)), [0, 256, 256, 256, 512, 512]);
    let pitch = |width| row_pitch(COLOR, TextureAspect::All, width, 256);
    assert_eq!((pitch(128), pitch(64), pitch(65)), (Some(512), Some(256), Some(512)));
    assert_eq!(pitch(u32::MAX), None, "does not fit");
    assert_eq!(row_pitch(TextureFormat::Bc7RgbaUnorm, TextureAspect::All, 5, 1), Some(32));
    assert_eq!(row_pitch(COLOR, TextureAspect::All, 4, 0), None);
    assert_eq!(row_pitch(COLOR, TextureAspect::All, 4, 48), None);
    // Both figures of the case, as staging: 128 texels fill their pitch, 64 fill theirs.
    for (side, bytes) in [(128u32, 65_536), (64, 16_384)] {
        let (mut gpu, control) = executing();
        let image = texture(&mut gpu, "image", side, side, TextureUsages::TEXTURE_BINDING);
        let texels = vec![5; bytes];
        let place = TexturePlace::mip(*image, 0);
        gpu.write_texture(&place, extent(side, side, 1), &rows(side * 4, side), &texels).unwrap();
        assert_eq!(gpu.uploads().in_use(), bytes as u64);
        control.take_log();
        assert_eq!(texels_of(&mut gpu, place, extent(side, side, 1)), texels);
        let pitch = commands(&control).into_iter().find_map(|command| match command {
            NullCommand::CopyTextureToBuffer(copy) => Some(copy.bytes_per_row),
            _ => None,
        });
        assert_eq!(pitch, Some(side * 4));
    }
}

/// C009: odd index counts are accepted, padded with zeros, and nothing behind the caller's slice is read.
#[test]
fn c009_an_odd_number_of_short_indices() {
    let (mut gpu, control) = executing();
    let sentinel = [1, 0, 2, 0, 3, 0, 0xEE, 0xEE];
    let odd = gpu.create_buffer_with("odd", BufferUsages::INDEX, &sentinel[..6]).unwrap();
    let even = gpu.create_buffer_with("even", BufferUsages::INDEX, &[7; 12]).unwrap();
    let target = texture(&mut gpu, "target", 4, 4, TextureUsages::RENDER_ATTACHMENT);
    let target = view(&mut gpu, *target);
    let pipeline = simple_pipeline(&mut gpu);
    let mut recorder = gpu.record("frame").unwrap();
    recorder
        .render_pass(&pass(&[cleared(*target)], &[]), |pass| {
            pass.set_pipeline(*pipeline.pipeline);
            pass.set_index_buffer(slice(*odd, 0, 6), IndexFormat::Uint16);
            pass.draw_indexed(0..3, 0, 0..1);
        })
        .unwrap();
    recorder.submit().unwrap();
    assert_eq!(gpu.buffer_size(*odd), Ok(6));
    assert_eq!(control.buffer_bytes(odd.slot()), Some(vec![1, 0, 2, 0, 3, 0, 0, 0]));
    assert_eq!(control.buffer_bytes(even.slot()), Some(vec![7; 12]));
    assert_eq!(draws(&control).len(), 1);
}

#[test]
fn tickets_go_from_consumed_to_queued_to_usable() {
    let (mut gpu, control) = manual();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    let mut bytes = [1; 16];
    let first = gpu.write_buffer(*data, 0, &bytes).unwrap();
    bytes.fill(9);
    assert_eq!(gpu.upload_state(first), Ok(UploadState::Consumed));
    gpu.flush_uploads().unwrap();
    let second = gpu.write_buffer(*data, 0, &bytes).unwrap();
    assert_eq!(gpu.upload_state(first), Ok(UploadState::Queued));
    assert_eq!(gpu.upload_state(second), Ok(UploadState::Consumed));
    control.complete_all();
    assert_eq!(gpu.upload_state(first), Ok(UploadState::Usable));
    assert_eq!(gpu.upload_state(second), Ok(UploadState::Consumed));
    assert_eq!(control.buffer_bytes(data.slot()), Some(vec![1; 16]), "the caller's memory was free at once");
    let empty = gpu.write_buffer(*data, 16, &[]).unwrap();
    assert_eq!(gpu.upload_state(empty), Ok(UploadState::Usable));
    let mut other = plain();
    bad_handle(other.checked(|gpu| gpu.upload_state(first)), HandleProblem::Foreign);
}

#[test]
fn flushing_nothing_submits_nothing() {
    let (mut gpu, control) = executing();
    assert_eq!(gpu.flush_uploads().unwrap().ordinal(), 0);
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    gpu.write_buffer(*data, 0, &[1; 16]).unwrap();
    let token = gpu.flush_uploads().unwrap();
    assert_eq!(gpu.flush_uploads(), Ok(token));
    assert_eq!(gpu.is_complete(token), Ok(true));
    assert_eq!(control.take_log().len(), 1);
}

#[test]
fn writes_are_checked() {
    let mut gpu = plain();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    let fixed = gpu.create_buffer(&BufferDesc::new("fixed", 16, BufferUsages::VERTEX)).unwrap();
    invalid(
        gpu.checked(|gpu| gpu.write_buffer(*fixed, 0, &[0; 4])),
        "buffer",
        &["write_buffer into buffer \"fixed\"", "COPY_DST"],
    );
    invalid(gpu.checked(|gpu| gpu.write_buffer(*data, 2, &[0; 4])), "offset", &["a multiple of 4", "2"]);
    for offset in [4, 16, u64::MAX - 3] {
        invalid(gpu.checked(|gpu| gpu.write_buffer(*data, offset, &[0; 16])), "offset", &["within 16 bytes"]);
    }
    let page = gpu.push_frame_data(&[0; 4], 4).unwrap();
    invalid(
        gpu.checked(|gpu| gpu.write_buffer(page.buffer, 0, &[0; 4])),
        "buffer",
        &["\"frame arena page\""],
    );
    assert_eq!(gpu.uploads().pending(), 0);
}

#[test]
fn texel_writes_are_checked() {
    let mut gpu = plain();
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    let place = TexturePlace::mip(*image, 0);
    let mut write = |layout: TexelLayout, size, len| {
        gpu.checked(|gpu| gpu.write_texture(&place, size, &layout, &vec![0; len]))
    };
    assert!(write(rows(16, 4), extent(4, 4, 1), 64).is_ok());
    let what = "write_texture into texture \"image\"";
    invalid(write(rows(16, 4), extent(4, 4, 1), 63), "layout", &[what, "within 63 bytes", "64 needed"]);
    invalid(write(rows(12, 4), extent(4, 4, 1), 64), "bytes_per_row", &["at least the 16 bytes of a row"]);
    invalid(write(rows(16, 4), extent(5, 4, 1), 80), "extent", &["4x4x1 of mip 0", "5x4x1"]);
    let far = TexelLayout { offset: u64::MAX, ..rows(u32::MAX, u32::MAX) };
    invalid(write(far, extent(4, 4, 1), 64), "layout", &["more than 64 bits hold"]);
    invalid(write(rows(u32::MAX, 4), extent(4, 2, 1), 64), "layout", &["within 64 bytes"]);
    let usage = TextureUsages::TEXTURE_BINDING;
    let fixed = gpu.create_texture(&TextureDesc::d2("fixed", 4, 4, COLOR, usage)).unwrap();
    let result = gpu.write_texture(&TexturePlace::mip(*fixed, 0), extent(4, 4, 1), &rows(16, 4), &[0; 64]);
    invalid(result, "texture", &["\"fixed\"", "COPY_DST"]);
    let layered = TextureDesc { size: extent(4, 4, 2), ..TextureDesc::uploaded("layers", 4, 4, 1, COLOR) };
    let layered = gpu.create_texture(&layered).unwrap();
    let result = gpu.write_texture(&TexturePlace::mip(*layered, 0), extent(4, 4, 2), &rows(16, 3), &[0; 128]);
    invalid(result, "rows_per_image", &["at least the 4 rows of a layer", "3"]);
}

#[test]
fn rows_of_any_pitch_and_offset_arrive_in_any_width() {
    for width in [1, 3, 5, 63, 64, 65] {
        for (padding, offset) in [(0, 0), (3, 1), (256, 7)] {
            let (mut gpu, _control) = executing();
            let image = gpu.create_texture(&TextureDesc {
                usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
                ..TextureDesc::d2("image", width, 3, TextureFormat::R8Unorm, TextureUsages::COPY_SRC)
            });
            let image = image.unwrap();
            let pitch = width + padding;
            let mut data = vec![0xEE; offset + (pitch * 3) as usize];
            let mut tight = Vec::new();
            for row in 0..3 {
                for x in 0..width {
                    let value = (row * 80 + x) as u8;
                    data[offset + (row * pitch + x) as usize] = value;
                    tight.push(value);
                }
            }
            data.truncate(offset + (pitch * 2 + width) as usize);
            let layout = TexelLayout { offset: offset as u64, ..rows(pitch, 3) };
            let place = TexturePlace::mip(*image, 0);
            gpu.write_texture(&place, extent(width, 3, 1), &layout, &data).unwrap();
            assert_eq!(
                texels_of(&mut gpu, place, extent(width, 3, 1)),
                tight,
                "width {width}, padding {padding}"
            );
        }
    }
}

#[test]
fn layers_are_taken_by_rows_per_image() {
    let (mut gpu, _control) = executing();
    let desc = TextureDesc::uploaded("layers", 2, 2, 1, COLOR);
    let usage = desc.usage | TextureUsages::COPY_SRC;
    let image = gpu.create_texture(&TextureDesc { size: extent(2, 2, 3), usage, ..desc }).unwrap();
    // Each layer takes three rows of which the last is a gap.
    let data: Vec<u8> = (0..9u8).flat_map(|row| [row; 8]).collect();
    gpu.write_texture(&TexturePlace::mip(*image, 0), extent(2, 2, 3), &rows(8, 3), &data).unwrap();
    let expected: Vec<u8> = [0, 1, 3, 4, 6, 7].into_iter().flat_map(|row: u8| [row; 8]).collect();
    assert_eq!(texels_of(&mut gpu, TexturePlace::mip(*image, 0), extent(2, 2, 3)), expected);
}

/// C005: each tail mip takes one block, and the extent that the backend sees is the logical one.
#[test]
fn c005_tail_mips_of_block_formats() {
    let (mut gpu, control) = executing();
    let desc = TextureDesc::uploaded("bc", 4, 4, 3, TextureFormat::Bc7RgbaUnorm);
    let image =
        gpu.create_texture(&TextureDesc { usage: desc.usage | TextureUsages::COPY_SRC, ..desc }).unwrap();
    for mip in 0..3 {
        let side = 4 >> mip;
        let block = [mip as u8 + 1; 16];
        gpu.write_texture(&TexturePlace::mip(*image, mip), extent(side, side, 1), &rows(16, 1), &block)
            .unwrap();
    }
    gpu.flush_uploads().unwrap();
    let extents: Vec<_> = commands(&control)
        .into_iter()
        .filter_map(|command| match command {
            NullCommand::CopyBufferToTexture(copy) => Some((copy.mip, copy.extent)),
            _ => None,
        })
        .collect();
    assert_eq!(extents, [(0, extent(4, 4, 1)), (1, extent(2, 2, 1)), (2, extent(1, 1, 1))]);
    for mip in 0..3 {
        let side = 4 >> mip;
        let place = TexturePlace::mip(*image, mip);
        assert_eq!(texels_of(&mut gpu, place, extent(side, side, 1)), [mip as u8 + 1; 16]);
    }
}

#[test]
fn uploads_of_one_recording_land_in_call_order() {
    let (mut gpu, _control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    gpu.write_buffer(*data, 0, &[1; 16]).unwrap();
    gpu.write_buffer(*data, 4, &[2; 8]).unwrap();
    gpu.write_buffer(*data, 8, &[3; 4]).unwrap();
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    let place = TexturePlace::mip(*image, 0);
    gpu.write_texture(&place, extent(4, 4, 1), &rows(16, 4), &[1; 64]).unwrap();
    gpu.write_texture(&at(*image, 0, 1, 0, 0), extent(2, 1, 1), &rows(8, 1), &[2; 8]).unwrap();
    assert_eq!(bytes_of(&mut gpu, *data), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 1, 1, 1, 1]);
    let row = texels_of(&mut gpu, place, extent(4, 1, 1));
    assert_eq!(row, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1]);
}

#[test]
fn a_write_after_a_submission_does_not_reach_it() {
    let (mut gpu, control) = manual();
    let data = buffer(&mut gpu, "data", 4, BufferUsages::empty());
    let mut tickets = Vec::new();
    for value in 1..4 {
        gpu.write_buffer(*data, 0, &[value; 4]).unwrap();
        let mut recorder = gpu.record("frame").unwrap();
        tickets.push(recorder.read_buffer(slice(*data, 0, 4)).unwrap());
        recorder.submit().unwrap();
    }
    control.complete_all();
    let read: Vec<_> = tickets.iter().map(|ticket| gpu.read_vec(ticket).unwrap()[0]).collect();
    assert_eq!(read, [1, 2, 3]);
}

#[test]
fn a_discarded_recording_leaves_uploads_for_the_next() {
    let (mut gpu, control) = executing();
    let data = buffer(&mut gpu, "data", 16, BufferUsages::empty());
    let ticket = gpu.write_buffer(*data, 0, &[4; 16]).unwrap();
    drop(gpu.record("discarded").unwrap());
    let mut recorder = gpu.record("mistaken").unwrap();
    assert!(recorder.clear_buffer(slice(*data, 1, 4)).is_err());
    assert!(recorder.submit().is_err());
    control.fail_next_submit();
    assert!(gpu.record("refused").unwrap().submit().is_err());
    assert_eq!((gpu.uploads().pending(), gpu.upload_state(ticket)), (1, Ok(UploadState::Consumed)));
    assert!(!gpu.ledger().buffer_defined(data.slot(), 0, 16));
    assert_eq!(bytes_of(&mut gpu, *data), [4; 16]);
    assert_eq!((gpu.uploads().pending(), gpu.upload_state(ticket)), (0, Ok(UploadState::Usable)));
}

#[test]
fn resources_may_go_while_their_uploads_wait() {
    let (mut gpu, control) = manual();
    let doomed = buffer(&mut gpu, "doomed", 64, BufferUsages::empty());
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    gpu.write_buffer(*doomed, 0, &[1; 64]).unwrap();
    gpu.write_texture(&TexturePlace::mip(*image, 0), extent(4, 4, 1), &rows(16, 4), &[1; 64]).unwrap();
    drop((doomed, image));
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::Texture), 1, "the upload still needs it");
    // What takes a free slot meanwhile is not what the uploads were for.
    let other = buffer(&mut gpu, "other", 64, BufferUsages::empty());
    gpu.flush_uploads().unwrap();
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::Texture), 1, "and the GPU needs it now");
    control.complete_all();
    gpu.maintain().unwrap();
    assert_eq!(control.live(ResourceKind::Texture), 0);
    assert!(!gpu.ledger().buffer_defined(other.slot(), 0, 64));
    assert_eq!(gpu.retiring(), 0);
}

#[test]
fn a_device_may_end_with_uploads_waiting() {
    let (mut gpu, control) = manual();
    let data = buffer(&mut gpu, "data", 64, BufferUsages::empty());
    gpu.write_buffer(*data, 0, &[1; 64]).unwrap();
    drop(gpu);
    assert_eq!(control.live_total(), 0);
    drop(data);
}

#[test]
fn staging_offsets_keep_the_backends_alignment() {
    let (mut gpu, _control) = device(NullConfig { copy_offset_alignment: 512, ..NullConfig::executing() });
    let image = texture(&mut gpu, "image", 2, 2, TextureUsages::TEXTURE_BINDING);
    let other = texture(&mut gpu, "other", 2, 2, TextureUsages::TEXTURE_BINDING);
    // The null backend refuses an offset that is off.
    for (target, value) in [(&image, 1), (&other, 2)] {
        gpu.write_texture(&TexturePlace::mip(**target, 0), extent(2, 2, 1), &rows(8, 2), &[value; 16])
            .unwrap();
    }
    assert_eq!(texels_of(&mut gpu, TexturePlace::mip(*other, 0), extent(2, 2, 1)), [2; 16]);
}
