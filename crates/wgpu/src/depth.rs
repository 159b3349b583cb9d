//! Reading depth back in OpenGL, which copies none: a pass writes its bits to a color texture, and that is copied.

use std::sync::{Mutex, PoisonError};

use purlin_rhi::backend::NativeBufferTextureCopy;
use purlin_rhi::error::BackendError;
use purlin_rhi::types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::command::WgpuEncoder;
use crate::device::Wgpu;

/// Sampled and not loaded: WebGL 2 takes a texture of depth for incomplete without a sampler that does not filter.
const SHADER: &str = "
@group(0) @binding(0) var depth: texture_2d<f32>;
@group(0) @binding(1) var nearest: sampler;

@vertex
fn cover(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn bits(@builtin(position) at: vec4<f32>) -> @location(0) vec4<u32> {
    let place = at.xy / vec2<f32>(textureDimensions(depth));
    return vec4<u32>(bitcast<u32>(textureSampleLevel(depth, nearest, place, 0.0).r), 0u, 0u, 0u);
}
";

/// Does this API copy depth by a pass? Only 32 bits of one layer: others have no color format that holds their bits.
pub(crate) fn by_pass(backend: wgpu::Backend, format: TextureFormat) -> bool {
    backend == wgpu::Backend::Gl && format == TextureFormat::Depth32Float
}

/// What is made for the first such copy.
#[derive(Debug)]
struct Made {
    groups: wgpu::BindGroupLayout,
    nearest: wgpu::Sampler,
    pipeline: wgpu::RenderPipeline,
}

/// The pass's pipeline.
#[derive(Debug, Default)]
pub(crate) struct DepthReader(Mutex<Option<Made>>);

impl DepthReader {
    fn with<T>(&self, device: &wgpu::Device, body: impl FnOnce(&Made) -> T) -> T {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        body(made.get_or_insert_with(|| Made::new(device)))
    }
}

impl Made {
    fn new(device: &wgpu::Device) -> Self {
        let label = Some("depth to bits");
        let groups = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
            entries: &[
                wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Texture {
                        sample_type: wgpu::TextureSampleType::Float { filterable: false },
                        view_dimension: wgpu::TextureViewDimension::D2,
                        multisampled: false,
                    },
                    count: None,
                },
                wgpu::BindGroupLayoutEntry {
                    binding: 1,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::NonFiltering),
                    count: None,
                },
            ],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&groups)],
            immediate_size: 0,
        });
        let source = wgpu::ShaderSource::Wgsl(SHADER.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("cover"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("bits"),
                compilation_options: Default::default(),
                targets: &[Some(TextureFormat::R32Uint.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let nearest = device.create_sampler(&wgpu::SamplerDescriptor { label, ..Default::default() });
        Self { groups, nearest, pipeline }
    }
}

impl WgpuEncoder {
    /// The bits of a mip's depth as texels of a texture of its own, to be copied in its place.
    pub(crate) fn depth_bits(
        &mut self,
        backend: &Wgpu,
        copy: &NativeBufferTextureCopy,
    ) -> Option<wgpu::Texture> {
        let texture = backend.textures.get(copy.texture);
        let refuse = |detail: &str| {
            let capability = "copies of depth";
            backend.errors.loss.note(BackendError::Unsupported { capability, detail: detail.into() });
        };
        if texture.depth_or_array_layers() != 1 || texture.sample_count() != 1 {
            refuse("OpenGL reads back the depth of one layer with one sample only");
            return None;
        }
        let (device, label) = (&backend.device, Some("depth to bits"));
        let of_mip = |side: u32| (side >> copy.mip).max(1);
        let bits = device.create_texture(&wgpu::TextureDescriptor {
            label,
            size: Extent3d {
                width: of_mip(texture.width()),
                height: of_mip(texture.height()),
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format: TextureFormat::R32Uint,
            usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let depth = texture.create_view(&wgpu::TextureViewDescriptor {
            label,
            base_mip_level: copy.mip,
            mip_level_count: Some(1),
            ..Default::default()
        });
        backend.depth_reader.with(device, |made| {
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label,
                layout: &made.groups,
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&depth) },
                    wgpu::BindGroupEntry {
                        binding: 1,
                        resource: wgpu::BindingResource::Sampler(&made.nearest),
                    },
                ],
            });
            let view = bits.create_view(&Default::default());
            let mut pass = self.raw.begin_render_pass(&wgpu::RenderPassDescriptor {
                label,
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..Default::default()
            });
            pass.set_pipeline(&made.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        });
        Some(bits)
    }
}
