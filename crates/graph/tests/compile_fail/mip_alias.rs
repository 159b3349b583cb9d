//! A part of a version cannot be read while another part of it is held to write, but by splitting it.

use purlin_graph::{Graph, GraphArena, TransientTexture, bind};
use purlin_rhi::null::Null;
use purlin_rhi::types::TextureFormat;
use purlin_rhi::{BindGroupLayout, LoadOp, RenderPipeline};

fn frame(arena: &mut GraphArena<Null>, layout: BindGroupLayout, pipeline: RenderPipeline) {
    let mut graph = Graph::new("frame", arena);
    let mut bloom = graph.texture("bloom", TransientTexture::d2(TextureFormat::Rgba8Unorm, 8, 8).mips(2));
    let mut mips = bloom.split_mips();
    graph
        .render("same mip")
        .color(0, &mut mips[1], LoadOp::DontCare)
        .bind(0, layout, [bind::texture(&mips[1])])
        .fullscreen(pipeline);
    let mut mips = bloom.split_mips();
    graph
        .render("whole")
        .color(0, &mut mips[1], LoadOp::DontCare)
        .bind(0, layout, [bind::texture(&bloom)])
        .fullscreen(pipeline);
}

fn main() {}
