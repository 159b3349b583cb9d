//! One fullscreen pass on the render graph, read back and written as `target/hello.png`.

use std::time::Duration;

use purlin::rhi::backend::ClearValue;
use purlin::types::TextureFormat;
use purlin::{
    BindGroupLayoutDesc, ColorTarget, Device, DeviceRequest, Graph, GraphArena, LoadOp, PipelineLayoutDesc,
    RenderPipelineDesc, ShaderStageDesc, TransientTexture, bind,
};
use purlin_examples::shaders::gradient;

const SIZE: (u32, u32) = (640, 360);
const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let request = DeviceRequest { label: "hello", ..DeviceRequest::default() };
    let mut device = pollster::block_on(Device::request(&request))?;

    // Created once. The shader's reflection says what the layout must be; `GROUP0` is generated from it.
    let group = device
        .create_bind_group_layout(&BindGroupLayoutDesc { label: "gradient", entries: gradient::GROUP0 })?;
    let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
        label: "gradient",
        groups: &[*group],
        immediate_size: 0,
    })?;
    let module = device.create_shader_module(&gradient::SHADER)?;
    let pipeline = device.create_render_pipeline(&RenderPipelineDesc {
        label: "gradient",
        layout: *layout,
        vertex: ShaderStageDesc { module: *module, entry: gradient::entries::VERTEX },
        fragment: Some(ShaderStageDesc { module: *module, entry: gradient::entries::FRAGMENT }),
        vertex_buffers: &[],
        primitive: Default::default(),
        depth_stencil: None,
        targets: &[Some(ColorTarget::from(FORMAT))],
        multisample: Default::default(),
    })?;

    // Every frame.
    let colors = gradient::Gradient::new([0.95, 0.55, 0.25, 1.0], [0.15, 0.10, 0.35, 1.0]);
    let uniform = device.push_frame_data(bytemuck::bytes_of(&colors), 16)?;
    let mut arena = GraphArena::new();
    let mut graph = Graph::new("hello", &mut arena);
    let mut picture = graph.texture("picture", TransientTexture::d2(FORMAT, SIZE.0, SIZE.1));
    graph
        .render("gradient")
        .color(0, &mut picture, LoadOp::Clear(ClearValue::Float([0.0; 4])))
        .bind(0, *group, [bind::uploaded(uniform)])
        .fullscreen(*pipeline);
    let read = graph.read_texture(&picture);
    let mut done = graph.submit(&mut device)?;

    device.wait(done.token, Duration::from_secs(10))?;
    let ticket = done.take_read(read).ok_or("the picture was not read")?;
    let pixels = device.read_vec(&ticket)?;
    std::fs::create_dir_all("target")?;
    image::save_buffer("target/hello.png", &pixels, SIZE.0, SIZE.1, image::ColorType::Rgba8)?;
    println!("target/hello.png, drawn by {}", device.adapter().name);
    Ok(())
}
