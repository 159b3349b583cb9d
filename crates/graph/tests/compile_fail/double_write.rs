//! A pass cannot write one version twice.

use purlin_graph::{Graph, GraphArena, TransientTexture};
use purlin_rhi::null::Null;
use purlin_rhi::types::TextureFormat;
use purlin_rhi::LoadOp;

fn frame(arena: &mut GraphArena<Null>) {
    let mut graph = Graph::new("frame", arena);
    let mut color = graph.texture("color", TransientTexture::d2(TextureFormat::Rgba8Unorm, 8, 8));
    graph.render("twice").color(0, &mut color, LoadOp::DontCare).color(1, &mut color, LoadOp::DontCare).clear();
}

fn main() {}
