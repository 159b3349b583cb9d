//! A triangle without the graph: direct passes on the device, planned from the same ledger. Writes
//! `target/triangle.png`.

use std::time::Duration;

use purlin::rhi::backend::ClearValue;
use purlin::rhi::{ColorAttachment, RenderPassDesc, TexturePlace};
use purlin::types::{BufferUsages, Extent3d, TextureFormat, TextureUsages, VertexStepMode};
use purlin::{
    BufferSlice, ColorTarget, Device, DeviceRequest, LoadOp, PipelineLayoutDesc, RenderPipelineDesc,
    ShaderStageDesc, StoreOp, TextureDesc, TextureViewDesc, VertexBufferLayout,
};
use purlin_examples::shaders::triangle;

const SIZE: (u32, u32) = (640, 360);
const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let request = DeviceRequest { label: "triangle", ..DeviceRequest::default() };
    let mut device = pollster::block_on(Device::request(&request))?;

    let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
        label: "none",
        groups: &[],
        immediate_size: 0,
    })?;
    let module = device.create_shader_module(&triangle::SHADER)?;
    let vertex = VertexBufferLayout {
        stride: triangle::vertex::VERTEX_STRIDE,
        step: VertexStepMode::Vertex,
        attributes: triangle::vertex::VERTEX,
    };
    let pipeline = device.create_render_pipeline(&RenderPipelineDesc {
        label: "triangle",
        layout: *layout,
        vertex: ShaderStageDesc { module: *module, entry: triangle::entries::VERTEX },
        fragment: Some(ShaderStageDesc { module: *module, entry: triangle::entries::FRAGMENT }),
        vertex_buffers: &[vertex],
        primitive: Default::default(),
        depth_stencil: None,
        targets: &[Some(ColorTarget::from(FORMAT))],
        multisample: Default::default(),
    })?;

    // Counterclockwise, with Y up: position, color.
    let corners: [[f32; 5]; 3] =
        [[0.0, 0.7, 1.0, 0.3, 0.2], [-0.8, -0.7, 0.2, 0.9, 0.4], [0.8, -0.7, 0.3, 0.4, 1.0]];
    let vertices =
        device.create_buffer_with("corners", BufferUsages::VERTEX, bytemuck::cast_slice(&corners))?;
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let picture = device.create_texture(&TextureDesc::d2("picture", SIZE.0, SIZE.1, FORMAT, usage))?;
    let view = device.create_texture_view(*picture, &TextureViewDesc::default())?;

    let mut recorder = device.record("triangle")?;
    let target = ColorAttachment {
        view: *view,
        load: LoadOp::Clear(ClearValue::Float([0.04, 0.04, 0.06, 1.0])),
        store: StoreOp::Store,
        resolve: None,
    };
    let pass = RenderPassDesc {
        label: "triangle",
        colors: &[Some(target)],
        depth_stencil: None,
        uses: &[],
        ..Default::default()
    };
    recorder.render_pass(&pass, |pass| {
        pass.set_pipeline(*pipeline);
        pass.set_vertex_buffer(0, BufferSlice { buffer: *vertices, offset: 0, size: 60 });
        pass.draw(0..3, 0..1);
    })?;
    let extent = Extent3d { width: SIZE.0, height: SIZE.1, depth_or_array_layers: 1 };
    let ticket = recorder.read_texture(&TexturePlace::mip(*picture, 0), extent)?;
    let token = recorder.submit()?;

    device.wait(token, Duration::from_secs(10))?;
    let pixels = device.read_vec(&ticket)?;
    std::fs::create_dir_all("target")?;
    image::save_buffer("target/triangle.png", &pixels, SIZE.0, SIZE.1, image::ColorType::Rgba8)?;
    println!("target/triangle.png, drawn by {}", device.adapter().name);
    Ok(())
}
