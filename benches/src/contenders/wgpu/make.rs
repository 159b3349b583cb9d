//! What the workloads make, and the frame.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{BindGroupLayoutEntry, BindingType};
use wgpu::util::{BufferInitDescriptor, DeviceExt, TextureDataOrder};

use crate::case::{Failure, FrameTimes, Outcome, one_line};

pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    errors: Arc<Mutex<Option<String>>>,
}

/// Layouts and module of a shader.
pub struct Program {
    pub groups: Vec<wgpu::BindGroupLayout>,
    layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
}

/// How a raster pipeline is assembled.
pub struct Raster<'a> {
    pub vertex: &'a str,
    pub fragment: &'a str,
    pub format: wgpu::TextureFormat,
    /// Whether outputs are added to what is there.
    pub add: bool,
    /// Vertex buffers of one `vec4<f32>` each.
    pub vertex_buffers: u32,
}

impl Gpu {
    pub fn new(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let errors = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut first = kept.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| one_line(&error.to_string()));
        }));
        Self { device, queue, errors }
    }

    /// Fails with the first mistake that wgpu has reported since the last call.
    pub fn first_error(&self) -> Outcome<()> {
        match self.errors.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(error) => Err(Failure::Failed(error)),
        }
    }

    /// Waits until the GPU is idle, and recycles.
    pub fn finish(&self) -> Outcome<()> {
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| Failure::failed("wgpu poll", error))?;
        self.first_error()
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// Finishes and submits a frame that began at `begin`.
    pub fn submit(&self, begin: Instant, encoder: wgpu::CommandEncoder) -> Outcome<FrameTimes> {
        let commands = encoder.finish();
        let recorded = Instant::now();
        self.queue.submit([commands]);
        Ok(FrameTimes::recorded(begin, recorded, Instant::now()))
    }

    pub fn filled(&self, usage: wgpu::BufferUsages, contents: &[u8]) -> wgpu::Buffer {
        let usage = usage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        self.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
    }

    pub fn empty(&self, usage: wgpu::BufferUsages, size: u64) -> wgpu::Buffer {
        let usage = usage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    pub fn texture(
        &self,
        format: wgpu::TextureFormat,
        (width, height): (u32, u32),
        usage: wgpu::TextureUsages,
        texels: Option<&[u8]>,
    ) -> (wgpu::Texture, wgpu::TextureView) {
        let desc = wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: usage | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        };
        let texture = match texels {
            None => self.device.create_texture(&desc),
            Some(texels) => {
                self.device.create_texture_with_data(&self.queue, &desc, TextureDataOrder::LayerMajor, texels)
            }
        };
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        (texture, view)
    }

    pub fn sampler(&self) -> wgpu::Sampler {
        self.device.create_sampler(&wgpu::SamplerDescriptor::default())
    }

    /// A program with these group layouts; `dynamic` gives the first binding of group 0 a dynamic offset.
    pub fn program(
        &self,
        source: &ShaderSource,
        groups: &[&[BindGroupLayoutEntry]],
        dynamic: bool,
    ) -> Program {
        let groups: Vec<_> = groups
            .iter()
            .enumerate()
            .map(|(index, entries)| {
                let mut entries = entries.to_vec();
                if let (0, BindingType::Buffer { has_dynamic_offset, .. }) = (index, &mut entries[0].ty) {
                    *has_dynamic_offset = dynamic;
                }
                let desc = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
                self.device.create_bind_group_layout(&desc)
            })
            .collect();
        let referenced: Vec<_> = groups.iter().map(Some).collect();
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &referenced,
            immediate_size: 0,
        });
        let desc = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.wgsl.into()),
        };
        // SAFETY: the benchmark's shaders stay within their bindings and end.
        let module =
            unsafe { self.device.create_shader_module_trusted(desc, wgpu::ShaderRuntimeChecks::unchecked()) };
        Program { groups, layout, module }
    }

    pub fn group(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0u32..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    pub fn compute(&self, program: &Program, entry: &str) -> wgpu::ComputePipeline {
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&program.layout),
            module: &program.module,
            entry_point: Some(entry),
            compilation_options: options(),
            cache: None,
        })
    }

    pub fn raster(&self, program: &Program, raster: &Raster<'_>) -> wgpu::RenderPipeline {
        let attributes: Vec<_> = (0..raster.vertex_buffers)
            .map(|location| {
                [wgpu::VertexAttribute {
                    format: wgpu::VertexFormat::Float32x4,
                    offset: 0,
                    shader_location: location,
                }]
            })
            .collect();
        let buffers: Vec<_> = attributes
            .iter()
            .map(|attributes| {
                Some(wgpu::VertexBufferLayout {
                    array_stride: 16,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes,
                })
            })
            .collect();
        let one = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::One,
            dst_factor: wgpu::BlendFactor::One,
            operation: wgpu::BlendOperation::Add,
        };
        let target = wgpu::ColorTargetState {
            format: raster.format,
            blend: raster.add.then_some(wgpu::BlendState { color: one, alpha: one }),
            write_mask: wgpu::ColorWrites::ALL,
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&program.layout),
            vertex: wgpu::VertexState {
                module: &program.module,
                entry_point: Some(raster.vertex),
                compilation_options: options(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &program.module,
                entry_point: Some(raster.fragment),
                compilation_options: options(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    /// Reads the beginnings of buffers, one after the other.
    pub fn read_buffers(&self, buffers: &[wgpu::Buffer], size: u32) -> Outcome<Vec<u8>> {
        let size = u64::from(size);
        let bytes = buffers.len() as u64 * size;
        self.fetched(bytes, |encoder, staging| {
            for (index, buffer) in (0u64..).zip(buffers) {
                encoder.copy_buffer_to_buffer(buffer, 0, staging, index * size, size);
            }
        })
    }

    /// Reads a texture, rows without padding.
    pub fn read_texture(&self, texture: &wgpu::Texture, texel_bytes: u32) -> Outcome<Vec<u8>> {
        let size = texture.size();
        let row = size.width * texel_bytes;
        let pitch = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let padded = self.fetched(u64::from(pitch * size.height), |encoder, staging| {
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: Some(size.height),
            };
            let target = wgpu::TexelCopyBufferInfo { buffer: staging, layout };
            encoder.copy_texture_to_buffer(texture.as_image_copy(), target, size);
        })?;
        Ok(padded.chunks(pitch as usize).flat_map(|padded| padded[..row as usize].iter().copied()).collect())
    }

    fn fetched(
        &self,
        size: u64,
        record: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Outcome<Vec<u8>> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let desc = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let staging = self.device.create_buffer(&desc);
        let mut encoder = self.encoder();
        record(&mut encoder, &staging);
        self.queue.submit([encoder.finish()]);
        let mapped = Arc::new(Mutex::new(None));
        let answer = Arc::clone(&mapped);
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        self.finish()?;
        match mapped.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Ok(())) => {
                let view =
                    staging.get_mapped_range(..).map_err(|error| Failure::failed("wgpu readback", error))?;
                Ok(view.to_vec())
            }
            Some(Err(error)) => Err(Failure::failed("wgpu readback", error)),
            None => Err(Failure::Failed("wgpu readback was not answered".into())),
        }
    }
}

/// Workgroup memory is not used, so nothing needs to be cleared.
fn options() -> wgpu::PipelineCompilationOptions<'static> {
    wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() }
}

/// A pass with one color attachment.
pub fn pass<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &wgpu::TextureView,
    clear: bool,
) -> wgpu::RenderPass<'e> {
    let load = if clear { wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT) } else { wgpu::LoadOp::Load };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: None,
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

/// A range of a uniform buffer.
pub fn slice(buffer: &wgpu::Buffer, offset: u32, size: u64) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: u64::from(offset),
        size: std::num::NonZeroU64::new(size),
    })
}
