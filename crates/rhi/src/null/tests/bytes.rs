//! Execution: bytes go where copies say, when their submission completes and not before.

use super::*;
use crate::backend::{
    ClearValue, Dirty, Dispatch, NativeAspect, NativeColor, NativeDepthStencil, NativeLoad,
    NativeTextureCopy, StoreOp,
};
use crate::types::TextureDimension;

const P: u8 = POISON;

/// A device with an upload buffer in slot 0 that counts up, and a readback buffer in slot 1.
fn device(config: NullConfig, size: u64) -> Null {
    let mut null = Null::new(config);
    buffer(&mut null, 0, size, MemoryClass::Upload);
    buffer(&mut null, 1, size, MemoryClass::Readback);
    let bytes: Vec<u8> = (0..size).map(|n| (n / 256 * 16 + n % 256) as u8).collect();
    null.write_mapped(0, 0, &bytes);
    null
}

/// Makes texture 0 and brings all of it from `Undefined` to `CopyDst`.
fn texture(null: &mut Null, desc: &TextureDesc<'_>) {
    null.create_texture(0, desc).unwrap();
    let range = whole(desc);
    submit(null, |encoder, null| {
        transition(encoder, null, &[barrier(0, range, Layout::Undefined, Layout::CopyDst)]);
    });
}

#[test]
fn staging_is_read_when_the_submission_completes() {
    let mut null = device(NullConfig::manual(), 8);
    let control = null.control();
    buffer(&mut null, 2, 8, MemoryClass::Device);
    null.write_mapped(0, 0, &[1; 8]);
    submit(&mut null, |encoder, null| encoder.copy_buffer(null, 0, 0, 2, 2, 4));
    submit(&mut null, |encoder, null| encoder.copy_buffer(null, 2, 0, 1, 0, 8));
    assert_eq!(read(&null, 1, 8), [P; 8]);
    // Too early: the copy has not run, so the later bytes are what it finds.
    null.write_mapped(0, 0, &[9; 3]);
    control.complete_to(1);
    assert_eq!(control.buffer_bytes(2), Some(vec![P, P, 9, 9, 9, 1, P, P]));
    assert_eq!(read(&null, 1, 8), [P; 8]);
    null.write_mapped(0, 0, &[7; 8]);
    control.complete_to(2);
    assert_eq!(read(&null, 1, 8), [P, P, 9, 9, 9, 1, P, P]);
    submit(&mut null, |encoder, null| encoder.clear_buffer(null, 1, 4, 4));
    control.complete_all();
    assert_eq!(read(&null, 1, 8), [P, P, 9, 9, 0, 0, 0, 0]);
}

#[test]
fn empty_buffers_are_buffers() {
    let mut null = device(NullConfig::executing(), 0);
    submit(&mut null, |encoder, null| encoder.copy_buffer(null, 0, 0, 1, 0, 0));
    assert!(read(&null, 1, 0).is_empty());
}

#[test]
fn rectangles_keep_their_pitches() {
    let mut null = device(NullConfig::executing(), 1024);
    let desc = desc(TextureFormat::R8Uint, 4, 4);
    texture(&mut null, &desc);
    submit(&mut null, |encoder, null| {
        encoder.copy_buffer_to_texture(null, &texels(desc.format, [0; 3], desc.size));
        let mut part = texels(desc.format, [1, 2, 0], extent(2, 2, 1));
        part.offset = 256 + 100;
        encoder.copy_buffer_to_texture(null, &part);
        transition(encoder, null, &[barrier(0, whole(&desc), Layout::CopyDst, Layout::CopySrc)]);
        encoder.copy_texture_to_buffer(
            null,
            &NativeBufferTextureCopy { buffer: 1, ..texels(desc.format, [1, 1, 0], extent(3, 3, 1)) },
        );
    });
    let out = read(&null, 1, 1024);
    assert_eq!(out[..4], [17, 18, 19, P]);
    assert_eq!(out[256..260], [116, 117, 35, P]);
    assert_eq!(out[512..516], [132, 133, 51, P]);
    assert_eq!(out[768..], [P; 256]);
}

#[test]
fn blocks_cover_ragged_edges() {
    let mut null = device(NullConfig::executing(), 1024);
    let desc = desc(TextureFormat::Bc1RgbaUnorm, 12, 12).with_mips(2);
    texture(&mut null, &desc);
    submit(&mut null, |encoder, null| {
        // Mip 1 is 6 by 6 texels in 2 by 2 blocks; the copy takes its right column.
        let copy = NativeBufferTextureCopy { mip: 1, ..texels(desc.format, [4, 0, 0], extent(2, 6, 1)) };
        encoder.copy_buffer_to_texture(null, &copy);
        transition(encoder, null, &[barrier(0, whole(&desc), Layout::CopyDst, Layout::CopySrc)]);
        let copy =
            NativeBufferTextureCopy { buffer: 1, mip: 1, ..texels(desc.format, [0; 3], extent(6, 6, 1)) };
        encoder.copy_texture_to_buffer(null, &copy);
    });
    let out = read(&null, 1, 1024);
    assert_eq!(out[..16], [P, P, P, P, P, P, P, P, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(out[256..272], [P, P, P, P, P, P, P, P, 16, 17, 18, 19, 20, 21, 22, 23]);
    assert_eq!(out[16], P);
}

#[test]
fn layers_become_slices_and_come_back() {
    let mut null = device(NullConfig::executing(), 2048);
    let layers = TextureDesc { size: extent(2, 1, 3), ..desc(TextureFormat::R8Uint, 2, 1) };
    let volume =
        TextureDesc { size: extent(2, 2, 4), dimension: TextureDimension::D3, ..desc(layers.format, 2, 2) };
    texture(&mut null, &layers);
    null.create_texture(1, &volume).unwrap();
    submit(&mut null, |encoder, null| {
        encoder.copy_buffer_to_texture(null, &texels(layers.format, [0; 3], layers.size));
        transition(
            encoder,
            null,
            &[
                barrier(0, whole(&layers), Layout::CopyDst, Layout::CopySrc),
                barrier(1, whole(&volume), Layout::Undefined, Layout::CopyDst),
            ],
        );
        let copy = NativeTextureCopy {
            src: (0, 0, Origin3d { x: 0, y: 0, z: 1 }),
            dst: (1, 0, Origin3d { x: 0, y: 1, z: 2 }),
            aspect: TextureAspect::All,
            format: layers.format,
            extent: extent(2, 1, 2),
            volume: (false, true),
        };
        encoder.copy_texture(null, &copy);
        transition(encoder, null, &[barrier(1, whole(&volume), Layout::CopyDst, Layout::CopySrc)]);
        let mut copy = texels(volume.format, [0, 0, 1], extent(2, 2, 3));
        (copy.buffer, copy.texture, copy.volume) = (1, 1, true);
        encoder.copy_texture_to_buffer(null, &copy);
    });
    let out = read(&null, 1, 2048);
    let row = |n: usize| &out[n * 256..n * 256 + 2];
    assert_eq!(
        [row(0), row(1), row(2), row(3), row(4), row(5)],
        [[P, P], [P, P], [P, P], [16, 17], [P, P], [32, 33]]
    );
}

fn attach(colors: &[Option<NativeColor>], depth_stencil: Option<NativeDepthStencil>) -> NativeRenderPass<'_> {
    NativeRenderPass { extent: (1, 1), colors, depth_stencil, ..empty_pass() }
}

#[test]
fn attachments_clear_keep_and_forget() {
    let mut null = device(NullConfig::executing(), 1024);
    let desc = desc(TextureFormat::Bgra8Unorm, 1, 1);
    texture(&mut null, &desc);
    view(&mut null, 0, 0, &desc);
    let mut seen = |load, store| {
        submit(&mut null, |encoder, null| {
            transition(encoder, null, &[barrier(0, whole(&desc), Layout::CopyDst, Layout::ColorAttachment)]);
            encoder.begin_render_pass(
                null,
                &attach(&[Some(NativeColor { view: 0, load, store, resolve: None })], None),
            );
            encoder.end_render_pass(null);
            transition(encoder, null, &[barrier(0, whole(&desc), Layout::ColorAttachment, Layout::CopySrc)]);
            let copy = NativeBufferTextureCopy { buffer: 1, ..texels(desc.format, [0; 3], desc.size) };
            encoder.copy_texture_to_buffer(null, &copy);
            transition(encoder, null, &[barrier(0, whole(&desc), Layout::CopySrc, Layout::CopyDst)]);
        });
        read(&null, 1, 4)
    };
    let red = NativeLoad::Clear(ClearValue::Float([1.0, 0.5, 0.0, 2.0]));
    assert_eq!(seen(red, StoreOp::Store), [0, 128, 255, 255]);
    assert_eq!(seen(NativeLoad::Load, StoreOp::Store), [0, 128, 255, 255]);
    assert_eq!(seen(NativeLoad::Load, StoreOp::Discard), [P; 4]);
    seen(red, StoreOp::Store);
    assert_eq!(seen(NativeLoad::DontCare, StoreOp::Store), [P; 4]);
}

#[test]
fn depth_and_stencil_are_apart() {
    let mut null = device(NullConfig::executing(), 1024);
    let desc = desc(TextureFormat::Depth32FloatStencil8, 1, 1);
    texture(&mut null, &desc);
    view(&mut null, 0, 0, &desc);
    let aspect = TextureAspect::StencilOnly;
    let attachment = NativeDepthStencil {
        view: 0,
        depth: Some(NativeAspect { load: NativeLoad::Clear(0.5), store: StoreOp::Store, read_only: false }),
        stencil: Some(NativeAspect { load: NativeLoad::Load, store: StoreOp::Discard, read_only: true }),
    };
    submit(&mut null, |encoder, null| {
        encoder.copy_buffer_to_texture(
            null,
            &NativeBufferTextureCopy { aspect, offset: 8, ..texels(desc.format, [0; 3], desc.size) },
        );
        let all = whole(&desc);
        transition(encoder, null, &[barrier(0, all, Layout::CopyDst, Layout::DepthStencilAttachment)]);
        encoder.begin_render_pass(null, &attach(&[], Some(attachment)));
        encoder.end_render_pass(null);
        transition(encoder, null, &[barrier(0, all, Layout::DepthStencilAttachment, Layout::CopySrc)]);
        for (aspect, offset) in [(TextureAspect::DepthOnly, 0), (aspect, 4)] {
            let copy = texels(desc.format, [0; 3], desc.size);
            encoder
                .copy_texture_to_buffer(null, &NativeBufferTextureCopy { buffer: 1, aspect, offset, ..copy });
        }
    });
    assert_eq!(read(&null, 1, 6), [0, 0, 0, 63, 8, P]);
}

#[test]
fn layouts_are_tracked() {
    let mut null = device(NullConfig::manual(), 256);
    let control = null.control();
    pipelines(&mut null);
    let desc = desc(TextureFormat::R8Uint, 1, 1);
    null.create_texture(0, &desc).unwrap();
    view(&mut null, 0, 0, &desc);
    null.create_bind_group_layout(0, "gl", &[]).unwrap();
    null.create_bind_group(0, "g", 0, &[NativeBinding::Texture { view: 0, layout: Layout::ShaderRead }])
        .unwrap();
    let copy = texels(desc.format, [0; 3], desc.size);
    submit(&mut null, |encoder, null| encoder.copy_buffer_to_texture(null, &copy));
    let text = panic_of(|| control.complete_all());
    assert!(
        text.contains("copy_buffer_to_texture: texture slot 0") && text.contains("layout Undefined"),
        "{text}"
    );
    submit(&mut null, |encoder, null| {
        transition(encoder, null, &[barrier(0, whole(&desc), Layout::CopySrc, Layout::CopyDst)]);
    });
    let text = panic_of(|| control.complete_all());
    assert!(text.contains("barriers: texture slot 0"), "{text}");
    submit(&mut null, |encoder, null| {
        transition(encoder, null, &[barrier(0, whole(&desc), Layout::Undefined, Layout::General)]);
        encoder.begin_compute_pass(null, "c", None);
        encoder.dispatch(null, Dirty::PIPELINE | Dirty::GROUP0, &bind_state(), Dispatch::Direct([1; 3]));
        encoder.end_compute_pass(null);
    });
    let text = panic_of(|| control.complete_all());
    assert!(text.contains("bound group: texture slot 0") && text.contains("expected [ShaderRead]"), "{text}");
    let config = NullConfig { check_layouts: false, ..NullConfig::executing() };
    let mut null = device(config, 256);
    null.create_texture(0, &desc).unwrap();
    submit(&mut null, |encoder, null| encoder.copy_buffer_to_texture(null, &copy));
}
