//! Views and bind groups of what the graph places, kept while the placement lasts.
//!
//! Keys are handles, which never name another resource once theirs is gone, so an entry can be stale but never wrong.
//! Stale and unused entries are given up some frames later; until then they keep their texture's memory.
//!
//! Frames of one structure look nothing up but what changes, so they do not tell of the rest that it is in use. All of
//! it was looked up by the frame that materialized last in full, and nothing younger than that goes. When such frames
//! make entries, one of them is materialized in full from time to time, so that the older of them can go.

use purlin_rhi::backend::{Backend, MAX_DYNAMIC_OFFSETS};
use purlin_rhi::plan::TextureRange;
use purlin_rhi::types::{TextureAspect, TextureViewDimension};
use purlin_rhi::{
    BindGroup, BindGroupDesc, BindGroupEntry, BindGroupLayout, BindingResource, Buffer, Device, Owned,
    Sampler, Texture, TextureView, TextureViewDesc, kind,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A group to set, with its dynamic offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundGroup {
    pub group: Option<BindGroup>,
    pub offsets: [u32; MAX_DYNAMIC_OFFSETS],
    pub offset_count: u8,
}

impl BoundGroup {
    pub(crate) const NONE: Self = Self { group: None, offsets: [0; MAX_DYNAMIC_OFFSETS], offset_count: 0 };

    pub(crate) fn offsets(&self) -> &[u32] {
        self.offsets.get(..usize::from(self.offset_count)).unwrap_or_default()
    }

    /// Adds a dynamic offset; whether there was room.
    pub(crate) fn push_offset(&mut self, offset: u32) -> bool {
        match self.offsets.get_mut(usize::from(self.offset_count)) {
            Some(to) => {
                *to = offset;
                self.offset_count += 1;
                true
            }
            None => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ViewKey {
    pub texture: Texture,
    pub range: TextureRange,
    pub aspect: TextureAspect,
    pub dimension: TextureViewDimension,
}

/// What a binding of a cached group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BoundKey {
    Buffer { buffer: Buffer, offset: u64, size: u64 },
    Texture(TextureView),
    Sampler(Sampler),
}

impl BoundKey {
    fn resource(self) -> BindingResource<'static> {
        match self {
            BoundKey::Buffer { buffer, offset, size } => {
                BindingResource::Buffer { buffer, offset, size: Some(size) }
            }
            BoundKey::Texture(view) => BindingResource::Texture(view),
            BoundKey::Sampler(sampler) => BindingResource::Sampler(sampler),
        }
    }
}

/// The key of a group. Inline up to eight bindings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct GroupKey {
    layout: Option<BindGroupLayout>,
    bindings: SmallVec<[(u32, BoundKey); 8]>,
}

#[derive(Debug)]
struct Cached<K: kind::Kind> {
    owner: Owned<K>,
    frame: u64,
}

/// Views and bind groups.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    views: FxHashMap<ViewKey, Cached<kind::TextureView>>,
    groups: FxHashMap<GroupKey, Cached<kind::BindGroup>>,
    /// The key of the group being looked for. Kept for its memory.
    wanted: GroupKey,
    /// The last frame that looked up everything it uses.
    full: u64,
    /// Whether entries were made since.
    grown: bool,
}

impl Cache {
    /// The view with this key, and whether it was made now.
    pub(crate) fn view<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        key: ViewKey,
        label: &str,
        frame: u64,
    ) -> purlin_rhi::Result<(TextureView, bool)> {
        if let Some(cached) = self.views.get_mut(&key) {
            cached.frame = frame;
            return Ok((*cached.owner, false));
        }
        let desc = TextureViewDesc {
            label,
            format: None,
            dimension: Some(key.dimension),
            aspect: key.aspect,
            base_mip: key.range.base_mip,
            mips: key.range.mips,
            base_layer: key.range.base_layer,
            layers: key.range.layers,
        };
        let owner = device.create_texture_view(key.texture, &desc)?;
        let view = *owner;
        self.views.insert(key, Cached { owner, frame });
        self.grown = true;
        Ok((view, true))
    }

    /// Begins the key of a group.
    pub(crate) fn want(&mut self, layout: BindGroupLayout) {
        self.wanted.layout = Some(layout);
        self.wanted.bindings.clear();
    }

    /// Adds a binding to the key.
    pub(crate) fn want_binding(&mut self, binding: u32, bound: BoundKey) {
        self.wanted.bindings.push((binding, bound));
    }

    /// The group with the key, and whether it was made now.
    pub(crate) fn group<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        layout: BindGroupLayout,
        label: &str,
        frame: u64,
    ) -> purlin_rhi::Result<(BindGroup, bool)> {
        if let Some(cached) = self.groups.get_mut(&self.wanted) {
            cached.frame = frame;
            return Ok((*cached.owner, false));
        }
        let entry =
            |&(binding, bound): &(u32, BoundKey)| BindGroupEntry { binding, resource: bound.resource() };
        let entries: SmallVec<[BindGroupEntry<'_>; 16]> = self.wanted.bindings.iter().map(entry).collect();
        let owner = device.create_bind_group(&BindGroupDesc { label, layout, entries: &entries })?;
        let group = *owner;
        self.groups.insert(self.wanted.clone(), Cached { owner, frame });
        self.grown = true;
        Ok((group, true))
    }

    /// Notes that the frame has looked up everything it uses.
    pub(crate) fn looked_up_all(&mut self, frame: u64) {
        self.full = frame;
        self.grown = false;
    }

    /// Whether entries were made since a frame has looked up everything it uses.
    pub(crate) fn has_grown(&self) -> bool {
        self.grown
    }

    /// Gives up what no frame since `oldest` has used, and views of textures that are gone.
    pub(crate) fn evict<B: Backend>(&mut self, device: &Device<B>, oldest: u64) {
        let oldest = oldest.min(self.full);
        self.groups.retain(|_, cached| cached.frame >= oldest);
        self.views
            .retain(|key, cached| cached.frame >= oldest && device.describe_texture(key.texture).is_ok());
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.views.clear();
    }

    /// How many views and groups there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.views.len(), self.groups.len())
    }
}
