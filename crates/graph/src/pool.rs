//! The transient pool: textures and buffers that frames borrow and give back.
//!
//! The key is everything that a resource is created with, so an entry can stand in only for its equal. Within a frame
//! an entry serves several transients whose lives do not overlap; across frames it serves whoever comes first in the
//! same order, so an unchanged frame finds the same resources, and with them the same views and bind groups.
//! Imported resources never enter the pool, and exported ones leave it until the next frame begins.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureUsages};
use purlin_rhi::{Buffer, BufferDesc, Device, Owned, Texture, kind};

use crate::context::NONE;
use crate::heaps::Heaps;
use crate::transient::TransientTexture;

/// Everything that a pooled texture is created with. `base.usage` holds only what was asked for besides; `usage` is
/// what the passes need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TextureKey {
    pub base: TransientTexture,
    pub usage: TextureUsages,
}

/// Everything that a pooled buffer is created with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BufferKey {
    pub size: u64,
    pub usage: BufferUsages,
}

/// Who has an entry, and when.
#[derive(Debug, Clone, Copy)]
struct Tenancy {
    /// The last frame that used it.
    frame: u64,
    /// The position of the live pass that uses it last in that frame.
    until: u32,
    /// The export that holds it until the next frame begins.
    export: u32,
}

impl Tenancy {
    /// An exported stay lasts to the end of its frame, so nobody follows it there.
    fn free(&self, frame: u64, first: u32, reuse: bool) -> bool {
        self.frame != frame || (reuse && self.until < first)
    }
}

#[derive(Debug)]
struct Entry<K, R: kind::Kind> {
    key: K,
    owner: Owned<R>,
    bytes: u64,
    tenancy: Tenancy,
}

/// A stay in the pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stay {
    pub frame: u64,
    /// Positions of live passes.
    pub first: u32,
    pub last: u32,
    pub reuse: bool,
    /// The export that takes it, or [`NONE`].
    pub export: u32,
}

impl Stay {
    fn tenancy(&self) -> Tenancy {
        Tenancy { frame: self.frame, until: self.last, export: self.export }
    }
}

/// Pooled textures and buffers.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    textures: Vec<Entry<TextureKey, kind::Texture>>,
    buffers: Vec<Entry<BufferKey, kind::Buffer>>,
    /// Textures that share memory.
    pub heaps: Heaps,
    /// How often entries have gone, and the places of others have changed.
    removals: u64,
}

/// What was found or made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acquired<H> {
    pub handle: H,
    /// The entry, for reports: who shares it has the same number.
    pub slot: u32,
    /// Whether it was made now.
    pub created: bool,
    /// Its bytes, if nobody in this frame had it before.
    pub new_bytes: u64,
}

fn find<K: PartialEq, R: kind::Kind>(entries: &mut [Entry<K, R>], key: &K, stay: &Stay) -> Option<usize> {
    entries
        .iter()
        .position(|entry| entry.key == *key && entry.tenancy.free(stay.frame, stay.first, stay.reuse))
}

fn enter<K, R: kind::Kind>(
    entries: &mut [Entry<K, R>],
    index: usize,
    stay: &Stay,
    created: bool,
) -> Option<Acquired<purlin_rhi::Handle<R>>> {
    let entry = entries.get_mut(index)?;
    let fresh = created || entry.tenancy.frame != stay.frame;
    entry.tenancy = stay.tenancy();
    let new_bytes = if fresh { entry.bytes } else { 0 };
    Some(Acquired { handle: *entry.owner, slot: index as u32, created, new_bytes })
}

impl Pool {
    /// A texture for a stay, or `None` if the device refuses in a way that leaves no entry (it never does).
    pub(crate) fn texture<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        key: TextureKey,
        label: &str,
        stay: &Stay,
    ) -> purlin_rhi::Result<Option<Acquired<Texture>>> {
        if let Some(index) = find(&mut self.textures, &key, stay) {
            return Ok(enter(&mut self.textures, index, stay, false));
        }
        let owner = device.create_texture(&key.base.desc(label, key.usage))?;
        let bytes = device.texture_bytes(*owner)?;
        let tenancy = Tenancy { frame: 0, until: 0, export: NONE };
        self.textures.push(Entry { key, owner, bytes, tenancy });
        let index = self.textures.len() - 1;
        Ok(enter(&mut self.textures, index, stay, true))
    }

    /// A buffer for a stay.
    pub(crate) fn buffer<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        key: BufferKey,
        label: &str,
        stay: &Stay,
    ) -> purlin_rhi::Result<Option<Acquired<Buffer>>> {
        if let Some(index) = find(&mut self.buffers, &key, stay) {
            return Ok(enter(&mut self.buffers, index, stay, false));
        }
        let owner = device.create_buffer(&BufferDesc::new(label, key.size, key.usage))?;
        let tenancy = Tenancy { frame: 0, until: 0, export: NONE };
        self.buffers.push(Entry { key, owner, bytes: key.size, tenancy });
        let index = self.buffers.len() - 1;
        Ok(enter(&mut self.buffers, index, stay, true))
    }

    /// Counts up whenever an entry goes: what was placed before must be placed again.
    pub(crate) fn removals(&self) -> u64 {
        self.removals
    }

    /// Has a texture stay where it stayed in the last frame.
    pub(crate) fn renew_texture(&mut self, slot: u32, stay: &Stay) {
        if let Some(entry) = self.textures.get_mut(slot as usize) {
            entry.tenancy = stay.tenancy();
        }
    }

    /// Has a buffer stay where it stayed in the last frame.
    pub(crate) fn renew_buffer(&mut self, slot: u32, stay: &Stay) {
        if let Some(entry) = self.buffers.get_mut(slot as usize) {
            entry.tenancy = stay.tenancy();
        }
    }

    /// Lets exported entries serve again.
    pub(crate) fn take_back_exports(&mut self) {
        self.textures.iter_mut().for_each(|entry| entry.tenancy.export = NONE);
        self.buffers.iter_mut().for_each(|entry| entry.tenancy.export = NONE);
    }

    /// The texture that an export of this frame holds.
    pub(crate) fn exported_texture(&self, export: u32, frame: u64) -> Option<Texture> {
        let held = |tenancy: &Tenancy| tenancy.export == export && tenancy.frame == frame;
        self.textures.iter().find(|entry| held(&entry.tenancy)).map(|entry| *entry.owner)
    }

    /// The buffer that an export of this frame holds.
    pub(crate) fn exported_buffer(&self, export: u32, frame: u64) -> Option<Buffer> {
        let held = |tenancy: &Tenancy| tenancy.export == export && tenancy.frame == frame;
        self.buffers.iter().find(|entry| held(&entry.tenancy)).map(|entry| *entry.owner)
    }

    /// Takes an exported texture out of the pool.
    pub(crate) fn take_texture(&mut self, texture: Texture) -> Option<Owned<kind::Texture>> {
        let index = self.textures.iter().position(|entry| *entry.owner == texture)?;
        self.removals += 1;
        Some(self.textures.remove(index).owner)
    }

    /// Takes an exported buffer out of the pool.
    pub(crate) fn take_buffer(&mut self, buffer: Buffer) -> Option<Owned<kind::Buffer>> {
        let index = self.buffers.iter().position(|entry| *entry.owner == buffer)?;
        self.removals += 1;
        Some(self.buffers.remove(index).owner)
    }

    /// Gives up what no frame since `oldest` has used.
    pub(crate) fn evict(&mut self, oldest: u64) {
        let before = self.textures.len() + self.buffers.len();
        self.textures.retain(|entry| entry.tenancy.frame >= oldest);
        self.buffers.retain(|entry| entry.tenancy.frame >= oldest);
        let gone = self.textures.len() + self.buffers.len() < before;
        self.removals += u64::from(self.heaps.evict(oldest) || gone);
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.textures.clear();
        self.buffers.clear();
        self.heaps.clear();
        self.removals += 1;
    }

    /// Entries and their bytes.
    pub(crate) fn totals(&self) -> (usize, u64) {
        let textures: u64 = self.textures.iter().map(|entry| entry.bytes).sum();
        let buffers: u64 = self.buffers.iter().map(|entry| entry.bytes).sum();
        let (shared, shared_bytes) = self.heaps.totals();
        (self.textures.len() + self.buffers.len() + shared, textures + buffers + shared_bytes)
    }
}
