//! What a graph keeps from frame to frame.

use std::marker::PhantomData;

use bumpalo::Bump;
use purlin_rhi::backend::Backend;
use purlin_rhi::{Buffer, Owned, Texture, kind};

use crate::context::{Context, GraphOptions};
use crate::stats::ExportId;

/// The memory of a graph: the closures of the frame, every phase's storage, transient textures and buffers, views and
/// bind groups. Keep one for each graph that runs every frame; a frame like the last one then allocates nothing and
/// creates nothing.
#[derive(Debug)]
pub struct GraphArena<B: Backend> {
    pub(crate) bump: Bump,
    pub(crate) context: Box<Context>,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> Default for GraphArena<B> {
    fn default() -> Self {
        Self { bump: Bump::new(), context: Box::default(), backend: PhantomData }
    }
}

impl<B: Backend> GraphArena<B> {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether each submission captures a [`GraphReport`](crate::GraphReport). Off at first, since a report costs more
    /// than the frame.
    pub fn set_report(&mut self, on: bool) {
        self.context.with_report = on;
    }

    /// The switches, for the graphs to come.
    pub fn options(&mut self) -> &mut GraphOptions {
        &mut self.context.options
    }

    /// The texture that the last graph exported, until the next graph begins.
    pub fn exported_texture(&self, export: ExportId) -> Option<Texture> {
        let current = export.graph == self.context.graph;
        current.then(|| self.context.pool.exported_texture(export.index, self.context.frame))?
    }

    /// The buffer that the last graph exported, until the next graph begins.
    pub fn exported_buffer(&self, export: ExportId) -> Option<Buffer> {
        let current = export.graph == self.context.graph;
        current.then(|| self.context.pool.exported_buffer(export.index, self.context.frame))?
    }

    /// Takes an exported texture out of the arena, to keep it: the next frame may import it.
    pub fn take_texture(&mut self, export: ExportId) -> Option<Owned<kind::Texture>> {
        let texture = self.exported_texture(export)?;
        self.context.pool.take_texture(texture)
    }

    /// Takes an exported buffer out of the arena, to keep it.
    pub fn take_buffer(&mut self, export: ExportId) -> Option<Owned<kind::Buffer>> {
        let buffer = self.exported_buffer(export)?;
        self.context.pool.take_buffer(buffer)
    }

    /// Gives up all textures, buffers, views and bind groups, as before the first frame.
    pub fn clear(&mut self) {
        self.context.cache.clear();
        self.context.pool.clear();
    }

    /// How many pooled textures and buffers there are, and their bytes.
    pub fn pooled(&self) -> (usize, u64) {
        self.context.pool.totals()
    }

    /// How many views and bind groups are kept.
    pub fn cached(&self) -> (usize, usize) {
        self.context.cache.counts()
    }
}
