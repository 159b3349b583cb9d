//! What a null device pretends to be.

use crate::caps::{AdapterInfo, Features, FormatUses, Limits};
use crate::types::{AstcChannel, DeviceType, TextureFormat, TextureUsages};

/// How a null device behaves. The default has every feature, generous limits, neither log nor execution, and
/// completes each submission at once.
#[derive(Debug, Clone)]
pub struct NullConfig {
    /// The features of the adapter. [`Null::new`](super::Null::new) enables all of them.
    pub features: Features,
    /// The limits of the adapter and the device.
    pub limits: Limits,
    /// Replaces [`null_format_uses`], for devices on which a format lacks a use.
    pub format_uses: Option<fn(TextureFormat) -> FormatUses>,
    /// Whether submissions are kept for [`NullControl::take_log`](super::NullControl::take_log).
    pub log: bool,
    /// Whether memory is real and copies, clears and layout changes happen when a submission completes.
    pub execute: bool,
    /// Whether submissions complete as they are made. Otherwise tests complete them by hand.
    pub auto_complete: bool,
    /// Whether a wait with a timeout above zero completes what it waits for, as time would. When this is off and
    /// completion is by hand, such a wait answers at once that its time is over.
    pub wait_completes: bool,
    /// Whether execution panics on a texture that is not in the layout which its use needs.
    pub check_layouts: bool,
    /// See [`Capabilities::copy_row_alignment`](crate::caps::Capabilities::copy_row_alignment); checked in debug
    /// builds.
    pub copy_row_alignment: u32,
    /// See [`Capabilities::copy_offset_alignment`](crate::caps::Capabilities::copy_offset_alignment); checked in
    /// debug builds.
    pub copy_offset_alignment: u32,
    /// Whether sections of a raster pass have encoders of their own.
    pub sections: bool,
    /// Whether encoders keep what is bound from pass to pass; see
    /// [`Encoder::keeps_state`](crate::backend::Encoder::keeps_state).
    pub keeps_state: bool,
    /// Whether requested pipelines compile on another thread. When off, the device compiles them.
    pub pipeline_jobs: bool,
    /// Whether there is a pipeline cache.
    pub pipeline_cache: bool,
    /// Nanoseconds of a timestamp tick.
    pub timestamp_period: f32,
    /// Bits of a timestamp. Those beyond are cut off.
    pub timestamp_valid_bits: Option<u32>,
}

impl Default for NullConfig {
    fn default() -> Self {
        Self {
            features: Features::all(),
            limits: generous_limits(),
            format_uses: None,
            log: false,
            execute: false,
            auto_complete: true,
            wait_completes: true,
            check_layouts: true,
            copy_row_alignment: 256,
            copy_offset_alignment: 4,
            sections: true,
            keeps_state: true,
            pipeline_jobs: false,
            pipeline_cache: false,
            timestamp_period: 1.0,
            timestamp_valid_bits: Some(64),
        }
    }
}

impl NullConfig {
    /// Logs and executes, and completes only by hand: what most tests of synchronization want.
    pub fn manual() -> Self {
        Self { log: true, execute: true, auto_complete: false, ..Self::default() }
    }

    /// Logs and executes, and completes each submission as it is made.
    pub fn executing() -> Self {
        Self { log: true, execute: true, ..Self::default() }
    }

    /// The adapter that such a device comes from.
    pub fn adapter(&self) -> AdapterInfo {
        AdapterInfo {
            backend: "null",
            name: "Null".into(),
            device_type: DeviceType::Other,
            driver: concat!("purlin ", env!("CARGO_PKG_VERSION")).into(),
            api_version: "1".into(),
            vendor: 0,
            device: 0,
            usable: Ok(()),
            features: self.features,
            limits: self.limits.clone(),
        }
    }

    pub(super) fn uses(&self, format: TextureFormat, enabled: Features) -> FormatUses {
        match self.format_uses {
            Some(uses) => uses(format),
            None => null_format_uses(format, enabled),
        }
    }
}

/// Ceilings of a good desktop GPU, with the alignments of a poor one so that no path goes unused.
fn generous_limits() -> Limits {
    Limits {
        max_texture_dimension_2d: 16384,
        max_texture_dimension_3d: 2048,
        max_texture_array_layers: 2048,
        max_sampled_textures_per_stage: 128,
        max_samplers_per_stage: 64,
        max_storage_buffers_per_stage: 64,
        max_storage_textures_per_stage: 16,
        max_uniform_buffers_per_stage: 64,
        max_storage_binding_size: 1 << 31,
        max_buffer_size: 1 << 34,
        max_vertex_buffers: crate::backend::MAX_VERTEX_BUFFERS as u32,
        max_vertex_attributes: 32,
        max_workgroup_invocations: 1024,
        max_workgroup_size_x: 1024,
        max_workgroup_size_y: 1024,
        max_immediate_size: crate::backend::MAX_IMMEDIATES as u32,
        max_anisotropy: 16,
        ..Limits::default()
    }
}

/// What every WebGPU device guarantees of a format, and nothing for compressed formats whose feature is off.
pub fn null_format_uses(format: TextureFormat, enabled: Features) -> FormatUses {
    let needs = match format {
        TextureFormat::NV12 | TextureFormat::P010 | TextureFormat::R64Uint => return FormatUses::empty(),
        TextureFormat::Astc { channel: AstcChannel::Hdr, .. } => return FormatUses::empty(),
        _ if format.is_bcn() => Features::TEXTURE_COMPRESSION_BC,
        _ if format.is_astc() => Features::TEXTURE_COMPRESSION_ASTC,
        _ if format.is_compressed() => Features::TEXTURE_COMPRESSION_ETC2,
        _ => Features::empty(),
    };
    if !enabled.contains(needs) {
        return FormatUses::empty();
    }
    let guaranteed = format.guaranteed_format_features(wgpu_types::Features::empty());
    let usages = guaranteed.allowed_usages;
    let flags = guaranteed.flags;
    let attachment = usages.contains(TextureUsages::RENDER_ATTACHMENT);
    let depth = format.is_depth_stencil_format();
    let mut uses = FormatUses::empty();
    uses.set(FormatUses::SAMPLED, usages.contains(TextureUsages::TEXTURE_BINDING));
    uses.set(FormatUses::FILTERABLE, flags.contains(wgpu_types::TextureFormatFeatureFlags::FILTERABLE));
    uses.set(FormatUses::COLOR, attachment && !depth);
    let blendable = flags.contains(wgpu_types::TextureFormatFeatureFlags::BLENDABLE);
    uses.set(FormatUses::BLENDABLE, attachment && !depth && blendable);
    uses.set(FormatUses::DEPTH_STENCIL, depth);
    use wgpu_types::TextureFormatFeatureFlags as Flags;
    uses.set(FormatUses::MULTISAMPLE_X4, attachment && flags.contains(Flags::MULTISAMPLE_X4));
    let resolved = attachment && !depth && flags.contains(Flags::MULTISAMPLE_RESOLVE);
    uses.set(FormatUses::MULTISAMPLE_RESOLVE, resolved);
    let stored = usages.contains(TextureUsages::STORAGE_BINDING);
    uses.set(FormatUses::STORAGE, stored);
    for (flag, of) in [
        (Flags::STORAGE_READ_ONLY, FormatUses::STORAGE_READ_ONLY),
        (Flags::STORAGE_WRITE_ONLY, FormatUses::STORAGE_WRITE_ONLY),
        (Flags::STORAGE_READ_WRITE, FormatUses::STORAGE_READ_WRITE),
    ] {
        uses.set(of, stored && flags.contains(flag));
    }
    uses.set(FormatUses::COPY_SRC, usages.contains(TextureUsages::COPY_SRC));
    uses.set(FormatUses::COPY_DST, usages.contains(TextureUsages::COPY_DST));
    uses
}
