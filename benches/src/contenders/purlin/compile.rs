//! `graph_compile_N` and `graph_cached_32`: what the graph itself costs, on the null backend.

use std::time::Instant;

use purlin_graph::{Graph, GraphArena, TransientBuffer, TransientTexture, bind};
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages,
    StorageTextureAccess, TextureFormat, TextureSampleType, TextureUsages, TextureViewDimension,
};
use purlin_rhi::{
    BindGroupLayoutDesc, ClearValue, Device, DeviceRequest, LoadOp, Owned, SamplerDesc, TextureDesc, kind,
};

use crate::case::{Case, FrameTimes, Outcome};

const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SIDE: u32 = 64;
/// Passes of a view. A frame has as many views as its passes need, all drawn into one picture.
const VIEW: u32 = 8;

pub struct Compile {
    device: Device<Null>,
    arena: GraphArena<Null>,
    passes: u32,
    sampler: Owned<kind::Sampler>,
    picture: Owned<kind::Texture>,
    /// A storage buffer; a sampled texture and a storage texture; a sampled texture and a sampler.
    layouts: [Owned<kind::BindGroupLayout>; 3],
}

impl Compile {
    pub fn new(passes: u32, reuse: bool) -> Outcome<Self> {
        let mut device = Device::from_backend(Null::new(NullConfig::default()), &DeviceRequest::default())?;
        let texture = BindingType::Texture {
            sample_type: TextureSampleType::Float { filterable: true },
            view_dimension: TextureViewDimension::D2,
            multisampled: false,
        };
        let written = BindingType::StorageTexture {
            access: StorageTextureAccess::WriteOnly,
            format: COLOR,
            view_dimension: TextureViewDimension::D2,
        };
        let storage = BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let sampler = BindingType::Sampler(SamplerBindingType::Filtering);
        let mut layout = |visibility, types: &[BindingType]| {
            let entry = |(binding, ty): (u32, &BindingType)| BindGroupLayoutEntry {
                binding,
                visibility,
                ty: *ty,
                count: None,
            };
            let entries: Vec<_> = (0..).zip(types).map(entry).collect();
            device.create_bind_group_layout(&BindGroupLayoutDesc { label: "layout", entries: &entries })
        };
        let layouts = [
            layout(ShaderStages::COMPUTE, &[storage])?,
            layout(ShaderStages::COMPUTE, &[texture, written])?,
            layout(ShaderStages::FRAGMENT, &[texture, sampler])?,
        ];
        let sampler = device.create_sampler(&SamplerDesc::linear("linear"))?;
        let usage = TextureUsages::RENDER_ATTACHMENT;
        let picture = device.create_texture(&TextureDesc::d2("picture", SIDE, SIDE, COLOR, usage))?;
        let mut arena = GraphArena::new();
        arena.options().structure_reuse = reuse;
        Ok(Self { device, arena, passes, sampler, picture, layouts })
    }
}

impl Case for Compile {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let [storage, blur, sample] = [*self.layouts[0], *self.layouts[1], *self.layouts[2]];
        let sampler = || bind::sampler(*self.sampler);
        let black = LoadOp::Clear(ClearValue::Float([0.0; 4]));
        let begin = Instant::now();
        let mut graph = Graph::new("frame", &mut self.arena);
        let mut picture = graph.import_texture("picture", *self.picture);
        for view in 0..self.passes / VIEW {
            let mut visible = graph.buffer("visible", TransientBuffer::new(1024));
            let mut shadow = graph.texture("shadow", TransientTexture::d2(DEPTH, SIDE, SIDE));
            let mut depth = graph.texture("depth", TransientTexture::d2(DEPTH, SIDE, SIDE));
            let mut color = graph.texture("color", TransientTexture::d2(COLOR, SIDE, SIDE));
            let mut blurred = graph.texture("blurred", TransientTexture::d2(COLOR, SIDE / 2, SIDE / 2));
            let mut bloom = graph.texture("bloom", TransientTexture::d2(COLOR, SIDE / 4, SIDE / 4));
            graph.compute("cull").bind(0, storage, [bind::storage(&mut visible)]).record(|_| ());
            graph.render("shadow").depth(&mut shadow, LoadOp::Clear(1.0)).indirect(&visible).clear();
            graph
                .render("scene")
                .color(0, &mut color, black)
                .depth(&mut depth, LoadOp::Clear(1.0))
                .sampled(&shadow, ShaderStages::FRAGMENT)
                .indirect(&visible)
                .clear();
            graph.render("sky").color(0, &mut color, LoadOp::Load).depth_read(&depth).clear();
            graph
                .compute("blur")
                .bind(0, blur, [bind::texture(&color), bind::storage_texture(&mut blurred)])
                .record(|_| ());
            graph
                .render("bloom")
                .color(0, &mut bloom, LoadOp::DontCare)
                .bind(0, sample, [bind::texture(&blurred), sampler()])
                .clear();
            graph
                .render("combine")
                .color(0, &mut color, LoadOp::Load)
                .bind(0, sample, [bind::texture(&bloom), sampler()])
                .clear();
            graph
                .render("output")
                .color(0, &mut picture, if view == 0 { black } else { LoadOp::Load })
                .bind(0, sample, [bind::texture(&color), sampler()])
                .clear();
        }
        let submitted = graph.submit(&mut self.device)?;
        let end = Instant::now();
        assert_eq!((submitted.stats.passes, submitted.stats.culled), (self.passes, 0));
        Ok(FrameTimes::graph(begin, end, &submitted.stats))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(self.device.maintain()?)
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        // Nothing is drawn; that all passes were planned, each frame has asserted.
        Ok(Vec::new())
    }
}
