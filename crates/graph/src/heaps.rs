//! Heaps: textures that lie over each other, kept while frames place them alike.
//!
//! A heap and its textures are made together and go together. The key is everything that they are made from, so a frame
//! that packs alike finds the same textures, and with them the same views and bind groups.

use purlin_rhi::backend::Backend;
use purlin_rhi::{Device, HeapClass, HeapDesc, MemoryNeeds, Owned, Texture, kind};
use rustc_hash::FxHashMap;

use crate::pool::TextureKey;

/// A texture of a heap: what it is made with, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub key: TextureKey,
    pub offset: u64,
}

#[derive(Debug)]
struct Shared {
    class: HeapClass,
    size: u64,
    alignment: u64,
    placed: Vec<Placed>,
    textures: Vec<Owned<kind::Texture>>,
    _heap: Owned<kind::Heap>,
    /// The last frame that used it.
    frame: u64,
}

/// All heaps of an arena.
#[derive(Debug, Default)]
pub(crate) struct Heaps {
    all: Vec<Shared>,
    needs: FxHashMap<TextureKey, Option<MemoryNeeds>>,
}

impl Heaps {
    /// What a texture takes in a heap, if it can lie in one.
    pub(crate) fn needs<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        key: TextureKey,
    ) -> purlin_rhi::Result<Option<MemoryNeeds>> {
        if let Some(known) = self.needs.get(&key) {
            return Ok(*known);
        }
        let needs = device.texture_memory(&key.base.desc("transient", key.usage))?;
        self.needs.insert(key, needs);
        Ok(needs)
    }

    /// A heap with these textures for a frame: its number, and whether it was made now.
    pub(crate) fn heap<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        (class, size, alignment): (HeapClass, u64, u64),
        placed: &[Placed],
        label: impl Fn(usize) -> String,
        frame: u64,
    ) -> purlin_rhi::Result<(u32, bool)> {
        let same = |shared: &Shared| {
            (shared.class, shared.size, shared.alignment) == (class, size, alignment)
                && shared.frame != frame
                && shared.placed == placed
        };
        if let Some(index) = self.all.iter().position(same) {
            self.all[index].frame = frame;
            return Ok((index as u32, false));
        }
        let heap = device.create_heap(&HeapDesc { label: "transients", size, alignment, class })?;
        let mut textures = Vec::with_capacity(placed.len());
        for (index, placed) in placed.iter().enumerate() {
            let label = label(index);
            let desc = placed.key.base.desc(&label, placed.key.usage);
            textures.push(device.create_placed_texture(&desc, *heap, placed.offset)?);
        }
        let placed = placed.to_vec();
        self.all.push(Shared { class, size, alignment, placed, textures, _heap: heap, frame });
        Ok((self.all.len() as u32 - 1, true))
    }

    /// A texture of a heap.
    pub(crate) fn texture(&self, heap: u32, index: usize) -> Option<Texture> {
        Some(**self.all.get(heap as usize)?.textures.get(index)?)
    }

    /// Has the heap stay for another frame.
    pub(crate) fn renew(&mut self, heap: u32, frame: u64) {
        if let Some(shared) = self.all.get_mut(heap as usize) {
            shared.frame = frame;
        }
    }

    /// Gives up what no frame since `oldest` has used; whether anything went.
    pub(crate) fn evict(&mut self, oldest: u64) -> bool {
        let before = self.all.len();
        self.all.retain(|shared| shared.frame >= oldest);
        if self.all.len() < before {
            // What textures take is asked again now and then, so that sizes of the past do not pile up.
            self.needs.clear();
        }
        self.all.len() < before
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.needs.clear();
    }

    /// Textures, and the bytes of all heaps.
    pub(crate) fn totals(&self) -> (usize, u64) {
        let textures = self.all.iter().map(|shared| shared.textures.len()).sum();
        (textures, self.all.iter().map(|shared| shared.size).sum())
    }
}
