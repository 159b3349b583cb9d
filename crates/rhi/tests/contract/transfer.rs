//! Copies (T5): ranges, overlap, pitches, regions; bytes are moved for real.

use purlin_rhi::null::NullCommand;
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

fn filled(gpu: &mut Gpu, label: &str, bytes: &[u8]) -> Owned<kind::Buffer> {
    let made = buffer(gpu, label, bytes.len() as u64, BufferUsages::empty());
    gpu.write_buffer(*made, 0, bytes).unwrap();
    made
}

fn counting(len: usize) -> Vec<u8> {
    (0..len).map(|index| index as u8).collect()
}

/// Records one command alone and submits it.
fn run<T>(gpu: &mut Gpu, command: impl FnOnce(&mut Recorder<'_, null::Null>) -> Result<T>) -> Result<T> {
    gpu.checked(|gpu| {
        let mut recorder = gpu.record("copy")?;
        let answer = command(&mut recorder)?;
        recorder.submit()?;
        Ok(answer)
    })
}

/// C018: touching ranges do not overlap; equal and crossing ones do.
#[test]
fn c018_same_buffer_copies() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(256));
    let mut copy =
        |src, dst| run(&mut gpu, |recorder| recorder.copy_buffer(slice(*data, src, 32), *data, dst));
    for dst in [0, 16, 28] {
        let texts = ["pass \"copy_buffer\"", "CopySrc of bytes 0..32 of buffer \"data\""];
        invalid(copy(0, dst), "uses", &texts);
    }
    invalid(copy(16, 0), "uses", &["CopyDst of bytes 0..32"]);
    assert_eq!(copy(0, 32), Ok(()));
    // Two regions that interleave but do not overlap.
    let mut recorder = gpu.record("copy").unwrap();
    recorder.copy_buffer(slice(*data, 0, 32), *data, 32).unwrap();
    recorder.copy_buffer(slice(*data, 64, 32), *data, 96).unwrap();
    recorder.submit().unwrap();
    let mut expected = counting(256);
    expected.copy_within(0..32, 32);
    expected.copy_within(64..96, 96);
    assert_eq!(bytes_of(&mut gpu, *data), expected);
}

/// C018 (c), in one pass: interleaved regions of one buffer are no conflict.
#[test]
fn c018_interleaved_regions_in_one_pass() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(128));
    let copies = [(0, 32), (64, 96)];
    let mut list = plan::PassList::new();
    let uses: Vec<_> = copies
        .iter()
        .flat_map(|&(src, dst)| {
            let at = |offset, usage| plan::ResourceUse::Buffer { buffer: *data, offset, size: 32, usage };
            [at(src, plan::BufferUse::CopySrc), at(dst, plan::BufferUse::CopyDst)]
        })
        .collect();
    uses.iter().for_each(|usage| list.push_use(*usage));
    list.end_pass();
    run(&mut gpu, |recorder| {
        let mut plan = plan::Plan::new();
        recorder.plan(&list, &mut plan, |_| "copies".into())?;
        recorder.barriers(plan.batch(0));
        recorder.transfer_pass_planned("copies", &uses, |pass| {
            for (src, dst) in copies {
                pass.copy_buffer(slice(*data, src, 32), *data, dst);
            }
        })
    })
    .unwrap();
    let mut expected = counting(128);
    expected.copy_within(0..32, 32);
    expected.copy_within(64..96, 96);
    assert_eq!(bytes_of(&mut gpu, *data), expected);
}

#[test]
fn planned_copies_check_what_they_declared_and_everything_else() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(64));
    let target = buffer(&mut gpu, "target", 64, BufferUsages::empty());
    let mut copy = |src: BufferSlice, dst_offset| {
        run(&mut gpu, |recorder| {
            recorder.transfer_pass_planned("pass", &[], |pass| pass.copy_buffer(src, *target, dst_offset))
        })
    };
    invalid(copy(slice(*data, 0, 16), 0), "uses", &["pass \"pass\", copy_buffer", "declared by the pass"]);
    invalid(copy(slice(*data, 2, 16), 0), "range", &["multiples of 4", "16 bytes from 2 of \"data\""]);
    invalid(copy(slice(*data, u64::MAX - 3, 16), 0), "range", &["within the 64 bytes of \"data\""]);
    invalid(copy(slice(*data, 0, 16), u64::MAX - 3), "range", &["within the 64 bytes of \"target\""]);
}

#[test]
fn copies_have_usages_and_leave_uploaded_contents_alone() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(16));
    let fixed = gpu.create_buffer_with("fixed", BufferUsages::COPY_SRC, &[1; 16]).unwrap();
    let texts = ["a buffer with contents Tracked", "contents Uploaded of \"fixed\""];
    invalid(run(&mut gpu, |r| r.copy_buffer(slice(*data, 0, 16), *fixed, 0)), "dst", &texts);
    invalid(run(&mut gpu, |r| r.clear_buffer(slice(*fixed, 0, 16))), "dst", &texts);
    run(&mut gpu, |r| r.copy_buffer(slice(*fixed, 0, 16), *data, 0)).unwrap();
    assert_eq!(bytes_of(&mut gpu, *data), [1; 16]);
    let only = gpu.create_buffer(&BufferDesc::new("only", 16, BufferUsages::COPY_DST)).unwrap();
    let result = run(&mut gpu, |r| r.copy_buffer(slice(*only, 0, 16), *data, 0));
    invalid(result, "uses", &["usage BufferUsages(COPY_SRC)", "buffer \"only\""]);
}

#[test]
fn clears_write_zeros_exactly_where_they_are_asked_to() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &[9; 16]);
    run(&mut gpu, |r| r.clear_buffer(slice(*data, 4, 8))).unwrap();
    assert_eq!(bytes_of(&mut gpu, *data), [9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9]);
    invalid(run(&mut gpu, |r| r.clear_buffer(slice(*data, 0, 6))), "range", &["multiples of 4"]);
    invalid(run(&mut gpu, |r| r.clear_buffer(slice(*data, 12, 8))), "uses", &["a range within the resource"]);
}

#[test]
fn copies_of_nothing_do_nothing_and_define_nothing() {
    let (mut gpu, control) = executing();
    let data = filled(&mut gpu, "data", &counting(64));
    let fresh = buffer(&mut gpu, "fresh", 64, BufferUsages::empty());
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    let other = texture(&mut gpu, "other", 4, 4, TextureUsages::TEXTURE_BINDING);
    gpu.flush_uploads().unwrap();
    control.take_log();
    run(&mut gpu, |r| r.copy_buffer(slice(*fresh, 0, 0), *data, 64)).unwrap();
    run(&mut gpu, |r| r.clear_buffer(slice(*fresh, 64, 0))).unwrap();
    let place = TexturePlace::mip(*image, 0);
    for size in [extent(0, 4, 1), extent(4, 0, 1), extent(4, 4, 0)] {
        run(&mut gpu, |r| r.copy_buffer_to_texture(*data, &rows(256, 4), &place, size)).unwrap();
        run(&mut gpu, |r| r.copy_texture_to_buffer(&place, size, *fresh, &rows(256, 4))).unwrap();
        run(&mut gpu, |r| r.copy_texture(&place, &TexturePlace::mip(*other, 0), size)).unwrap();
        let ticket = run(&mut gpu, |r| r.read_texture(&place, size)).unwrap();
        assert_eq!(gpu.read_vec(&ticket), Ok(vec![]));
        assert!(gpu.write_texture(&place, size, &rows(16, 4), &[]).is_ok());
    }
    assert!(!gpu.ledger().texture_defined(image.slot(), &color_range(0)));
    let moved = |command: &NullCommand| !matches!(command, NullCommand::PushLabel(_) | NullCommand::PopLabel);
    let left: Vec<_> = commands(&control).into_iter().filter(moved).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn texel_copies_move_rows_by_their_pitch() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(1024));
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    let back = buffer(&mut gpu, "back", 1024, BufferUsages::empty());
    run(&mut gpu, |r| {
        r.copy_buffer_to_texture(*data, &rows(256, 4), &TexturePlace::mip(*image, 0), extent(4, 4, 1))?;
        r.clear_buffer(slice(*back, 0, 1024))?;
        r.copy_texture_to_buffer(&at(*image, 0, 1, 2, 0), extent(2, 2, 1), *back, &rows(256, 2))
    })
    .unwrap();
    let bytes = bytes_of(&mut gpu, *back);
    assert_eq!(bytes[..12], [4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0]);
    assert_eq!(bytes[256..268], [4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0]);
    assert_eq!(texels_of(&mut gpu, TexturePlace::mip(*image, 0), extent(4, 1, 1)), counting(16));
}

#[test]
fn a_single_row_may_have_any_pitch() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(64));
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    for pitch in [0, 1, 16, 17, u32::MAX] {
        let place = TexturePlace::mip(*image, 0);
        run(&mut gpu, |r| r.copy_buffer_to_texture(*data, &rows(pitch, pitch), &place, extent(4, 1, 1)))
            .unwrap();
        assert_eq!(texels_of(&mut gpu, place, extent(4, 1, 1)), counting(16));
    }
}

#[test]
fn texel_layouts_are_checked() {
    let (mut gpu, _control) = executing();
    let data = filled(&mut gpu, "data", &counting(1024));
    let image = texture(&mut gpu, "image", 4, 4, TextureUsages::TEXTURE_BINDING);
    let mut copy = |offset, bytes_per_row, rows_per_image, size| {
        let layout = TexelLayout { offset, bytes_per_row, rows_per_image };
        run(&mut gpu, |r| r.copy_buffer_to_texture(*data, &layout, &TexturePlace::mip(*image, 0), size))
    };
    assert_eq!(copy(0, 256, 4, extent(4, 4, 1)), Ok(()));
    assert_eq!(copy(240, 256, 4, extent(4, 4, 1)), Ok(()), "the last row needs no padding");
    invalid(copy(244, 256, 4, extent(4, 4, 1)), "uses", &["a range within the resource", "buffer \"data\""]);
    invalid(copy(0, 12, 4, extent(4, 4, 1)), "bytes_per_row", &["at least the 16 bytes of a row", "12"]);
    invalid(copy(0, 128, 4, extent(4, 4, 1)), "bytes_per_row", &["a multiple of 256", "128"]);
    invalid(copy(2, 256, 4, extent(4, 4, 1)), "offset", &["a multiple of 4", "2"]);
    for layout in [(u64::MAX, 256), (0, u32::MAX - 255)] {
        assert!(copy(layout.0, layout.1, u32::MAX, extent(4, 4, 1)).is_err());
    }
    for size in [extent(5, 4, 1), extent(4, 4, 2), extent(u32::MAX, 1, 1)] {
        invalid(copy(0, 256, 4, size), "extent", &["texture \"image\"", "a box within 4x4x1 of mip 0"]);
    }
}

#[test]
fn places_are_in_the_texture_and_name_one_aspect() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let desc = TextureDesc::d2("depth", 4, 4, TextureFormat::Depth24PlusStencil8, usage);
    let depth = gpu.create_texture(&desc).unwrap();
    let back = buffer(&mut gpu, "back", 1024, BufferUsages::empty());
    let mut copy = |place: TexturePlace| {
        run(&mut gpu, |r| r.copy_texture_to_buffer(&place, extent(4, 4, 1), *back, &rows(256, 4)))
    };
    let place = TexturePlace::mip(*depth, 0);
    // C007: a copy that names both aspects is refused.
    invalid(copy(place), "aspect", &["texture \"depth\"", "one aspect of Depth24PlusStencil8", "All"]);
    invalid(copy(TexturePlace { mip: 1, ..place }), "mip", &["below 1"]);
    let moved = TexturePlace { aspect: TextureAspect::StencilOnly, ..at(*depth, 0, u32::MAX, 1, 0) };
    invalid(copy(moved), "extent", &["4x4x1 at 4294967295,1,0"]);
}

#[test]
fn compressed_boxes_lie_on_the_block_grid_or_reach_the_edge() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let desc = TextureDesc::d2("bc", 8, 8, TextureFormat::Bc7RgbaUnorm, usage).with_mips(4);
    let image = gpu.create_texture(&desc).unwrap();
    let mut write =
        |place, size: Extent3d| gpu.checked(|gpu| gpu.write_texture(&place, size, &rows(32, 2), &[0; 64]));
    assert!(write(at(*image, 0, 4, 4, 0), extent(4, 4, 1)).is_ok());
    assert!(write(at(*image, 2, 0, 0, 0), extent(2, 2, 1)).is_ok(), "up to the edge of a small mip");
    for (place, size) in [
        (at(*image, 0, 2, 0, 0), extent(4, 4, 1)),
        (at(*image, 0, 0, 0, 0), extent(6, 4, 1)),
        (at(*image, 0, 0, 0, 0), extent(4, 2, 1)),
    ] {
        invalid(write(place, size), "extent", &["4x4 block grid or up to the edge"]);
    }
    invalid(write(at(*image, 2, 0, 0, 0), extent(4, 4, 1)), "extent", &["a box within 2x2x1 of mip 2"]);
}

/// C004: a copy between volumes moves every slice, from any first slice.
#[test]
fn c004_volume_to_volume_copies_move_every_slice() {
    let (mut gpu, _control) = executing();
    let mut volume = |label, side| {
        let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
        let desc = TextureDesc::d2(label, side, side, COLOR, usage);
        let desc = TextureDesc { size: extent(side, side, side), dimension: TextureDimension::D3, ..desc };
        gpu.create_texture(&desc).unwrap()
    };
    let (small, large) = (volume("small", 4), volume("large", 8));
    let texel = |x: u32, y: u32, z: u32| [x as u8, y as u8, z as u8, 255];
    let texels: Vec<u8> = (0..64).flat_map(|index| texel(index % 4, index / 4 % 4, index / 16)).collect();
    gpu.write_texture(&TexturePlace::mip(*small, 0), extent(4, 4, 4), &rows(16, 4), &texels).unwrap();
    let slices =
        |gpu: &mut Gpu, first, count| texels_of(gpu, at(*large, 0, 0, 0, first), extent(4, 4, count));
    run(&mut gpu, |r| {
        r.copy_texture(&TexturePlace::mip(*small, 0), &TexturePlace::mip(*large, 0), extent(4, 4, 4))
    })
    .unwrap();
    assert_eq!(slices(&mut gpu, 0, 4), texels);
    run(&mut gpu, |r| r.copy_texture(&at(*small, 0, 0, 0, 1), &at(*large, 0, 0, 0, 4), extent(4, 4, 2)))
        .unwrap();
    assert_eq!(slices(&mut gpu, 4, 2), texels[64..192]);
}

/// C004, with layers: one cube face goes to one layer.
#[test]
fn c004_a_cube_face_is_copied_alone() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let desc = TextureDesc { size: extent(2, 2, 6), ..TextureDesc::d2("cube", 2, 2, COLOR, usage) };
    let cube = gpu.create_texture(&desc).unwrap();
    let flat = texture(&mut gpu, "flat", 2, 2, TextureUsages::TEXTURE_BINDING);
    let faces: Vec<u8> = (0..6).flat_map(|face| [face; 16]).collect();
    gpu.write_texture(&TexturePlace::mip(*cube, 0), extent(2, 2, 6), &rows(8, 2), &faces).unwrap();
    for face in [5, 0, 3] {
        let place = TexturePlace::mip(*flat, 0);
        run(&mut gpu, |r| r.copy_texture(&at(*cube, 0, 0, 0, face), &place, extent(2, 2, 1))).unwrap();
        assert_eq!(texels_of(&mut gpu, place, extent(2, 2, 1)), [face as u8; 16]);
    }
}

#[test]
fn texture_copies_are_between_like_formats_and_distinct_subresources() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let mut made =
        |format| gpu.create_texture(&TextureDesc::d2("t", 8, 8, format, usage).with_mips(2)).unwrap();
    let (unorm, srgb, uint) =
        (made(COLOR), made(TextureFormat::Rgba8UnormSrgb), made(TextureFormat::Rgba8Uint));
    gpu.write_texture(&TexturePlace::mip(*unorm, 0), extent(8, 8, 1), &rows(32, 8), &[3; 256]).unwrap();
    let mut copy = |src, dst| run(&mut gpu, |r| r.copy_texture(&src, &dst, extent(4, 4, 1)));
    assert_eq!(copy(at(*unorm, 0, 0, 0, 0), at(*srgb, 0, 4, 4, 0)), Ok(()));
    assert_eq!(copy(at(*unorm, 0, 0, 0, 0), at(*unorm, 1, 0, 0, 0)), Ok(()));
    let texts = ["Rgba8Unorm or its sRGB sibling", "Rgba8Uint"];
    invalid(copy(at(*unorm, 0, 0, 0, 0), at(*uint, 0, 0, 0, 0)), "format", &texts);
    invalid(copy(at(*unorm, 0, 0, 0, 0), at(*unorm, 0, 4, 4, 0)), "uses", &["CopySrc", "CopyDst"]);
}
