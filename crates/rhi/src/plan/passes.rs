//! The planner's input: what each pass uses, in the order of execution.
//!
//! Everything lies in flat arrays that keep their memory from one list to the next. A pass is what was pushed since
//! the last [`PassList::end_pass`].

use std::sync::atomic::{AtomicU64, Ordering};

use super::access::{ResourceUse, TextureRange};
use super::extent::Resource;
use crate::handle::{BindGroup, Texture};

/// A list of passes.
///
/// ```ignore
/// passes.begin();
/// passes.push_use(ResourceUse::Buffer { buffer, offset: 0, size: 256, usage: BufferUse::CopyDst });
/// let copy = passes.end_pass();
/// passes.push_use(ResourceUse::Buffer { buffer, offset: 0, size: 256, usage: BufferUse::Vertex });
/// let draw = passes.end_pass();
/// planner.plan(&ledger, &passes, &mut plan)?;
/// ```
#[derive(Debug, Default)]
pub struct PassList {
    /// Zero for none.
    name: u64,
    uses: Vec<ResourceUse>,
    discards: Vec<(Texture, TextureRange)>,
    aliases: Vec<(Resource, Resource)>,
    ends: Vec<Ends>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Ends {
    uses: usize,
    discards: usize,
    aliases: usize,
}

impl PartialEq for PassList {
    fn eq(&self, other: &Self) -> bool {
        self.ends == other.ends
            && self.uses == other.uses
            && self.discards == other.discards
            && self.aliases == other.aliases
    }
}

/// One pass of a list.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// Where the pass's uses begin in its list.
    pub first_use: usize,
    /// What it uses.
    pub uses: &'a [ResourceUse],
    /// What is undefined after it.
    pub discards: &'a [(Texture, TextureRange)],
    /// Memory that changes hands before it: from the first resource to the second.
    pub aliases: &'a [(Resource, Resource)],
}

/// Answers what bind groups use, in the order of their bindings.
pub(crate) trait GroupUses {
    /// The uses of a live group.
    fn uses(&self, group: BindGroup) -> impl Iterator<Item = ResourceUse>;
}

/// The groups that a pass declares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeclaredGroups<'a, G> {
    pub groups: &'a [BindGroup],
    pub of: &'a G,
}

impl PassList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the list for new passes, keeping its memory.
    #[inline]
    pub fn begin(&mut self) {
        self.name = 0;
        self.uses.clear();
        self.discards.clear();
        self.aliases.clear();
        self.ends.clear();
    }

    /// Adds a use to the pass being described.
    #[inline]
    pub fn push_use(&mut self, usage: ResourceUse) {
        self.uses.push(usage);
    }

    /// Makes the contents of a range undefined when the pass ends: an attachment that is not stored.
    pub fn push_discard(&mut self, texture: Texture, range: TextureRange) {
        self.discards.push((texture, range));
    }

    /// Before the pass, memory of `from` becomes memory of `to`: the first use of `to` waits for all that was done
    /// with `from`, and both are undefined. Push it once for each former owner of the memory.
    pub fn push_alias(&mut self, from: Resource, to: Resource) {
        self.aliases.push((from, to));
    }

    /// Ends the pass and returns its index in the list.
    #[inline]
    pub fn end_pass(&mut self) -> usize {
        self.ends.push(Ends {
            uses: self.uses.len(),
            discards: self.discards.len(),
            aliases: self.aliases.len(),
        });
        self.ends.len() - 1
    }

    /// Gives the finished list a name of its own until it begins again, so that a planner that has seen it knows it
    /// without comparing. For a list that is planned more than once.
    pub fn name(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.name = NEXT.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the lists have one name, and so are equal. What was added after naming shows in the lengths.
    pub(super) fn is_called_as(&self, other: &PassList) -> bool {
        self.name != 0
            && self.name == other.name
            && self.uses.len() == other.uses.len()
            && self.ends.len() == other.ends.len()
            && self.discards.len() == other.discards.len()
            && self.aliases.len() == other.aliases.len()
    }

    /// How many passes have ended.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no pass has ended.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The pass with this index.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn pass(&self, index: usize) -> Pass<'_> {
        let start = if index == 0 { Ends::default() } else { self.ends[index - 1] };
        let end = self.ends[index];
        Pass {
            first_use: start.uses,
            uses: &self.uses[start.uses..end.uses],
            discards: &self.discards[start.discards..end.discards],
            aliases: &self.aliases[start.aliases..end.aliases],
        }
    }

    /// The passes in order.
    pub fn iter(&self) -> impl Iterator<Item = Pass<'_>> {
        (0..self.len()).map(|index| self.pass(index))
    }

    /// The pass that a use belongs to.
    pub(super) fn pass_of(&self, usage: usize) -> usize {
        self.ends.partition_point(|end| end.uses <= usage)
    }

    /// Becomes a list of this pass alone, with the uses of its groups last.
    pub(super) fn set<G: GroupUses>(&mut self, pass: &Pass<'_>, groups: &DeclaredGroups<'_, G>) {
        self.begin();
        self.uses.extend_from_slice(pass.uses);
        self.uses.extend(groups.groups.iter().flat_map(|group| groups.of.uses(*group)));
        self.discards.extend_from_slice(pass.discards);
        self.aliases.extend_from_slice(pass.aliases);
        self.end_pass();
    }

    /// Becomes a copy of `other`, keeping the allocations.
    pub(super) fn copy_from(&mut self, other: &PassList) {
        self.name = other.name;
        self.uses.clone_from(&other.uses);
        self.discards.clone_from(&other.discards);
        self.aliases.clone_from(&other.aliases);
        self.ends.clone_from(&other.ends);
    }

    /// All uses of all passes.
    #[inline]
    pub(super) fn uses(&self) -> &[ResourceUse] {
        &self.uses
    }
}
