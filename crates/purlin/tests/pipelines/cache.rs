//! P9: the driver's cache on disk, and what may become of it there.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use purlin::Error;
use purlin::rhi::backend::Backend;
use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::{CacheFileError, CacheLoad, CacheRejection, Device, PipelineCacheFile};

use crate::support::*;

/// Where the parts of the header lie.
const VERSION: usize = 8;
const BACKEND: usize = 12;
const VENDOR: usize = 28;
const DEVICE: usize = 32;
const DRIVER: usize = 36;
const UUID: usize = 40;
const LENGTH: usize = 56;
const CHECKSUM: usize = 64;
const HEADER: usize = 72;

#[track_caller]
fn rejected<B: Backend>(device: &mut Device<B>, blob: &[u8]) -> CacheRejection {
    match device.load_pipeline_cache(blob).unwrap() {
        CacheLoad::Rejected(reason) => reason,
        other => panic!("{other:?}"),
    }
}

fn flipped(blob: &[u8], at: usize) -> Vec<u8> {
    let mut blob = blob.to_vec();
    blob[at] ^= 0x10;
    blob
}

/// That pipelines build as ever.
fn builds<B: Backend>(device: &mut Device<B>) {
    let parts = Parts::new(device, &shader(&paint("1.0, 0.0, 1.0, 1.0")));
    let ticket = parts.request(device, 0).unwrap();
    assert!(device.wait_for_pipelines(LONG).unwrap());
    device.pipeline(&ticket).unwrap();
}

/// Every case of C110 on a device that has a cache.
fn bad_blobs<B: Backend>(device: &mut Device<B>) {
    use CacheRejection as R;
    builds(device);
    let good = device.pipeline_cache().unwrap();
    let foreign =
        |reason, wanted| assert!(matches!(&reason, R::Foreign { field, .. } if *field == wanted), "{reason}");
    // Nothing, and nothing with a place to point at.
    let none: &[u8] = &[];
    assert_eq!(rejected(device, none), R::Length { expected: HEADER as u64, found: 0 });
    assert_eq!(rejected(device, &good[..0]), R::Length { expected: HEADER as u64, found: 0 });
    assert_eq!(rejected(device, &good[..16]), R::Length { expected: HEADER as u64, found: 16 });
    assert_eq!(rejected(device, &[0; 4096]), R::NotACache);
    assert!(matches!(rejected(device, &flipped(&good, VERSION)), R::Form { found: 17 }));
    foreign(rejected(device, &flipped(&good, BACKEND)), "backend");
    foreign(rejected(device, &flipped(&good, VENDOR)), "vendor");
    foreign(rejected(device, &flipped(&good, DEVICE)), "device");
    foreign(rejected(device, &flipped(&good, DRIVER)), "driver version");
    foreign(rejected(device, &flipped(&good, UUID + 15)), "cache UUID");
    assert!(matches!(rejected(device, &flipped(&good, LENGTH)), R::Length { .. }));
    assert_eq!(rejected(device, &flipped(&good, CHECKSUM)), R::Damaged);
    assert_eq!(rejected(device, &flipped(&good, good.len() - 1)), R::Damaged);
    assert_eq!(rejected(device, &flipped(&good, HEADER)), R::Damaged);
    assert!(matches!(rejected(device, &good[..good.len() - 1]), R::Length { .. }));
    assert!(matches!(rejected(device, &[&good[..], &[0]].concat()), R::Length { .. }));
    builds(device);
    // And the whole one is taken.
    let bytes = (good.len() - HEADER) as u64;
    assert_eq!(device.load_pipeline_cache(&good), Ok(CacheLoad::Loaded(bytes)));
    builds(device);
}

/// A blob with a few damages: bits, bytes, runs, cuts, additions, swaps.
fn mutated(good: &[u8], random: &mut impl FnMut() -> u64) -> Vec<u8> {
    let mut blob = good.to_vec();
    for _ in 0..=random() % 3 {
        if blob.is_empty() {
            break;
        }
        // The header is small, and the most of what is worth damaging.
        let end = if random().is_multiple_of(2) { blob.len() } else { blob.len().min(HEADER + 32) };
        let at = random() as usize % end;
        match random() % 6 {
            0 => blob[at] ^= 1 << (random() % 8),
            1 => blob[at] = random() as u8,
            2 => blob.truncate(at),
            3 => blob.extend(random().to_le_bytes()),
            4 => {
                let to = (at + 8).min(blob.len());
                blob[at..to].fill(if random().is_multiple_of(2) { 0 } else { 255 });
            }
            _ => {
                let other = random() as usize % blob.len();
                blob.swap(at, other);
            }
        }
    }
    blob
}

fn numbers() -> impl FnMut() -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    }
}

/// Loads a thousand of them; how long all took.
fn thousand<B: Backend>(device: &mut Device<B>) -> Duration {
    let good = device.pipeline_cache().unwrap();
    let mut random = numbers();
    let blobs: Vec<_> = (0..1000).map(|_| mutated(&good, &mut random)).collect();
    let start = Instant::now();
    for blob in &blobs {
        let load = device.load_pipeline_cache(blob).unwrap();
        assert_eq!(matches!(load, CacheLoad::Loaded(_)), *blob == good, "{load:?}");
    }
    start.elapsed()
}

#[test]
fn c110_bad_blobs_are_an_empty_cache_and_pipelines_still_build() {
    let config = NullConfig { pipeline_cache: true, pipeline_jobs: true, ..NullConfig::default() };
    let null = Null::new(config);
    let control = null.control();
    let mut device = Device::from_backend(null, &Default::default()).unwrap();
    bad_blobs(&mut device);
    let whole = device.pipeline_cache().unwrap()[HEADER..].to_vec();
    assert_eq!(control.caches(), [whole], "the driver was shown the whole one alone");
}

#[test]
fn c110_on_vulkan() {
    let Some((mut device, messages)) = vulkan("bad blobs") else { return };
    bad_blobs(&mut device);
    close(device, &messages);
}

#[test]
fn a_thousand_mutated_blobs_neither_crash_nor_slow_a_start() {
    let mut device = null(true);
    let took = thousand(&mut device);
    assert!(took < Duration::from_secs(5), "{took:?}");
    builds(&mut device);
    let Some((mut device, messages)) = vulkan("mutated blobs") else { return };
    builds(&mut device);
    let took = thousand(&mut device);
    println!("a thousand mutated blobs: {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    builds(&mut device);
    close(device, &messages);
}

/// The driver's own header is checked too, whatever the one around it says.
#[test]
fn c110_vulkan_checks_the_drivers_header() {
    let Some((mut device, messages)) = vulkan("driver header") else { return };
    builds(&mut device);
    let whole = device.backend().pipeline_cache_data().unwrap();
    drop(device);
    let open = || pollster::block_on(purlin::vulkan::Vulkan::request(&Default::default())).unwrap();
    let mut backend = open();
    for (at, part) in [(0, "size"), (4, "version"), (8, "vendor"), (12, "device"), (16, "UUID"), (31, "UUID")]
    {
        let error = backend.add_pipeline_cache(&flipped(&whole, at)).unwrap_err();
        assert!(format!("{error:?}").contains(part), "{error:?}");
    }
    for bytes in [0, 16, 31] {
        assert!(backend.add_pipeline_cache(&whole[..bytes]).is_err());
    }
    assert_eq!(backend.add_pipeline_cache(&whole), Ok(()));
    assert_eq!(messages.count(), 0);
}

#[test]
fn a_backend_without_a_cache_says_so() {
    let mut device = Device::from_backend(Null::new(NullConfig::default()), &Default::default()).unwrap();
    let folder = Folder::new("no-cache");
    let file = PipelineCacheFile::new(folder.path("cache"));
    let unsupported = |error: &Error| {
        assert!(error.to_string().contains("needs a driver's pipeline cache; null has none"), "{error}");
        matches!(error, Error::Unsupported { .. })
    };
    assert!(unsupported(&device.pipeline_cache().unwrap_err()));
    assert!(unsupported(&device.load_pipeline_cache(&[]).unwrap_err()));
    assert!(unsupported(&file.load(&mut device).unwrap_err()));
    assert!(matches!(file.save(&mut device), Err(CacheFileError::Device(error)) if unsupported(&error)));
    assert_eq!(folder.files(), 0);
}

#[test]
fn a_cache_is_loaded_before_requests() {
    let mut device = null(false);
    let blob = device.pipeline_cache().unwrap();
    let parts = Parts::new(&mut device, &shader(&paint("1.0, 0.0, 0.0, 1.0")));
    let _ticket = parts.request(&mut device, 0).unwrap();
    assert!(matches!(device.load_pipeline_cache(&blob), Err(Error::Pending { .. })));
    assert!(device.wait_for_pipelines(LONG).unwrap());
    assert!(matches!(device.load_pipeline_cache(&blob), Ok(CacheLoad::Loaded(4096))));
}

/// Counts warnings.
struct Warnings(Arc<AtomicU64>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn c110_files_are_written_whole_and_bounded_and_bad_ones_warn_once() {
    let count = Arc::new(AtomicU64::new(0));
    let warned = || count.swap(0, Ordering::Relaxed);
    let _guard = tracing::subscriber::set_default(Warnings(count.clone()));
    let mut device = null(false);
    let folder = Folder::new("cache");
    let path = folder.path("deeper/pipelines.cache");
    let file = PipelineCacheFile::new(&path);
    assert_eq!(file.load(&mut device), Ok(CacheLoad::Missing));
    assert_eq!(warned(), 0, "a first start is nothing to warn of");
    assert_eq!(file.save(&mut device).unwrap(), HEADER as u64 + 4096);
    assert_eq!(file.load(&mut device), Ok(CacheLoad::Loaded(4096)));
    assert_eq!(std::fs::read_dir(folder.path("deeper")).unwrap().count(), 1, "no temporary files");
    assert_eq!(warned(), 0);

    // Damaged on disk: one warning, and the next save mends it.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, flipped(&whole, 1000)).unwrap();
    assert_eq!(file.load(&mut device), Ok(CacheLoad::Rejected(CacheRejection::Damaged)));
    assert_eq!(warned(), 1);
    file.save(&mut device).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole);

    // A bound holds for reading, however large the file, and for writing, which leaves the file as it was.
    let small = PipelineCacheFile::new(&path).with_limit(1000);
    assert_eq!(small.load(&mut device), Ok(CacheLoad::Rejected(CacheRejection::TooLarge { most: 1000 })));
    assert!(matches!(small.save(&mut device), Err(CacheFileError::TooLarge { bytes: 4168, most: 1000, .. })));
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&vec![0; 1 << 20]).unwrap();
    assert!(matches!(file.load(&mut device), Ok(CacheLoad::Rejected(CacheRejection::Length { .. }))));

    // What is no file cannot be read or replaced.
    let place = PipelineCacheFile::new(folder.path("deeper"));
    assert!(matches!(place.load(&mut device), Ok(CacheLoad::Rejected(CacheRejection::Unreadable(_)))));
    assert!(matches!(place.save(&mut device), Err(CacheFileError::Io { .. })));
    assert_eq!(folder.files(), 1, "the temporary file is gone");
}

#[test]
fn vulkan_takes_its_own_cache_back() {
    let folder = Folder::new("vulkan-cache");
    let file = PipelineCacheFile::new(folder.path("pipelines.cache"));
    for run in 0..2 {
        let Some((mut device, messages)) = vulkan("cache on disk") else { return };
        let load = file.load(&mut device).unwrap();
        assert_eq!(matches!(load, CacheLoad::Loaded(bytes) if bytes >= 32), run == 1, "{load:?}");
        builds(&mut device);
        assert!(file.save(&mut device).unwrap() > HEADER as u64);
        close(device, &messages);
    }
}
