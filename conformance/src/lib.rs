//! Conformance: fixtures with independently computed answers, run on every backend.
//!
//! A fixture is a plain function over any backend. It makes what it needs, does one small thing, reads the result
//! back and compares it with an answer that was worked out by hand or by code of its own, never by the code under
//! test. What a device cannot do is [`Outcome::Unsupported`] with the capability that says so, never silence.
//!
//! [`run`] runs one twice on the same device: the second run finds warm tables and reused slots, and must leave
//! memory as the first one did. [`for_each_fixture`] lists them all for test harnesses; a fixture that nobody lists
//! is dead code and fails the build.
#![forbid(unsafe_code)]

mod arrays;
mod attachments;
mod batches;
mod bindings;
mod bounds;
mod buffers;
mod compressed;
mod coordinates;
mod draws;
mod formats;
mod frames;
mod graphs;
mod indirect;
mod kit;
mod known;
mod large;
mod layouts;
mod list;
mod queries;
mod samplers;
mod sections;
mod states;
mod storage;
mod strips;
mod textures;
mod timings;
mod verdict;
mod vertex_formats;
mod views;

use std::path::Path;

use purlin_rhi::backend::Backend;
use purlin_rhi::{Device, ResourceKind};

pub use list::Fixtures;
pub use verdict::Verdict;

/// Generated from `shaders/` by the build script.
#[allow(missing_docs)]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// Those that WebGPU cannot express: for native devices.
#[allow(missing_docs)]
mod array_shaders {
    include!(concat!(env!("OUT_DIR"), "/array_shaders.rs"));
}

/// How a fixture ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was as computed.
    Passed,
    /// The device lacks this capability; nothing was tested.
    Unsupported(String),
}

/// How a fixture ended badly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A call was refused that should have worked.
    #[error(transparent)]
    Device(#[from] purlin_rhi::Error),
    /// The answer is another.
    #[error("{what}: expected {expected}, found {found}")]
    Wrong {
        /// What was compared.
        what: String,
        /// The answer.
        expected: String,
        /// What the device did.
        found: String,
    },
}

impl Failure {
    /// The capability that was missing, when that is why. A backend above WebGPU's level has no such excuse.
    pub fn missing_capability(&self) -> Option<&str> {
        match self {
            Failure::Device(purlin_rhi::Error::Unsupported { capability, .. }) => Some(capability),
            _ => None,
        }
    }
}

/// What a fixture answers.
pub type Answer = Result<Outcome, Failure>;

/// One fixture for one backend.
#[derive(Debug)]
pub struct Fixture<B: Backend> {
    /// Its topic and name: `draws::direct`.
    pub name: &'static str,
    /// The fixture itself.
    pub run: fn(&mut Device<B>) -> Answer,
}

/// Runs a fixture twice and checks what it left behind.
///
/// # Errors
/// The fixture's own failure; objects or retiring resources that it left; memory that grew from the first run to the
/// second.
pub fn run<B: Backend>(device: &mut Device<B>, fixture: &Fixture<B>) -> Answer {
    let first = (fixture.run)(device)?;
    let memory_after_first = settle(device)?;
    if let Outcome::Unsupported(_) = first {
        return Ok(first);
    }
    (fixture.run)(device)?;
    let memory_after_second = settle(device)?;
    if memory_after_first != memory_after_second {
        return Err(kit::wrong(
            "bytes and buffers after the second run",
            format!("{memory_after_first:?}"),
            format!("{memory_after_second:?}"),
        ));
    }
    Ok(first)
}

/// Waits and lets everything dropped retire; logical bytes and buffers that are left. How many pages and staging buffers
/// the services keep depends on how far the GPU was behind, so they do not count.
fn settle<B: Backend>(device: &mut Device<B>) -> Result<(u64, u32), Failure> {
    // A fixture about refused work may leave uploads that nothing has carried yet; they keep their targets.
    let token = device.flush_uploads()?;
    kit::finish(device, token)?;
    device.maintain()?;
    let owned_by_fixtures = [
        ResourceKind::Texture,
        ResourceKind::TextureView,
        ResourceKind::Sampler,
        ResourceKind::BindGroupLayout,
        ResourceKind::BindGroup,
        ResourceKind::PipelineLayout,
        ResourceKind::ShaderModule,
        ResourceKind::RenderPipeline,
        ResourceKind::ComputePipeline,
    ];
    for kind in owned_by_fixtures {
        let count = device.object_count(kind);
        if count != 0 {
            return Err(kit::wrong(format!("objects left of kind {kind:?}"), 0, count));
        }
    }
    if device.retiring() != 0 {
        return Err(kit::wrong("resources that still retire on an idle device", 0, device.retiring()));
    }
    let (pages, page_size) = (device.frame_arena().pages(), device.frame_arena().page_size());
    let (staging, staging_bytes) = device.readbacks().staging();
    let kept = u64::from(pages) * page_size + staging_bytes;
    Ok((device.memory().logical - kept, device.object_count(ResourceKind::Buffer) - pages - staging))
}

/// Keeps the pictures of diagnostic scenes in this folder from now on, for people to look at.
pub fn keep_pictures_in(folder: &Path) {
    kit::keep_pictures_in(folder);
}

/// Cubemaps of files, compared with a decoder of other origin.
pub mod cubemap;

/// The smallest work that is wrong without a barrier, for tests that must see it reported.
pub mod canary;
