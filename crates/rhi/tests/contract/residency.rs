//! Which parts of a texture have contents (R7): masks as mips come, and what may be sampled meanwhile.

use std::time::Duration;

use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

/// Eight by four texels of four bytes, with three mips.
fn desc(contents: Contents) -> TextureDesc<'static> {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::COPY_SRC;
    TextureDesc { mips: 3, contents, ..TextureDesc::d2("t", 8, 4, TextureFormat::Rgba8Unorm, usage) }
}

fn write(gpu: &mut Gpu, texture: Texture, mip: u32, layer: u32) {
    let size = mip_size(extent(8, 4, 1), TextureDimension::D2, mip);
    let layout = TexelLayout { offset: 0, bytes_per_row: size.width * 4, rows_per_image: size.height };
    let place = TexturePlace { origin: Origin3d { x: 0, y: 0, z: layer }, ..TexturePlace::mip(texture, mip) };
    gpu.write_texture(&place, size, &layout, &[7; 128]).unwrap();
}

/// R7: masks 1, 3 and 7 as mips complete, with 128, 160 and 168 bytes.
#[test]
fn masks_grow_as_mips_come() {
    for contents in [Contents::Uploaded, Contents::Tracked] {
        let (mut gpu, _control) = executing();
        let texture = gpu.create_texture(&desc(contents)).unwrap();
        let found = |gpu: &Gpu| {
            let found = gpu.texture_residency(*texture).unwrap();
            (found.mask(), found.bytes(), found.is_complete())
        };
        assert_eq!(found(&gpu), (0, 0, false));
        for (mip, expected) in [(0, (1, 128, false)), (1, (3, 160, false)), (2, (7, 168, true))] {
            write(&mut gpu, *texture, mip, 0);
            assert_eq!(found(&gpu), expected, "{contents:?}, queued");
            let token = gpu.flush_uploads().unwrap();
            assert!(gpu.wait(token, Duration::from_secs(1)).unwrap());
            assert_eq!(found(&gpu), expected, "{contents:?}, complete");
        }
    }
}

#[test]
fn a_mip_counts_when_all_its_layers_do() {
    let mut gpu = plain();
    let layered = TextureDesc { size: extent(8, 4, 3), ..desc(Contents::Uploaded) };
    let texture = gpu.create_texture(&layered).unwrap();
    for (layer, mask) in [(0, 0), (2, 0), (1, 4)] {
        write(&mut gpu, *texture, 2, layer);
        let found = gpu.texture_residency(*texture).unwrap();
        assert_eq!((found.mask(), found.contains(2, layer), found.contains(1, layer)), (mask, true, false));
    }
    let found = gpu.texture_residency(*texture).unwrap();
    assert_eq!((found.mips(), found.layers(), found.bytes()), (3, 3, 24));
    assert!(!found.contains(2, 3) && !found.contains(3, 0) && !found.contains(u32::MAX, u32::MAX));
}

#[test]
fn discarded_contents_are_gone() {
    let (mut gpu, _control) = executing();
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let texture = gpu.create_texture(&TextureDesc::d2("t", 4, 4, TextureFormat::Rgba8Unorm, usage)).unwrap();
    let view = gpu.create_texture_view(*texture, &TextureViewDesc::default()).unwrap();
    for (store, mask) in [(StoreOp::Store, 1), (StoreOp::Discard, 0)] {
        let color = cleared(*view).map(|attachment| ColorAttachment { store, ..attachment });
        let mut recorder = gpu.record("frame").unwrap();
        recorder.render_pass(&pass(&[color], &[]), |_| {}).unwrap();
        recorder.submit().unwrap();
        assert_eq!(gpu.texture_residency(*texture).unwrap().mask(), mask, "{store:?}");
    }
}

#[test]
fn stale_textures_have_no_residency() {
    let mut gpu = plain();
    let texture = gpu.create_texture(&desc(Contents::Uploaded)).unwrap();
    let handle = *texture;
    gpu.destroy(handle).unwrap();
    assert!(matches!(gpu.texture_residency(handle), Err(Error::InvalidHandle { .. })));
}
