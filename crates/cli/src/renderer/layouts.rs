//! The bind group layouts, as reflection found them in the shaders.
//!
//! Pipelines of one stage share a layout object, so a group that is bound once serves them all. Uniform buffers take
//! dynamic offsets: per-frame data lies in the device's frame arena, and one bind group then lasts for all frames.

use purlin::rhi::backend::Backend;
use purlin::rhi::types::{BindGroupLayoutEntry, BindingType, BufferBindingType};
use purlin::rhi::{BindGroupLayoutDesc, Device, Owned, Result, kind};

use crate::shaders::{bloom_down, bloom_up, cull, opaque, overlay, tonemap};

type Layout = Owned<kind::BindGroupLayout>;

/// One layout for each kind of group.
#[derive(Debug)]
pub(super) struct Layouts {
    /// For culling on the GPU, where it can.
    pub cull: Option<CullLayouts>,
    /// The frame's uniforms alone: shadow map and sky.
    pub view: Layout,
    /// The frame's uniforms and the shadow map.
    pub frame: Layout,
    /// The instances; nothing where they are vertex attributes.
    pub objects: Layout,
    /// A material: persistent groups.
    pub material: Layout,
    /// The HDR picture and the bloom's threshold.
    pub prefilter: Layout,
    /// One bloom mip to filter.
    pub filter: Layout,
    /// The HDR picture and the bloom.
    pub tonemap: Layout,
    /// The font: a persistent group.
    pub overlay: Layout,
}

/// The groups of the culling passes.
#[derive(Debug)]
pub(super) struct CullLayouts {
    /// The counters alone.
    pub reset: Layout,
    /// One view to cull for.
    pub view: Layout,
}

impl Layouts {
    /// All of them; `culls` says whether the GPU culls.
    pub fn new<B: Backend>(device: &mut Device<B>, culls: bool) -> Result<Self> {
        let mut layout = |label, entries: &[BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&BindGroupLayoutDesc { label, entries })
        };
        let cull = match culls {
            true => Some(CullLayouts {
                reset: layout("reset", &cull::GROUP0[3..])?,
                view: layout("cull", &per_frame(cull::GROUP0))?,
            }),
            false => None,
        };
        Ok(Self {
            cull,
            view: layout("view", &per_frame(&opaque::GROUP0[..1]))?,
            frame: layout("frame", &per_frame(opaque::GROUP0))?,
            objects: layout("objects", if culls { opaque::GROUP1 } else { &[] })?,
            material: layout("material", opaque::GROUP2)?,
            prefilter: layout("bloom prefilter", &per_frame(bloom_down::GROUP0))?,
            filter: layout("bloom filter", bloom_up::GROUP0)?,
            tonemap: layout("tonemap", &per_frame(tonemap::GROUP0))?,
            overlay: layout("overlay", overlay::GROUP0)?,
        })
    }
}

/// The same entries with dynamic offsets for uniform buffers.
fn per_frame(entries: &[BindGroupLayoutEntry]) -> Vec<BindGroupLayoutEntry> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        if let BindingType::Buffer { ty: BufferBindingType::Uniform, has_dynamic_offset, .. } = &mut entry.ty
        {
            *has_dynamic_offset = true;
        }
    }
    entries
}
