//! Heaps, and textures placed in them.
//!
//! Textures of one heap may lie in the same bytes, as long as no two of them are in use at one time. When memory changes
//! hands, the list of passes says so ([`crate::plan::PassList::push_alias`]); the ledger cannot know.

use super::texture::{known_bytes, texture_bytes};
use crate::backend::Backend;
use crate::desc::{Contents, HeapDesc, MemoryNeeds, TextureDesc};
use crate::device::Device;
use crate::error::{Result, invalid, named};
use crate::handle::{Heap, ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::HeapRecord;

impl<B: Backend> Device<B> {
    /// What a texture would take in a heap. `None` if it must have memory of its own, and on a backend without heaps.
    ///
    /// # Errors
    /// As [`Self::create_texture`], but for memory.
    pub fn texture_memory(&mut self, desc: &TextureDesc<'_>) -> Result<Option<MemoryNeeds>> {
        self.check_lost("texture_memory")?;
        self.check_texture(desc)?;
        known_bytes(desc, texture_bytes(desc))?;
        let needs = self.backend.texture_memory(desc);
        needs.map_err(|error| self.backend_error(error, named(ResourceKind::Texture, desc.label)))
    }

    /// Creates a heap for textures of a class that [`Self::texture_memory`] has named. Its bytes count; those of the textures
    /// in it do not. It goes when it was dropped and nothing lies in it any more.
    ///
    /// # Errors
    /// No bytes, an alignment that is no power of two, the memory budget, the slot ceiling, or memory.
    pub fn create_heap(&mut self, desc: &HeapDesc<'_>) -> Result<Owned<kind::Heap>> {
        let what = || named(ResourceKind::Heap, desc.label);
        self.check_lost("create_heap")?;
        if desc.size == 0 {
            return Err(invalid(what(), "size", "at least one byte", 0));
        }
        if !desc.alignment.is_power_of_two() {
            return Err(invalid(what(), "alignment", "a power of two", desc.alignment));
        }
        self.make_room(ResourceKind::Heap, desc.size)?;
        self.check_budget(desc.size, what)?;
        let slot = self.registry.heaps.next_slot()?;
        if let Err(error) = self.backend.create_heap(slot, desc) {
            return Err(self.backend_error(error, what()));
        }
        let record = HeapRecord { label: desc.label.into(), size: desc.size, class: desc.class };
        let handle = self.registry.heaps.insert(slot, record);
        self.registry.charge(desc.size);
        Ok(self.own(handle))
    }

    /// Creates a texture in a heap, its contents undefined. Only GPU work can write it.
    ///
    /// # Errors
    /// As [`Self::create_texture`]; uploaded contents; a texture that must have memory of its own, is of another class or
    /// does not fit.
    pub fn create_placed_texture(
        &mut self,
        desc: &TextureDesc<'_>,
        heap: Heap,
        offset: u64,
    ) -> Result<Owned<kind::Texture>> {
        let what = || named(ResourceKind::Texture, desc.label);
        let needs = self.texture_memory(desc)?;
        let record = self.registry.heaps.check(heap, what)?;
        if desc.contents == Contents::Uploaded {
            return Err(invalid(what(), "contents", "Tracked, in a heap", "Uploaded"));
        }
        let expected = format!("a texture of the class of {}", named(ResourceKind::Heap, &record.label));
        let Some(needs) = needs else {
            return Err(invalid(what(), "heap", expected, "one that must have memory of its own"));
        };
        if needs.class != record.class {
            return Err(invalid(what(), "heap", expected, format!("{:?}", needs.class)));
        }
        if !offset.is_multiple_of(needs.alignment) {
            return Err(invalid(what(), "offset", format!("a multiple of {}", needs.alignment), offset));
        }
        if offset.checked_add(needs.size).is_none_or(|end| end > record.size) {
            let expected =
                format!("within the {} bytes of {}", record.size, named(ResourceKind::Heap, &record.label));
            return Err(invalid(what(), "offset", expected, format!("{} bytes from {offset}", needs.size)));
        }
        self.make_room(ResourceKind::Texture, 0)?;
        let slot = self.registry.textures.next_slot()?;
        if let Err(error) = self.backend.create_placed_texture(slot, desc, heap.slot(), offset) {
            return Err(self.backend_error(error, what()));
        }
        self.registry.retain(ResourceKind::Heap, heap.slot());
        let bytes = known_bytes(desc, texture_bytes(desc))?;
        Ok(self.enter_texture(slot, desc, bytes, Some(heap.slot())))
    }
}
