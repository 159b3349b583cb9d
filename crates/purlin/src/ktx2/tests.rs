use super::*;
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::{DeviceRequest, Features};

/// What a file's header says.
#[derive(Clone, Copy)]
struct Fields {
    format: u32,
    size: [u32; 3],
    layers: u32,
    faces: u32,
    levels: u32,
    scheme: u32,
}

const RGBA8: u32 = 37;
const BC7: u32 = 145;

const PLAIN: Fields = Fields { format: RGBA8, size: [4, 2, 0], layers: 0, faces: 1, levels: 1, scheme: 0 };

/// A file of these levels, the largest first, with the smallest descriptor that a reader takes.
fn file(fields: Fields, levels: &[(&[u8], u64)]) -> Vec<u8> {
    let Fields { format, size, layers, faces, levels: count, scheme } = fields;
    let words = [format, 1, size[0], size[1], size[2], layers, faces, count, scheme];
    let descriptor = 80 + 24 * levels.len() as u32;
    let mut bytes = ktx2::MAGIC.to_vec();
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    [descriptor, 4, 0, 0].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend([0; 16]);
    let mut at = u64::from(descriptor) + 4;
    for (data, length) in levels {
        [at, data.len() as u64, *length].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        at += data.len() as u64;
    }
    bytes.extend(4u32.to_le_bytes());
    levels.iter().for_each(|(data, _)| bytes.extend_from_slice(data));
    bytes
}

fn plain(fields: Fields, levels: &[&[u8]]) -> Vec<u8> {
    let levels: Vec<_> = levels.iter().map(|data| (*data, data.len() as u64)).collect();
    file(fields, &levels)
}

fn error(bytes: &[u8]) -> String {
    Ktx2::parse(bytes).expect_err("an error").to_string()
}

/// One block of Zstandard that is not compressed.
fn zstd(data: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x20, data.len() as u8];
    let block = (data.len() as u32) << 3 | 1;
    frame.extend(&block.to_le_bytes()[..3]);
    frame.extend(data);
    frame
}

#[test]
fn shapes_are_what_the_header_says() {
    let texels = [7; 4 * 4 * 4 * 24];
    let of = |fields: Fields, bytes: usize| {
        let file = plain(fields, &[&texels[..bytes]]);
        let ktx2 = Ktx2::parse(&file).unwrap();
        let Extent3d { width, height, depth_or_array_layers } = ktx2.size();
        ([width, height, depth_or_array_layers], ktx2.desc("t").dimension, ktx2.view().dimension)
    };
    let (flat, volume) = (TextureDimension::D2, TextureDimension::D3);
    use TextureViewDimension::{Cube, CubeArray, D2, D2Array, D3};
    assert_eq!(of(PLAIN, 32), ([4, 2, 1], flat, Some(D2)));
    assert_eq!(of(Fields { layers: 3, ..PLAIN }, 96), ([4, 2, 3], flat, Some(D2Array)));
    let cube = Fields { size: [4, 4, 0], faces: 6, ..PLAIN };
    assert_eq!(of(cube, 384), ([4, 4, 6], flat, Some(Cube)));
    assert_eq!(of(Fields { layers: 2, ..cube }, 768), ([4, 4, 12], flat, Some(CubeArray)));
    assert_eq!(of(Fields { size: [4, 2, 2], ..PLAIN }, 64), ([4, 2, 2], volume, Some(D3)));
}

#[test]
fn mips_are_whole_blocks() {
    let fields = Fields { format: BC7, size: [8, 8, 0], levels: 4, ..PLAIN };
    let chain: [&[u8]; 4] = [&[1; 64], &[2; 16], &[3; 16], &[4; 16]];
    let bytes = plain(fields, &chain);
    let ktx2 = Ktx2::parse(&bytes).unwrap();
    assert_eq!((ktx2.format(), ktx2.mips()), (TextureFormat::Bc7RgbaUnorm, 4));
    assert_eq!((ktx2.texels(3), ktx2.texels(4)), (Some(&[4; 16][..]), None));
    let short: [&[u8]; 4] = [chain[0], chain[1], &[3; 4], chain[3]];
    assert_eq!(error(&plain(fields, &short)), "damaged KTX2 file: mip 2: expected 16 bytes, found 4");
    let five = [chain[0], chain[1], chain[2], chain[3], chain[3]];
    assert!(error(&plain(Fields { levels: 5, ..fields }, &five)).contains("5 mips, and 4 is the most"));
}

#[test]
fn zstandard_is_undone_and_checked() {
    let texels: Vec<u8> = (0..32).collect();
    let fields = Fields { scheme: 2, ..PLAIN };
    let frame = zstd(&texels);
    let bytes = file(fields, &[(&frame, 32)]);
    assert_eq!(Ktx2::parse(&bytes).unwrap().texels(0), Some(&texels[..]));
    // Another length than the texels have: declared, or found.
    assert!(matches!(
        Ktx2::parse(&file(fields, &[(&frame, 33)])),
        Err(Ktx2Error::Length { mip: 0, expected: 32, found: 33 })
    ));
    for (length, found) in [(31, 31), (40, 33)] {
        let frame = zstd(&vec![1; length]);
        let bytes = file(fields, &[(&frame, 32)]);
        match Ktx2::parse(&bytes) {
            Err(Ktx2Error::Length { expected: 32, found: is, .. }) => assert_eq!(is, found),
            other => panic!("{other:?}"),
        }
    }
    let mut broken = frame.clone();
    broken[0] = 0;
    assert!(matches!(Ktx2::parse(&file(fields, &[(&broken, 32)])), Err(Ktx2Error::Damaged(_))));
}

#[test]
fn what_is_not_loaded_is_named() {
    let of = |fields: Fields| error(&plain(fields, &[&[0; 32]]));
    assert!(
        of(Fields { format: 0, ..PLAIN }).contains("vkFormat is undefined"),
        "{}",
        of(Fields { format: 0, ..PLAIN })
    );
    assert!(of(Fields { format: 23, ..PLAIN }).contains("R8G8B8_UNORM"));
    assert!(of(Fields { size: [4, 0, 0], ..PLAIN }).contains("pixelHeight is 0"));
    assert!(of(Fields { size: [4, 2, 2], layers: 2, ..PLAIN }).contains("layerCount is 2"));
    assert!(of(Fields { scheme: 1, ..PLAIN }).contains("supercompressionScheme is BasisLZ"));
    assert!(of(Fields { faces: 5, ..PLAIN }).contains("5 faces"));
    assert!(of(Fields { faces: 6, ..PLAIN }).contains("a cube of 4x2x0"));
}

#[test]
fn damaged_files_are_errors() {
    let texels: Vec<u8> = (0..32).collect();
    for (fields, data) in [(PLAIN, texels.clone()), (Fields { scheme: 2, ..PLAIN }, zstd(&texels))] {
        let good = file(fields, &[(&data, 32)]);
        Ktx2::parse(&good).unwrap();
        for length in 0..good.len() {
            assert!(Ktx2::parse(&good[..length]).is_err(), "cut to {length} bytes");
        }
        // Whatever a byte of the headers becomes, the answer is one or an error.
        for at in 0..good.len() - data.len() {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                let _ = Ktx2::parse(&bytes);
            }
        }
    }
}

#[test]
fn every_format_is_one_of_both() {
    for format in ktx2::Format::ALL {
        let Some(ours) = format::texture_format(*format) else { continue };
        let name = format!("{format:?}").to_lowercase();
        let srgb = name.contains("srgb");
        assert_eq!(ours.is_srgb(), srgb, "{name}, {ours:?}");
        assert_eq!(ours.is_compressed(), name.contains("block"), "{name}, {ours:?}");
        if let TextureFormat::Astc { block, .. } = ours {
            let (width, height) = ours.block_dimensions();
            assert!(name.contains(&format!("{width}x{height}")), "{name}, {block:?}");
        }
    }
}

#[test]
fn uploads_go_in_pieces_of_the_ring() {
    // 64 rows of 256 bytes in three layers, through a ring of 4 KiB.
    let texels: Vec<u8> = (0..64 * 256 * 3).map(|i| (i / 97) as u8).collect();
    let bytes = plain(Fields { size: [64, 64, 0], layers: 3, ..PLAIN }, &[&texels]);
    let ktx2 = Ktx2::parse(&bytes).unwrap();
    let mut request = DeviceRequest::default();
    request.storage.upload_ring = 4096;
    let null = Null::new(NullConfig { execute: true, ..NullConfig::default() });
    let mut device = Device::from_backend(null, &request).unwrap();
    let desc = ktx2.desc("pieces");
    let usage = desc.usage | TextureUsages::COPY_SRC;
    let texture = device.create_texture(&TextureDesc { usage, ..desc }).unwrap();
    ktx2.write(&mut device, *texture).unwrap();
    let mut recorder = device.record("read").unwrap();
    let ticket = recorder.read_texture(&TexturePlace::mip(*texture, 0), ktx2.size()).unwrap();
    let token = recorder.submit().unwrap();
    assert!(device.wait(token, Duration::from_secs(1)).unwrap());
    assert!(device.read_vec(&ticket).unwrap() == texels);
    assert!(device.create_texture_view(*texture, &ktx2.view()).is_ok());
    assert!(ktx2.upload(&mut device, "again").is_ok());
}

#[test]
fn a_device_without_the_format_says_so() {
    let bytes = plain(Fields { format: BC7, size: [4, 4, 0], ..PLAIN }, &[&[0; 16]]);
    let ktx2 = Ktx2::parse(&bytes).unwrap();
    let null = Null::new(NullConfig { features: Features::empty(), ..NullConfig::default() });
    let mut device = Device::from_backend(null, &DeviceRequest::default()).unwrap();
    match ktx2.upload(&mut device, "bc7") {
        Err(Ktx2Error::Device(Error::Unsupported { capability, .. })) => {
            assert_eq!(capability, "feature TEXTURE_COMPRESSION_BC");
        }
        other => panic!("{other:?}"),
    }
}
