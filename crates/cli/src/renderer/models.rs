//! The scene on the GPU: geometry, instances and materials, uploaded once and drawn by indirect commands, or one by one
//! where the API has none.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use purlin::graph::{BufferId, RenderBody};
use purlin::rhi::backend::Backend;
use purlin::rhi::types::{AddressMode, BufferUsages, FilterMode, IndexFormat, TextureFormat};
use purlin::rhi::{
    BindGroup, BindGroupDesc, BindGroupEntry, BufferSlice, Device, Features, Owned, RenderPipeline,
    SamplerDesc, TextureDesc, TextureViewDesc, kind,
};

use super::Visible;
use super::direct::Direct;
use super::layouts::Layouts;
use super::upload::Uploader;
use crate::error::DemoError;
use crate::scene::{
    self, Batch, Frustum, GpuInstance, GpuMaterial, ImageData, ImageKind, MipFilter, Scene, Wrap,
};
use crate::shaders::cull;

/// The bytes of one indirect command.
pub(super) const COMMAND_BYTES: u64 = cull::COMMANDS_ARRAY.stride;

/// Everything that draws read and no pass writes. Nothing of it needs a declaration.
#[derive(Debug)]
pub(super) struct Models {
    vertices: BufferSlice,
    indices: BufferSlice,
    instances: BufferSlice,
    objects: Owned<kind::BindGroup>,
    materials: Vec<Owned<kind::BindGroup>>,
    opaque: Vec<Batch>,
    transparent: Vec<Batch>,
    count: u32,
    /// For drawing without indirect commands.
    direct: Option<Direct>,
    /// What the slices name. Bind groups keep what they bind, so textures, views and samplers need no owner here.
    _buffers: [Owned<kind::Buffer>; 3],
}

impl Models {
    /// Uploads a scene.
    pub fn new<B: Backend>(
        uploader: &mut Uploader<'_, B>,
        layouts: &Layouts,
        scene: &Scene,
    ) -> Result<Self, DemoError> {
        let instances: Vec<_> = scene.instances.iter().map(|i| GpuInstance::new(scene, i)).collect();
        let vertex_bytes = bytemuck::cast_slice(&scene.vertices);
        let index_bytes = bytemuck::cast_slice(&scene.indices);
        let instance_bytes = bytemuck::cast_slice(&instances);
        let vertices = uploader.buffer("vertices", BufferUsages::VERTEX, vertex_bytes)?;
        let indices = uploader.buffer("indices", BufferUsages::INDEX, index_bytes)?;
        let usage = if layouts.cull.is_some() { BufferUsages::STORAGE } else { BufferUsages::VERTEX };
        let instances = uploader.buffer("instances", usage, instance_bytes)?;
        let textures: Vec<_> =
            scene.textures.iter().map(|image| upload_image(uploader, image)).collect::<Result<_, _>>()?;
        let materials = create_materials(uploader, layouts, scene, &textures)?;
        let whole = [BindGroupEntry::buffer(0, *instances)];
        let objects = uploader.device().create_bind_group(&BindGroupDesc {
            label: "objects",
            layout: *layouts.objects,
            entries: if layouts.cull.is_some() { &whole } else { &[] },
        })?;
        let (transparent, opaque) = scene.batches().into_iter().partition(|batch| batch.blended);
        Ok(Self {
            vertices: BufferSlice { buffer: *vertices, offset: 0, size: vertex_bytes.len() as u64 },
            indices: BufferSlice { buffer: *indices, offset: 0, size: index_bytes.len() as u64 },
            instances: BufferSlice { buffer: *instances, offset: 0, size: instance_bytes.len() as u64 },
            objects,
            materials,
            opaque,
            transparent,
            count: scene.instances.len() as u32,
            direct: layouts.cull.is_none().then(|| Direct::new(scene)),
            _buffers: [vertices, indices, instances],
        })
    }

    /// The bytes of meshes, instances and textures.
    pub fn upload_bytes(scene: &Scene) -> u64 {
        let texels: usize = scene.textures.iter().map(ImageData::byte_len).sum();
        let meshes = size_of_val(&*scene.vertices) + size_of_val(&*scene.indices);
        (texels + meshes + scene.instances.len() * size_of::<GpuInstance>()) as u64
    }

    /// How many instances there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// All instances, as the culling pass reads them.
    pub fn instances(&self) -> BufferSlice {
        self.instances
    }

    /// The opaque surfaces, grouped by state.
    pub fn opaque(&self) -> &[Batch] {
        &self.opaque
    }

    /// The blended surfaces from back to front.
    pub fn transparent(&self) -> &[Batch] {
        &self.transparent
    }

    /// Decides on the CPU what the camera and the sun see, where the GPU does not.
    pub fn cull(&mut self, camera: &Frustum, sun: &Frustum) -> Option<Visible> {
        self.direct.as_mut().map(|direct| direct.cull(camera, sun))
    }

    /// Draws every instance with one pipeline and no material.
    pub fn draw_all<B: Backend>(
        &self,
        pass: &mut RenderBody<'_, B>,
        pipeline: RenderPipeline,
        commands: Option<BufferId>,
    ) {
        self.bind(pass);
        pass.set_pipeline(pipeline);
        let Some(commands) = commands else {
            return self.draw_direct(pass, 0..self.count, Direct::in_sun);
        };
        let commands = pass.buffer(commands);
        pass.multi_draw_indexed_indirect(commands, 0, self.count, COMMAND_BYTES as u32);
    }

    /// Draws batches with their materials; the pipelines are for single-sided surfaces, then for double-sided ones.
    pub fn draw<B: Backend>(
        &self,
        pass: &mut RenderBody<'_, B>,
        batches: &[Batch],
        pipelines: [RenderPipeline; 2],
        commands: Option<BufferId>,
    ) {
        self.bind(pass);
        let commands = commands.map(|commands| pass.buffer(commands));
        for batch in batches {
            pass.set_pipeline(pipelines[usize::from(batch.double_sided)]);
            pass.set_bind_group(2, self.material(batch), &[]);
            let Some(commands) = commands else {
                self.draw_direct(pass, batch.first..batch.first + batch.count, Direct::in_view);
                continue;
            };
            let first = u64::from(batch.first) * COMMAND_BYTES;
            pass.multi_draw_indexed_indirect(commands, first, batch.count, COMMAND_BYTES as u32);
        }
    }

    /// Draws those instances of a range that are seen: one draw for each run of one mesh.
    fn draw_direct<B: Backend>(
        &self,
        pass: &mut RenderBody<'_, B>,
        range: Range<u32>,
        seen: fn(&Direct, usize) -> bool,
    ) {
        let Some(direct) = &self.direct else { return };
        for (mesh, instances) in direct.runs(range, seen) {
            let end = mesh.first_index + mesh.index_count;
            pass.draw_indexed(mesh.first_index..end, mesh.base_vertex as i32, instances);
        }
    }

    fn bind<B: Backend>(&self, pass: &mut RenderBody<'_, B>) {
        pass.set_vertex_buffer(0, self.vertices);
        if self.direct.is_some() {
            pass.set_vertex_buffer(1, self.instances);
        }
        pass.set_index_buffer(self.indices, IndexFormat::Uint32);
        pass.set_bind_group(1, *self.objects, &[]);
    }

    fn material(&self, batch: &Batch) -> BindGroup {
        *self.materials[batch.material as usize]
    }
}

/// A bind group for each material. Their factors lie side by side in one buffer.
fn create_materials<B: Backend>(
    uploader: &mut Uploader<'_, B>,
    layouts: &Layouts,
    scene: &Scene,
    textures: &[(Owned<kind::Texture>, Owned<kind::TextureView>)],
) -> Result<Vec<Owned<kind::BindGroup>>, DemoError> {
    let stride = u64::from(uploader.device().limits().min_uniform_offset_alignment).max(256);
    let mut factors = vec![0; stride as usize * scene.materials.len()];
    for (slot, material) in factors.chunks_exact_mut(stride as usize).zip(&scene.materials) {
        slot[..size_of::<GpuMaterial>()].copy_from_slice(bytemuck::bytes_of(&GpuMaterial::new(material)));
    }
    let factors = uploader.buffer("material factors", BufferUsages::UNIFORM, &factors)?;

    let device = uploader.device();
    let mut samplers: HashMap<_, Owned<kind::Sampler>> = HashMap::new();
    let mut materials = Vec::with_capacity(scene.materials.len());
    for (offset, material) in (0..).step_by(stride as usize).zip(&scene.materials) {
        let sampler = match samplers.entry(material.sampler) {
            Entry::Occupied(entry) => **entry.into_mut(),
            Entry::Vacant(entry) => **entry.insert(create_sampler(device, &material.sampler)?),
        };
        let [color, metallic_roughness, normal, occlusion, emissive] =
            material.textures().map(|index| *textures[index as usize].1);
        materials.push(device.create_bind_group(&BindGroupDesc {
            label: &material.name,
            layout: *layouts.material,
            entries: &[
                BindGroupEntry::buffer_range(0, *factors, offset, size_of::<GpuMaterial>() as u64),
                BindGroupEntry::sampler(1, sampler),
                BindGroupEntry::texture(2, color),
                BindGroupEntry::texture(3, metallic_roughness),
                BindGroupEntry::texture(4, normal),
                BindGroupEntry::texture(5, occlusion),
                BindGroupEntry::texture(6, emissive),
            ],
        })?);
    }
    Ok(materials)
}

fn upload_image<B: Backend>(
    uploader: &mut Uploader<'_, B>,
    image: &ImageData,
) -> Result<(Owned<kind::Texture>, Owned<kind::TextureView>), DemoError> {
    let format = match image.kind {
        ImageKind::Color => TextureFormat::Rgba8UnormSrgb,
        ImageKind::Linear | ImageKind::Normal => TextureFormat::Rgba8Unorm,
    };
    let mips = image.mips.len() as u32;
    let desc = TextureDesc::uploaded(&image.name, image.width(), image.height(), mips, format);
    let texture = uploader.texture(&desc, &image.mips)?;
    let desc = TextureViewDesc { label: &image.name, ..Default::default() };
    let view = uploader.device().create_texture_view(*texture, &desc)?;
    Ok((texture, view))
}

fn create_sampler<B: Backend>(
    device: &mut Device<B>,
    desc: &scene::SamplerDesc,
) -> Result<Owned<kind::Sampler>, DemoError> {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => AddressMode::Repeat,
        Wrap::Mirror => AddressMode::MirrorRepeat,
        Wrap::Clamp => AddressMode::ClampToEdge,
    };
    let filter = |linear| if linear { FilterMode::Linear } else { FilterMode::Nearest };
    let all_linear = desc.linear_mag && desc.linear_min && desc.mip == MipFilter::Linear;
    let anisotropic = all_linear && device.capabilities().features.contains(Features::ANISOTROPY);
    let most = device.limits().max_anisotropy.clamp(1, 8) as u16;
    Ok(device.create_sampler(&SamplerDesc {
        address: [wrap(desc.wrap_u), wrap(desc.wrap_v), AddressMode::Repeat],
        mag_filter: filter(desc.linear_mag),
        min_filter: filter(desc.linear_min),
        mipmap_filter: filter(desc.mip == MipFilter::Linear),
        // A level of detail of 0.25 is minified, and rounds to level 0.
        lod_max: if desc.mip == MipFilter::None { 0.25 } else { 32.0 },
        anisotropy: if anisotropic { most } else { 1 },
        ..SamplerDesc::linear("material")
    })?)
}
