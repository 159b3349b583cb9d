//! One program for several backends: which of them runs it is chosen when it starts.
//!
//! A program is one generic function, compiled once for each backend type; the choice is made once, and nothing
//! in a frame asks again.
//!
//! ```no_run
//! use purlin::choose::{Choice, Program, run};
//! use purlin::rhi::{self, backend::Backend};
//!
//! struct Hello;
//!
//! impl Program for Hello {
//!     type Output = String;
//!
//!     fn run<B: Backend>(self, device: rhi::Device<B>) -> String {
//!         format!("hello from {}", device.adapter().name)
//!     }
//! }
//!
//! # fn main() -> purlin::Result<()> {
//! let choice = Choice::from_env()?;
//! let ran = pollster::block_on(run(&choice, &Default::default(), Hello))?;
//! println!("{} on {}", ran.output, ran.backend);
//! # Ok(())
//! # }
//! ```

use purlin_rhi::backend::Backend;
use purlin_rhi::{Device, DeviceRequest, Error};

/// The environment variable that [`Choice::from_env`] reads.
pub const VARIABLE: &str = "PURLIN_BACKEND";

/// Every backend that this build may choose, best first: `vulkan`, then those on wgpu as
/// [`AdapterInfo::backend`](purlin_rhi::AdapterInfo::backend) names them.
pub fn compiled() -> Vec<&'static str> {
    let mut names = Vec::new();
    if cfg!(feature = "vulkan") {
        names.push("vulkan");
    }
    #[cfg(feature = "any-wgpu")]
    names.extend(purlin_wgpu::compiled());
    names
}

/// Which backend runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The first of [`compiled`] that opens a device for the request.
    #[default]
    Auto,
    /// This one of [`compiled`], or none.
    Only(&'static str),
}

impl Choice {
    /// One backend by name, or `auto`.
    ///
    /// # Errors
    /// [`Error::InvalidDescription`] with the names that are compiled.
    pub fn named(name: &str) -> Result<Self, Error> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        let names = compiled();
        names.iter().find(|one| **one == name).map(|one| Self::Only(one)).ok_or_else(|| {
            Error::InvalidDescription {
                what: "choice of a backend".into(),
                field: "name",
                expected: format!("auto, or what is compiled: {}", names.join(", ")),
                found: format!("\"{name}\""),
            }
        })
    }

    /// What the environment variable [`VARIABLE`] names; [`Choice::Auto`] without it.
    ///
    /// # Errors
    /// As [`Self::named`].
    pub fn from_env() -> Result<Self, Error> {
        match std::env::var_os(VARIABLE) {
            Some(name) if !name.is_empty() => Self::named(&name.to_string_lossy()),
            _ => Ok(Self::Auto),
        }
    }
}

/// A program that runs on any backend.
pub trait Program {
    /// What it answers.
    type Output;

    /// Runs on a device, and ends with it.
    fn run<B: Backend>(self, device: Device<B>) -> Self::Output;
}

/// A program that has run.
#[derive(Debug)]
pub struct Ran<T> {
    /// What it answered.
    pub output: T,
    /// The backend that ran it, one of [`compiled`].
    pub backend: &'static str,
    /// Backends that were tried before, with what kept each from opening.
    pub refused: Vec<(&'static str, Error)>,
    /// What the native validation layer said, the device's end included; at most the last 64 messages. Backends on
    /// wgpu count none.
    pub validation: Vec<String>,
}

/// Opens a device on the chosen backend and runs a program on it.
///
/// # Errors
/// A malformed request; a forced backend's own refusal; [`Error::NoAdapter`] with every refusal when nothing opens.
pub async fn run<P: Program>(
    choice: &Choice,
    request: &DeviceRequest<'_>,
    program: P,
) -> Result<Ran<P::Output>, Error> {
    let Found { device, backend, refused } = first(choice, request).await?;
    let (output, validation) = device.run(program);
    Ok(Ran { output, backend, refused, validation })
}

/// A device of a browser, and how it came to be.
#[cfg(all(target_arch = "wasm32", feature = "any-wgpu"))]
#[derive(Debug)]
pub struct InBrowser {
    /// The device. It never changes its backend.
    pub device: Device<purlin_wgpu::Wgpu>,
    /// Its backend, one of [`compiled`].
    pub backend: &'static str,
    /// Backends that were tried before, with what kept each from opening.
    pub refused: Vec<(&'static str, Error)>,
}

/// Opens a device in a browser, where one type is every backend and nothing can wait for [`run`] to end: WebGPU, else WebGL 2,
/// each once and never again.
///
/// The request's surface is the canvas to present to, a [`Canvas`](purlin_wgpu::Canvas); WebGL 2 has no device without.
///
/// # Errors
/// A malformed request; a forced backend's own refusal; [`Error::NoAdapter`] with every refusal when nothing opens.
#[cfg(all(target_arch = "wasm32", feature = "any-wgpu"))]
pub async fn open_in_browser(choice: &Choice, request: &DeviceRequest<'_>) -> Result<InBrowser, Error> {
    let Found { device: Opened::Wgpu(device), backend, refused } = first(choice, request).await?;
    Ok(InBrowser { device, backend, refused })
}

/// The first device that opens.
struct Found {
    device: Opened,
    backend: &'static str,
    refused: Vec<(&'static str, Error)>,
}

async fn first(choice: &Choice, request: &DeviceRequest<'_>) -> Result<Found, Error> {
    request.check()?;
    let candidates = match choice {
        Choice::Auto => compiled(),
        Choice::Only(name) => vec![*name],
    };
    let mut refused = Vec::new();
    for backend in candidates {
        let error = match open(backend, request).await {
            Ok(device) => return Ok(Found { device, backend, refused }),
            Err(error) => error,
        };
        if let Choice::Only(_) = choice {
            return Err(error);
        }
        refused.push((backend, error));
    }
    let reasons: Vec<String> = refused.iter().map(|(name, error)| format!("{name}: {error}")).collect();
    let detail = if reasons.is_empty() { "no backend is compiled".into() } else { reasons.join("; ") };
    Err(Error::NoAdapter { detail })
}

/// A device of one of the compiled types. There is one in a program's life, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Opened {
    #[cfg(feature = "vulkan")]
    Vulkan(Device<purlin_vulkan::Vulkan>),
    #[cfg(feature = "any-wgpu")]
    Wgpu(Device<purlin_wgpu::Wgpu>),
}

impl Opened {
    fn run<P: Program>(self, program: P) -> (P::Output, Vec<String>) {
        match self {
            #[cfg(feature = "vulkan")]
            Self::Vulkan(device) => {
                let messages = device.backend().messages();
                let output = program.run(device);
                (output, messages.take())
            }
            #[cfg(feature = "any-wgpu")]
            Self::Wgpu(device) => (program.run(device), Vec::new()),
        }
    }
}

async fn open(backend: &str, request: &DeviceRequest<'_>) -> Result<Opened, Error> {
    #[cfg(feature = "vulkan")]
    if backend == "vulkan" {
        return Ok(Opened::Vulkan(Device::request(request).await?));
    }
    #[cfg(feature = "any-wgpu")]
    if let Some(options) = purlin_wgpu::WgpuOptions::named(backend) {
        let opened = purlin_wgpu::Wgpu::open(request, &options).await?;
        return Ok(Opened::Wgpu(Device::from_backend(opened, request)?));
    }
    Err(Error::NoAdapter { detail: format!("the backend {backend} is not compiled") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_the_compiled_ones() {
        assert_eq!(Choice::named("auto").unwrap(), Choice::Auto);
        for name in compiled() {
            assert_eq!(Choice::named(name).unwrap(), Choice::Only(name));
        }
        let error = Choice::named("glide").unwrap_err().to_string();
        assert!(error.contains("glide") && error.contains("auto"), "{error}");
    }

    #[test]
    fn what_no_backend_can_open_names_every_refusal() {
        struct Never;
        impl Program for Never {
            type Output = ();
            fn run<B: Backend>(self, _device: Device<B>) {
                panic!("nothing has this adapter");
            }
        }
        let adapter = purlin_rhi::AdapterSelector::Name("an adapter that nobody makes");
        let request = DeviceRequest { adapter, ..Default::default() };
        let error = pollster::block_on(run(&Choice::Auto, &request, Never)).unwrap_err().to_string();
        for name in compiled() {
            assert!(error.contains(&format!("{name}: ")), "{error}");
        }
    }
}
