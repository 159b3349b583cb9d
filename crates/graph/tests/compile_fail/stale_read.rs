//! What was read before a write cannot be read after it.

use purlin_graph::{Graph, GraphArena, TransientBuffer};
use purlin_rhi::null::Null;

fn frame(arena: &mut GraphArena<Null>) {
    let mut graph = Graph::new("frame", arena);
    let mut data = graph.buffer("data", TransientBuffer::new(64));
    graph.clear_buffer("first", &mut data);
    let before = &data;
    graph.clear_buffer("second", &mut data);
    graph.read_buffer(before);
}

fn main() {}
