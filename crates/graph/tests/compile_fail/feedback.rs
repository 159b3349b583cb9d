//! A pass cannot sample what it writes.

use purlin_graph::{Graph, GraphArena, TransientTexture, bind};
use purlin_rhi::null::Null;
use purlin_rhi::types::TextureFormat;
use purlin_rhi::{BindGroupLayout, LoadOp, RenderPipeline};

fn frame(arena: &mut GraphArena<Null>, layout: BindGroupLayout, pipeline: RenderPipeline) {
    let mut graph = Graph::new("frame", arena);
    let mut color = graph.texture("color", TransientTexture::d2(TextureFormat::Rgba8Unorm, 8, 8));
    graph
        .render("feedback")
        .color(0, &mut color, LoadOp::Load)
        .bind(0, layout, [bind::texture(&color)])
        .fullscreen(pipeline);
}

fn main() {}
