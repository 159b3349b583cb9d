//! What both builders share: where a pass's parts go, and the checks that need no device.

use purlin_rhi::BindGroupLayout;
use purlin_rhi::backend::Backend;

use crate::bind::Binding;
use crate::declare::{At, Change, DeclaredAccess, DeclaredUse, Name, PassKind, QueryDecl, Work};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::version::sealed::ResourceRef;

/// A pass being declared.
pub(crate) struct Open<'p, 'f, B: Backend> {
    pub graph: &'p mut Graph<'f, B>,
    pub name: Name,
    pub at: At,
    pub side_effect: bool,
    start: [u32; 3],
}

/// Begins a pass. What an abandoned builder left behind goes.
pub(crate) fn open<'p, 'f, B: Backend>(graph: &'p mut Graph<'f, B>, label: &str, at: At) -> Open<'p, 'f, B> {
    let declared = &mut graph.context.declared;
    declared.drop_unfinished();
    let start = declared.ends();
    let name = declared.name(label);
    Open { graph, name, at, side_effect: false, start }
}

impl<B: Backend> Open<'_, '_, B> {
    /// Whether a version belongs to this graph; if not, the graph is rejected.
    pub(crate) fn check(&mut self, target: ResourceRef, at: At) {
        self.graph.check_version(target, Some(self.name), at);
    }

    pub(crate) fn bind(&mut self, index: u32, layout: BindGroupLayout, bindings: &[Binding<'_>], at: At) {
        let declared = &self.graph.context.declared;
        let first = declared.bindings.len() as u32;
        let twice = declared.groups[self.start[1] as usize..].iter().any(|group| group.index == index);
        let mut change = Change::Nothing;
        for binding in bindings {
            if let Some(target) = binding.decl.bound.target() {
                self.check(target, binding.decl.at);
            }
            change = change.max(self.graph.context.declared.bind(binding.decl));
        }
        self.graph.context.declared.group(index, layout, first, change, at);
        let most = purlin_rhi::backend::MAX_GROUPS as u32;
        if twice || index >= most {
            let expected = if twice { "each group once".into() } else { format!("a group below {most}") };
            let found = if twice { "it is bound twice".into() } else { index.to_string() };
            let pass = self.label();
            let (expected, found) = (expected.into(), found.into());
            self.graph.reject(GraphError::Group { pass, group: index, expected, found, at });
        }
    }

    pub(crate) fn push_use(&mut self, target: ResourceRef, access: DeclaredAccess, at: At) {
        self.check(target, at);
        self.graph.context.declared.push_use(DeclaredUse { target, access, at });
    }

    /// The queries of the pass, to be declared.
    pub(crate) fn queries(&mut self) -> &mut QueryDecl {
        self.graph.context.declared.open_queries.get_or_insert_default()
    }

    pub(crate) fn label(&self) -> Box<str> {
        self.graph.context.declared.text(self.name).into()
    }

    pub(crate) fn attachments(&self) -> &[crate::declare::AttachmentDecl] {
        &self.graph.context.declared.attachments[self.start[0] as usize..]
    }

    pub(crate) fn finish(self, kind: PassKind, work: Work) {
        let declared = &mut self.graph.context.declared;
        declared.pass((self.name, self.at), kind, work, self.side_effect, self.start);
    }
}

/// The methods that declare uses, the same for both builders.
macro_rules! common_uses {
    () => {
        /// Binds a group at its number: one entry for each binding of the layout, in binding order. The group is made
        /// once for what the graph places there, and is set when the body begins.
        #[track_caller]
        pub fn bind<const N: usize>(
            mut self,
            group: u32,
            layout: purlin_rhi::BindGroupLayout,
            entries: [crate::bind::Binding<'p>; N],
        ) -> Self {
            self.open.bind(group, layout, &entries, Location::caller());
            self
        }

        /// Declares that the pass reads indirect arguments from a buffer.
        #[track_caller]
        pub fn indirect(mut self, buffer: &'p impl AsBuffer) -> Self {
            self.open.push_use(buffer.resource_ref(), DeclaredAccess::Indirect, Location::caller());
            self
        }

        /// Declares that a persistent bind group of the pass samples a texture in these stages.
        #[track_caller]
        pub fn sampled(mut self, texture: &'p impl AsTexture, stages: ShaderStages) -> Self {
            self.open.push_use(texture.resource_ref(), DeclaredAccess::Sampled(stages), Location::caller());
            self
        }

        /// Declares that a persistent bind group of the pass has a buffer as a uniform binding in these stages.
        #[track_caller]
        pub fn uniform(mut self, buffer: &'p impl AsBuffer, stages: ShaderStages) -> Self {
            self.open.push_use(buffer.resource_ref(), DeclaredAccess::Uniform(stages), Location::caller());
            self
        }

        /// Declares that a persistent bind group of the pass has a read-only storage binding in these stages.
        #[track_caller]
        pub fn storage_read(mut self, resource: &'p impl AsResource, stages: ShaderStages) -> Self {
            let access = DeclaredAccess::StorageRead(stages);
            self.open.push_use(resource.resource_ref(), access, Location::caller());
            self
        }

        /// Declares that a persistent bind group of the pass has a writable storage binding in these stages.
        #[track_caller]
        pub fn storage(mut self, resource: &'p mut impl AsResourceMut, stages: ShaderStages) -> Self {
            self.open.push_use(resource.resource_ref(), DeclaredAccess::Storage(stages), Location::caller());
            self
        }

        /// Declares the set of the pass's statistics queries. The pass is live if the graph reads queries of the set.
        pub fn pipeline_statistics_queries(mut self, set: purlin_rhi::QuerySet) -> Self {
            self.open.queries().statistics = Some(set);
            self
        }

        /// Has timestamps written at the pass's begin and end. The pass is then recorded as one of its own, and is live if the
        /// graph reads queries of the set.
        pub fn timestamp_writes(mut self, writes: purlin_rhi::PassTimestampWrites) -> Self {
            self.open.queries().timestamps = Some(writes);
            self
        }

        /// Keeps the pass even if nothing reads what it writes.
        pub fn side_effect(mut self) -> Self {
            self.open.side_effect = true;
            self
        }
    };
}
pub(super) use common_uses;
