//! Copies, and those that WebGPU or wgpu lacks.

use std::sync::Mutex;

use purlin_rhi::backend::{NativeBufferTextureCopy, NativeTextureCopy};
use purlin_rhi::error::BackendError;
use purlin_rhi::types::{Extent3d, Origin3d, TextureAspect, TextureDimension, TextureFormat, TextureUsages};

use crate::buffer::Memory;
use crate::command::WgpuEncoder;
use crate::depth;
use crate::device::Wgpu;
use crate::errors::lock;

/// Texels of a byte in the texture that odd copies go through.
const BYTES: u32 = 256;

/// What copies go through where WebGPU cannot do them at once. wgpu orders all uses of it.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    buffer: Mutex<Option<wgpu::Buffer>>,
    texels: Mutex<Option<wgpu::Texture>>,
}

impl Scratch {
    fn buffer(&self, device: &wgpu::Device, size: u64) -> wgpu::Buffer {
        let mut kept = lock(&self.buffer);
        match &*kept {
            Some(buffer) if buffer.size() >= size => buffer.clone(),
            _ => {
                let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("copies within a buffer"),
                    size: size.next_power_of_two(),
                    usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                kept.insert(buffer).clone()
            }
        }
    }

    fn texels(&self, device: &wgpu::Device) -> wgpu::Texture {
        lock(&self.texels)
            .get_or_insert_with(|| {
                device.create_texture(&wgpu::TextureDescriptor {
                    label: Some("copies of odd lengths"),
                    size: Extent3d { width: BYTES, height: 1, depth_or_array_layers: 1 },
                    mip_level_count: 1,
                    sample_count: 1,
                    dimension: TextureDimension::D2,
                    format: TextureFormat::R8Uint,
                    usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
                    view_formats: &[],
                })
            })
            .clone()
    }
}

/// A buffer side of a texel copy.
fn linear(buffer: &wgpu::Buffer, offset: u64, rows: Option<(u32, u32)>) -> wgpu::TexelCopyBufferInfo<'_> {
    wgpu::TexelCopyBufferInfo {
        buffer,
        layout: wgpu::TexelCopyBufferLayout {
            offset,
            bytes_per_row: rows.map(|(pitch, _)| pitch),
            rows_per_image: rows.map(|(_, rows)| rows),
        },
    }
}

impl WgpuEncoder {
    /// Notes a buffer that the CPU will read, so that it is mapped after the submission.
    pub(crate) fn writes(&mut self, backend: &Wgpu, slot: u32) {
        if let Memory::Readback { .. } = backend.buffers.get(slot).memory
            && self.readbacks.last() != Some(&slot)
        {
            self.readbacks.push(slot);
        }
    }

    pub(crate) fn emit_copy_buffer(
        &mut self,
        backend: &Wgpu,
        (src, src_offset): (u32, u64),
        (dst, dst_offset): (u32, u64),
        size: u64,
    ) {
        self.writes(backend, dst);
        let webgl = cfg!(target_arch = "wasm32") && backend.native == wgpu::Backend::Gl;
        if webgl && backend.buffers.get(dst).raw.usage().contains(wgpu::BufferUsages::INDEX) {
            self.write_indices(backend, (src, src_offset), (dst, dst_offset), size);
            return;
        }
        let (from, to) = (&backend.buffers.get(src).raw, &backend.buffers.get(dst).raw);
        if webgl && from.usage().contains(wgpu::BufferUsages::INDEX) {
            let detail = "WebGL 2 copies indices to nothing but index buffers".into();
            let capability = "copies from index buffers";
            backend.errors.loss.note(BackendError::Unsupported { capability, detail });
            return;
        }
        let even = if (src_offset | dst_offset).is_multiple_of(4) { size & !3 } else { 0 };
        if even > 0 && src == dst {
            let scratch = backend.scratch.buffer(&backend.device, even);
            self.raw.copy_buffer_to_buffer(from, src_offset, &scratch, 0, even);
            self.raw.copy_buffer_to_buffer(&scratch, 0, to, dst_offset, even);
        } else if even > 0 {
            self.raw.copy_buffer_to_buffer(from, src_offset, to, dst_offset, even);
        }
        let mut done = even;
        while done < size {
            let texture = backend.scratch.texels(&backend.device);
            let width = (size - done).min(u64::from(BYTES)) as u32;
            let row = Extent3d { width, height: 1, depth_or_array_layers: 1 };
            self.raw.copy_buffer_to_texture(
                linear(from, src_offset + done, None),
                texture.as_image_copy(),
                row,
            );
            self.raw.copy_texture_to_buffer(
                texture.as_image_copy(),
                linear(to, dst_offset + done, None),
                row,
            );
            done += u64::from(width);
        }
    }

    /// A copy to an index buffer in WebGL 2, which takes none from other kinds of buffers. What the CPU uploads is taken from
    /// its own memory.
    fn write_indices(
        &mut self,
        backend: &Wgpu,
        (src, src_offset): (u32, u64),
        (dst, dst_offset): (u32, u64),
        size: u64,
    ) {
        let refuse = |detail: String| {
            let capability = "copies to index buffers";
            backend.errors.loss.note(BackendError::Unsupported { capability, detail });
        };
        let Memory::Upload(shadow) = &backend.buffers.get(src).memory else {
            return refuse("WebGL 2 copies nothing but indices to them".into());
        };
        let to = &backend.buffers.get(dst).raw;
        let padded = size.next_multiple_of(4);
        // The last word of a buffer may be padding; in its middle the rest of the word is somebody's.
        if !dst_offset.is_multiple_of(4) || (padded != size && dst_offset + padded != to.size()) {
            return refuse(format!("{size} bytes at {dst_offset} are no whole words"));
        }
        let staging = backend.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("indices"),
            size: padded,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        match staging.get_mapped_range_mut(..) {
            Ok(mut view) => {
                let mut bytes = lock(shadow).bytes(src_offset, size).to_vec();
                bytes.resize(padded as usize, 0);
                view.copy_from_slice(&bytes);
            }
            Err(error) => return refuse(error.to_string()),
        }
        staging.unmap();
        self.raw.copy_buffer_to_buffer(&staging, 0, to, dst_offset, padded);
    }

    pub(crate) fn emit_upload(&mut self, backend: &Wgpu, copy: &NativeBufferTextureCopy) {
        let buffer = &backend.buffers.get(copy.buffer).raw;
        let texture = backend.textures.get(copy.texture);
        self.raw.copy_buffer_to_texture(
            linear(buffer, copy.offset, rows(copy)),
            place(texture, copy.mip, copy.origin, aspect(copy)),
            padded(copy.format, copy.extent),
        );
    }

    pub(crate) fn emit_download(&mut self, backend: &Wgpu, copy: &NativeBufferTextureCopy) {
        self.writes(backend, copy.buffer);
        let buffer = &backend.buffers.get(copy.buffer).raw;
        if depth::by_pass(backend.native, copy.format) {
            if let Some(bits) = self.depth_bits(backend, copy) {
                let from = place(&bits, 0, copy.origin, TextureAspect::All);
                self.raw.copy_texture_to_buffer(from, linear(buffer, copy.offset, rows(copy)), copy.extent);
            }
            return;
        }
        let texture = backend.textures.get(copy.texture);
        self.raw.copy_texture_to_buffer(
            place(texture, copy.mip, copy.origin, aspect(copy)),
            linear(buffer, copy.offset, rows(copy)),
            padded(copy.format, copy.extent),
        );
    }

    pub(crate) fn emit_copy_texture(&mut self, backend: &Wgpu, copy: &NativeTextureCopy) {
        let side = |(slot, mip, origin): (u32, u32, Origin3d), z| {
            place(backend.textures.get(slot), mip, Origin3d { z: origin.z + z, ..origin }, copy.aspect)
        };
        let extent = padded(copy.format, copy.extent);
        if copy.volume.0 == copy.volume.1 {
            self.raw.copy_texture_to_texture(side(copy.src, 0), side(copy.dst, 0), extent);
            return;
        }
        // wgpu counts several layers and slices by one number, and they are two.
        let one = Extent3d { depth_or_array_layers: 1, ..extent };
        for z in 0..extent.depth_or_array_layers {
            self.raw.copy_texture_to_texture(side(copy.src, z), side(copy.dst, z), one);
        }
    }
}

/// The pitches, which WebGPU checks only where there is a next row.
fn rows(copy: &NativeBufferTextureCopy) -> Option<(u32, u32)> {
    let (_, block_height) = copy.format.block_dimensions();
    let several = copy.extent.height > block_height || copy.extent.depth_or_array_layers > 1;
    several.then_some((copy.bytes_per_row, copy.rows_per_image))
}

/// A format with one aspect is copied whole.
fn aspect(copy: &NativeBufferTextureCopy) -> TextureAspect {
    if copy.format.is_combined_depth_stencil_format() { copy.aspect } else { TextureAspect::All }
}

/// WebGPU counts the texels of whole blocks, also at the edge of a mip.
fn padded(format: TextureFormat, extent: Extent3d) -> Extent3d {
    let (width, height) = format.block_dimensions();
    Extent3d {
        width: extent.width.next_multiple_of(width),
        height: extent.height.next_multiple_of(height),
        ..extent
    }
}

fn place(
    texture: &wgpu::Texture,
    mip_level: u32,
    origin: Origin3d,
    aspect: TextureAspect,
) -> wgpu::TexelCopyTextureInfo<'_> {
    wgpu::TexelCopyTextureInfo { texture, mip_level, origin, aspect }
}
