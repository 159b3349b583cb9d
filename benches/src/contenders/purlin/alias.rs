//! `alias_deferred_720p`, `alias_deferred_2160p` and `alias_postchain`: frames whose textures lie over each other.

use std::time::Instant;

use purlin_graph::{Graph, GraphArena};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::TextureUsages;
use purlin_rhi::{ClearValue, LoadOp, Owned, TextureDesc, kind};

use super::make::Gpu;
use super::reference_frames::{COLOR, HDR, deferred, post_chain};
use crate::case::{Case, FrameTimes, Memory, Outcome};
use crate::workloads::Aliased;

const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

pub struct Alias<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    arena: GraphArena<B>,
    frame: Aliased,
    size: (u32, u32),
    /// History, next history, screen.
    images: [Owned<kind::Texture>; 3],
    first: bool,
}

impl<'g, B: Backend> Alias<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, frame: Aliased) -> Outcome<Self> {
        let size = if frame == Aliased::Deferred2160 { (3840, 2160) } else { (1280, 720) };
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let mut image =
            |label, format| gpu.device.create_texture(&TextureDesc::d2(label, size.0, size.1, format, usage));
        let images = [image("history", HDR)?, image("next", HDR)?, image("screen", COLOR)?];
        let mut arena = GraphArena::new();
        arena.options().alias = true;
        Ok(Self { gpu, arena, frame, size, images, first: true })
    }
}

impl<B: Backend> Case for Alias<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        let mut graph = Graph::new("frame", &mut self.arena);
        let [history, next, screen] = ["history", "next", "screen"];
        let mut imports = [(history, 0), (next, 1), (screen, 2)]
            .map(|(label, index): (&str, usize)| graph.import_texture(label, *self.images[index]));
        if std::mem::take(&mut self.first) {
            graph.render("first history").color(0, &mut imports[0], BLACK).clear();
        }
        match self.frame {
            Aliased::PostChain => post_chain(&mut graph, self.size, &mut imports[2]),
            Aliased::Deferred720 | Aliased::Deferred2160 => deferred(&mut graph, self.size, &mut imports),
        }
        let stats = graph.submit(&mut self.gpu.device)?.stats;
        let memory =
            Memory { all: stats.transient_bytes, physical: stats.physical_bytes, bound: stats.peak_bytes };
        Ok(FrameTimes { memory: Some(memory), ..FrameTimes::graph(begin, Instant::now(), &stats) })
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        // Contents are the conformance fixtures' subject; here sizes are.
        Ok(Vec::new())
    }
}
