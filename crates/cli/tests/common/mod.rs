//! What the tests share: a device (validated on request), scratch folders, the demo's binary, and pictures.
#![allow(dead_code)] // Each test file uses a part.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use purlin::vulkan::ValidationMessages;
use purlin::{Device, DeviceRequest, Error, Validation};
use purlin_cli::renderer::{PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use purlin_cli::scene::Scene;
use purlin_cli::size::Size;

/// Whether a missing adapter or model fails a test instead of skipping it.
pub fn required() -> bool {
    std::env::var_os("PURLIN_REQUIRE_GPU").is_some_and(|value| value == "1")
}

/// Whether GPU tests run under the validation layer.
pub fn validated() -> bool {
    std::env::var_os("PURLIN_VALIDATE").is_some_and(|value| value == "1")
}

/// A device for one test. Its end fails the test if validation said anything, teardown included.
pub struct Gpu {
    pub device: Option<Device>,
    messages: ValidationMessages,
}

/// Opens a device; `None`, with the reason printed, on a machine without an adapter.
pub fn gpu(test: &str) -> Option<Gpu> {
    let request = DeviceRequest {
        label: test,
        required_features: REQUIRED_FEATURES,
        preferred_features: PREFERRED_FEATURES,
        validation: if validated() { Validation::Synchronization } else { Validation::Off },
        ..Default::default()
    };
    match pollster::block_on(Device::request(&request)) {
        Ok(device) => {
            let messages = device.backend().messages();
            Some(Gpu { device: Some(device), messages })
        }
        Err(error @ Error::NoAdapter { .. }) if !required() => {
            println!("{test}: skipped: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.device = None;
        if !std::thread::panicking() {
            let texts = self.messages.take();
            assert_eq!(self.messages.count(), 0, "validation said:\n{}", texts.join("\n"));
        }
    }
}

impl Gpu {
    pub fn device(&mut self) -> &mut Device {
        self.device.as_mut().expect("open until dropped")
    }

    /// A scene's picture after one frame.
    pub fn picture(&mut self, scene: &Scene, size: Size) -> Picture {
        let device = self.device();
        let mut renderer = Renderer::new(device, scene, size, &mut |_| {}).expect("a renderer");
        renderer.render(device).expect("a frame");
        let (_, pixels) = renderer.capture(device).expect("a picture");
        Picture { size, pixels }
    }
}

/// RGBA pixels, rows from the top.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    pub size: Size,
    pub pixels: Vec<u8>,
}

impl Picture {
    pub fn load(path: &Path) -> Self {
        let image = image::open(path).expect("a picture").into_rgba8();
        let size = Size { width: image.width(), height: image.height() };
        Self { size, pixels: image.into_raw() }
    }

    /// The mean color around a point, both given as shares of the picture.
    pub fn mean(&self, x: f32, y: f32) -> [f32; 3] {
        let Size { width, height } = self.size;
        let at = |share: f32, side: u32| ((share * side as f32) as u32).clamp(2, side - 3);
        let (x, y) = (at(x, width), at(y, height));
        let mut sum = [0.0; 3];
        for row in y - 2..=y + 2 {
            for column in x - 2..=x + 2 {
                let first = (row * width + column) as usize * 4;
                for (sum, value) in sum.iter_mut().zip(&self.pixels[first..first + 3]) {
                    *sum += f32::from(*value) / 25.0;
                }
            }
        }
        sum
    }

    /// The mean of the three channels around a point.
    pub fn brightness(&self, x: f32, y: f32) -> f32 {
        self.mean(x, y).iter().sum::<f32>() / 3.0
    }

    /// The mean difference of all channels, and the share of pixels that differ by more than 16 in any.
    pub fn difference(&self, other: &Picture) -> (f64, f64) {
        assert_eq!(self.size, other.size);
        let pairs = self.pixels.chunks_exact(4).zip(other.pixels.chunks_exact(4));
        let (mut sum, mut far) = (0u64, 0u64);
        for (a, b) in pairs {
            let differences = [0, 1, 2, 3].map(|i| u64::from(a[i].abs_diff(b[i])));
            sum += differences.iter().sum::<u64>();
            far += u64::from(differences.iter().any(|d| *d > 16));
        }
        (sum as f64 / self.pixels.len() as f64, far as f64 / (self.pixels.len() / 4) as f64)
    }
}

/// A model of the shared data; `None`, with the reason printed, where it is absent.
pub fn model(path: &str) -> Option<PathBuf> {
    let data = match std::env::var_os("PURLIN_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let path = data.join("models").join(path);
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: there is no {} (PURLIN_DATA names the folder of test data)", path.display());
    None
}

/// A folder of its own for one test, removed when the test ends.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("purlin-{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).expect("the temporary folder is writable");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the temporary folder is writable");
        path
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The demo's program in a folder of its own, so that default outputs land there.
pub fn demo(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin-demo"));
    command.current_dir(folder.path()).env_remove("PURLIN_LOG");
    command
}

/// The one line that a refused run prints; nothing on the standard output, exit code 1.
#[track_caller]
pub fn refusal(output: &Output) -> String {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "stdout: {out}\nstderr: {error}");
    assert_eq!(out, "", "stderr: {error}");
    let line = error.strip_suffix('\n').expect("a line");
    assert!(!line.contains('\n') && !line.contains("panicked"), "{error}");
    line.strip_prefix("error: ").expect("an error").to_owned()
}
