//! Immediates where WebGPU has none: a uniform buffer that nobody else sees.
//!
//! A pipeline layout with immediates gets one more group than it names, with one uniform of a dynamic offset. Each change is
//! copied to the next slot of a page, and the group is bound at that slot. Pages are written by the queue before the command
//! buffers that read them, so a page is free again as soon as it was submitted.

use std::sync::{Mutex, OnceLock};

use purlin_rhi::backend::{BindState, Dirty, MAX_IMMEDIATES};
use wgpu::{BindGroup, BindGroupLayout, Buffer, BufferUsages, Device, Queue, ShaderStages};

use crate::errors::lock;
use crate::wgsl::IMMEDIATES;

/// The most that a dynamic offset may have to be a multiple of, and all that a slot holds.
const SLOT: usize = 256;
const SLOTS: usize = 256;
const _: () = assert!(MAX_IMMEDIATES <= SLOT);

/// What the device keeps.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    layout: OnceLock<BindGroupLayout>,
    free: Mutex<Vec<Page>>,
}

#[derive(Debug)]
struct Page {
    buffer: Buffer,
    group: BindGroup,
    bytes: Vec<u8>,
}

impl Pages {
    /// The layout of the group.
    pub fn layout(&self, device: &Device) -> &BindGroupLayout {
        self.layout.get_or_init(|| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("immediates"),
                entries: &[wgpu::BindGroupLayoutEntry {
                    binding: IMMEDIATES,
                    visibility: ShaderStages::VERTEX_FRAGMENT | ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Uniform,
                        has_dynamic_offset: true,
                        min_binding_size: None,
                    },
                    count: None,
                }],
            })
        })
    }

    fn take(&self, device: &Device) -> Page {
        if let Some(page) = lock(&self.free).pop() {
            return page;
        }
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("immediates"),
            size: (SLOT * SLOTS) as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("immediates"),
            layout: self.layout(device),
            entries: &[wgpu::BindGroupEntry {
                binding: IMMEDIATES,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &buffer,
                    offset: 0,
                    size: wgpu::BufferSize::new(SLOT as u64),
                }),
            }],
        });
        Page { buffer, group, bytes: Vec::with_capacity(SLOT * SLOTS) }
    }
}

/// What one recording wrote.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pages: Vec<Page>,
    /// Whether the values of the next draw are in the last slot, unless they are dirty.
    current: bool,
}

impl Written {
    /// The values of the last slot are not those of the next draw: another pass begins, or they changed unseen.
    pub fn forget(&mut self) {
        self.current = false;
    }

    /// The group to bind for the next draw and its offset; nothing when what is bound is right.
    #[inline]
    pub fn bind(
        &mut self,
        pages: &Pages,
        device: &Device,
        dirty: Dirty,
        state: &BindState,
    ) -> Option<(&BindGroup, u32)> {
        if !dirty.intersects(Dirty::IMMEDIATES | Dirty::PIPELINE | Dirty::GROUPS) {
            return None;
        }
        if dirty.contains(Dirty::IMMEDIATES) || !self.current {
            self.push(pages, device, &state.immediates);
        }
        let page = self.pages.last()?;
        Some((&page.group, (page.bytes.len() - SLOT) as u32))
    }

    fn push(&mut self, pages: &Pages, device: &Device, values: &[u8; MAX_IMMEDIATES]) {
        if self.pages.last().is_none_or(|page| page.bytes.len() == SLOT * SLOTS) {
            self.pages.push(pages.take(device));
        }
        if let Some(page) = self.pages.last_mut() {
            page.bytes.extend_from_slice(values);
            page.bytes.resize(page.bytes.len().next_multiple_of(SLOT), 0);
        }
        self.current = true;
    }

    /// Sends the values, before the submission that reads them.
    pub fn send(&mut self, pages: &Pages, queue: &Queue) {
        for page in &mut self.pages {
            queue.write_buffer(&page.buffer, 0, &page.bytes);
            page.bytes.clear();
        }
        lock(&pages.free).append(&mut self.pages);
    }
}
