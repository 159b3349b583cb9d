//! Textures, views and samplers.

use purlin_rhi::backend::{NativeResult, NativeView};
use purlin_rhi::caps::FormatUses;
use purlin_rhi::desc::{SamplerDesc, TextureDesc};
use purlin_rhi::types::{AddressMode, FilterMode, TextureFormat, TextureUsages};

use crate::depth;
use crate::device::Wgpu;

impl Wgpu {
    pub(crate) fn new_texture(&mut self, slot: u32, desc: &TextureDesc<'_>) -> NativeResult {
        let mut usage = desc.usage;
        if usage.contains(TextureUsages::COPY_SRC) && depth::by_pass(self.native, desc.format) {
            // The pass that stands for the copy samples it.
            usage |= TextureUsages::TEXTURE_BINDING;
        }
        let native = wgpu::TextureDescriptor {
            label: self.label(desc.label),
            size: desc.size,
            mip_level_count: desc.mips,
            sample_count: desc.samples,
            dimension: desc.dimension,
            format: desc.format,
            usage,
            view_formats: desc.view_formats,
        };
        let make = || self.device.create_texture(&native);
        let raw = self.errors.catch(&self.device, "create_texture", make)?;
        self.textures.insert(slot, raw);
        Ok(())
    }

    pub(crate) fn free_texture(&mut self, slot: u32) {
        let Some(texture) = self.textures.take(slot) else { return };
        if let Some(index) = self.surface_textures.iter().position(|one| *one == slot) {
            // A browser may have given the same texture out again.
            self.surface_textures.swap_remove(index);
        } else if cfg!(target_arch = "wasm32") {
            texture.destroy();
        }
    }

    pub(crate) fn new_view(&mut self, slot: u32, view: &NativeView<'_>) -> NativeResult {
        let texture = self.textures.get(view.texture);
        let native = wgpu::TextureViewDescriptor {
            label: self.label(view.label),
            // An aspect has a format of its own in wgpu's eyes, and that is the default.
            format: (view.format != texture.format()).then_some(view.format),
            dimension: Some(view.dimension),
            usage: self.view_usage(texture, view.format),
            aspect: view.aspect,
            base_mip_level: view.range.base_mip,
            mip_level_count: Some(view.range.mips),
            base_array_layer: view.range.base_layer,
            array_layer_count: Some(view.range.layers),
        };
        let raw = self.errors.catch(&self.device, "create_view", || texture.create_view(&native))?;
        self.views.insert(slot, raw);
        Ok(())
    }

    /// What a view of another format may be used for: its texture's usage, as far as its own format goes.
    fn view_usage(&self, texture: &wgpu::Texture, format: TextureFormat) -> Option<TextureUsages> {
        if format == texture.format() {
            return None;
        }
        let uses = self.uses_of(format);
        let mut usage = texture.usage();
        for (of, bit) in [
            (FormatUses::STORAGE, TextureUsages::STORAGE_BINDING),
            (FormatUses::COLOR, TextureUsages::RENDER_ATTACHMENT),
        ] {
            if !uses.contains(of) {
                usage -= bit;
            }
        }
        Some(usage)
    }

    pub(crate) fn new_sampler(&mut self, slot: u32, desc: &SamplerDesc<'_>) -> NativeResult {
        let native = wgpu::SamplerDescriptor {
            label: self.label(desc.label),
            address_mode_u: desc.address[0],
            address_mode_v: desc.address[1],
            address_mode_w: desc.address[2],
            mag_filter: desc.mag_filter,
            min_filter: desc.min_filter,
            mipmap_filter: match desc.mipmap_filter {
                FilterMode::Nearest => wgpu::MipmapFilterMode::Nearest,
                FilterMode::Linear => wgpu::MipmapFilterMode::Linear,
            },
            lod_min_clamp: desc.lod_min,
            lod_max_clamp: desc.lod_max,
            compare: desc.compare,
            anisotropy_clamp: desc.anisotropy,
            border_color: desc.address.contains(&AddressMode::ClampToBorder).then_some(desc.border),
        };
        let make = || self.device.create_sampler(&native);
        let raw = self.errors.catch(&self.device, "create_sampler", make)?;
        self.samplers.insert(slot, raw);
        Ok(())
    }
}
