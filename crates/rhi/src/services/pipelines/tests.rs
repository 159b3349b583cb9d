use super::key::{Content, Key};
use crate::desc::{
    ComputePipelineDesc, DepthStencilDesc, MultisampleDesc, PipelineLayoutDesc, PrimitiveDesc,
    RenderPipelineDesc, ShaderStageDesc, VertexBufferLayout,
};
use crate::device::Device;
use crate::handle::{DeviceTag, Handle, ShaderModule};
use crate::null::{Null, NullConfig};
use crate::request::DeviceRequest;
use crate::shader::{EntryPoint, ShaderSource};
use crate::types::{
    CompareFunction, ShaderStages, TextureFormat, VertexAttribute, VertexFormat, VertexStepMode,
};

const fn entry(name: &'static str, stage: ShaderStages) -> EntryPoint {
    EntryPoint {
        name,
        stage,
        workgroup_size: [1; 3],
        bindings: &[],
        inputs: &[],
        outputs: &[],
        immediate_size: 0,
        writes_depth: false,
    }
}

const ENTRIES: &[EntryPoint] = &[entry("cs", ShaderStages::COMPUTE), entry("other", ShaderStages::COMPUTE)];
const SOURCE: ShaderSource = ShaderSource { label: "one", spirv: &[1, 2, 3], wgsl: "text", entries: ENTRIES };

fn module(slot: u32) -> ShaderModule {
    Handle::new(DeviceTag(1), slot, 1)
}

const POSITION: VertexAttribute =
    VertexAttribute { format: VertexFormat::Float32x3, offset: 0, shader_location: 0 };
const COLOR: VertexAttribute =
    VertexAttribute { format: VertexFormat::Unorm8x4, offset: 12, shader_location: 1 };

/// The key of a raster pipeline after a change to its description.
fn render(change: impl FnOnce(&mut RenderPipelineDesc<'_>)) -> Key {
    let buffers =
        [VertexBufferLayout { stride: 16, step: VertexStepMode::Vertex, attributes: &[POSITION, COLOR] }];
    let targets = [Some(TextureFormat::Rgba8Unorm.into())];
    let depth = DepthStencilDesc::depth(TextureFormat::Depth32Float, true, CompareFunction::Less);
    let mut desc = RenderPipelineDesc {
        label: "scene",
        layout: Handle::new(DeviceTag(1), 0, 1),
        vertex: ShaderStageDesc { module: module(0), entry: "vs" },
        fragment: Some(ShaderStageDesc { module: module(0), entry: "fs" }),
        vertex_buffers: &buffers,
        primitive: PrimitiveDesc::default(),
        depth_stencil: Some(depth),
        targets: &targets,
        multisample: MultisampleDesc::default(),
    };
    change(&mut desc);
    let content = Content::new(&SOURCE);
    let fragment = desc.fragment.as_ref().map(|_| content);
    Key::render(&desc, content, fragment)
}

#[test]
fn every_field_counts_but_labels_and_the_order_of_attributes() {
    let plain = render(|_| {});
    let same = |change: fn(&mut RenderPipelineDesc<'_>)| render(change) == plain;
    assert!(same(|desc| desc.label = "another"));
    assert!(same(|desc| desc.vertex.module = module(7)), "modules count by what they contain");
    assert!(same(|desc| {
        desc.vertex_buffers = &[VertexBufferLayout {
            stride: 16,
            step: VertexStepMode::Vertex,
            attributes: &[COLOR, POSITION],
        }];
    }));
    let differ: &[fn(&mut RenderPipelineDesc<'_>)] = &[
        |desc| desc.layout = Handle::new(DeviceTag(1), 0, 2),
        |desc| desc.vertex.entry = "other",
        |desc| desc.fragment = None,
        |desc| desc.fragment.as_mut().unwrap().entry = "other",
        |desc| desc.vertex_buffers = &[],
        |desc| {
            desc.vertex_buffers = &[VertexBufferLayout {
                stride: 32,
                step: VertexStepMode::Vertex,
                attributes: &[POSITION, COLOR],
            }];
        },
        |desc| {
            desc.vertex_buffers = &[VertexBufferLayout {
                stride: 16,
                step: VertexStepMode::Instance,
                attributes: &[POSITION, COLOR],
            }];
        },
        |desc| desc.primitive.unclipped_depth = true,
        |desc| desc.primitive.cull = Some(crate::types::Face::Back),
        |desc| desc.depth_stencil = None,
        |desc| desc.depth_stencil.as_mut().unwrap().bias.constant = 1,
        |desc| desc.depth_stencil.as_mut().unwrap().bias.slope_scale = f32::from_bits(1),
        |desc| desc.depth_stencil.as_mut().unwrap().bias.clamp = -0.0,
        |desc| desc.depth_stencil.as_mut().unwrap().stencil.read_mask = 1,
        |desc| desc.targets = &[],
        |desc| desc.targets = &[None],
        |desc| desc.multisample.count = 4,
        |desc| desc.multisample.mask = 1,
        |desc| desc.multisample.alpha_to_coverage = true,
    ];
    for (index, change) in differ.iter().enumerate() {
        let key = render(change);
        assert!(key != plain, "change {index}");
        assert!(key.hash() != plain.hash(), "change {index}");
        assert!(key == render(change), "change {index} is equal to itself");
    }
}

#[test]
fn contents_are_compared_whole_whatever_their_hashes() {
    let content = |source: &ShaderSource| Content::with_hash(source, 5);
    let plain = content(&SOURCE);
    assert!(plain == content(&ShaderSource { label: "two", ..SOURCE }), "labels do not count");
    // Equal contents at other addresses.
    let spirv: &'static [u32] = Box::leak(Box::new([1, 2, 3]));
    assert!(plain == content(&ShaderSource { spirv, ..SOURCE }));
    assert!(plain != content(&ShaderSource { spirv: &[1, 2, 4], ..SOURCE }));
    assert!(plain != content(&ShaderSource { wgsl: "texts", ..SOURCE }));
    assert!(plain != content(&ShaderSource { entries: &ENTRIES[..1], ..SOURCE }));
    assert!(plain != Content::with_hash(&SOURCE, 6));
}

#[test]
fn requests_with_one_hash_are_told_apart() {
    let config = NullConfig::default();
    let mut device = Device::from_backend(Null::new(config), &DeviceRequest::default()).unwrap();
    device.pipelines.mask = 0;
    let layout = PipelineLayoutDesc { label: "layout", groups: &[], immediate_size: 0 };
    let layout = device.create_pipeline_layout(&layout).unwrap();
    let module = device.create_shader_module(&SOURCE).unwrap();
    let mut request = |entry| {
        let compute = ShaderStageDesc { module: *module, entry };
        device
            .request_compute_pipeline(&ComputePipelineDesc { label: entry, layout: *layout, compute })
            .unwrap()
    };
    let (a, b, c) = (request("cs"), request("other"), request("cs"));
    assert!(a.is_same(&c) && !a.is_same(&b));
    drop(a);
    let d = request("cs");
    assert!(d.is_same(&c), "a ticket that was dropped takes nothing from the others");
    drop((c, d));
    device.maintain().unwrap();
    assert_eq!(device.pipeline_counts().shared, 2);
    assert!(device.wait_for_pipelines(std::time::Duration::from_secs(1)).unwrap());
    assert!(device.pipeline(&b).is_ok(), "what has the same hash stays");
    assert_eq!(device.pipeline_counts().on_thread, 1, "what nobody waits for is not compiled");
}
