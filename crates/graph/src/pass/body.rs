//! Bodies: what a closure of a pass is given, and how closures are kept until they run.
//!
//! A closure lies in the graph's bump memory behind a mutable reference. It is taken out once: to run, or to be dropped
//! when its pass was culled or the graph is given up. So whatever it captured is always dropped, exactly once.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use purlin_rhi::backend::{Backend, bare_handle};
use purlin_rhi::{Buffer, ComputePass, PassEnd, RenderPass, Texture};

use crate::context::Physical;
use crate::version::{BufferId, TextureId};

/// A closure of a raster pass.
pub(crate) trait RenderWork<B: Backend>: Send {
    fn run(&mut self, body: &mut RenderBody<'_, B>);
    fn discard(&mut self);
}

/// A closure of a raster pass that several threads call, each for other sections.
pub(crate) trait SectionWork<B: Backend>: Send + Sync {
    fn run(&self, section: u32, body: &mut RenderBody<'_, B>);
    fn discard(&mut self);
}

/// A closure of a compute pass.
pub(crate) trait ComputeWork<B: Backend>: Send {
    fn run(&mut self, body: &mut ComputeBody<'_, B>);
    fn discard(&mut self);
}

/// A closure that runs in at most one recording.
pub(crate) struct Once<F>(pub Option<F>);

impl<B: Backend, F: FnOnce(&mut RenderBody<'_, B>) + Send> RenderWork<B> for Once<F> {
    fn run(&mut self, body: &mut RenderBody<'_, B>) {
        if let Some(work) = self.0.take() {
            work(body);
        }
    }

    fn discard(&mut self) {
        self.0 = None;
    }
}

impl<B: Backend, F: Fn(u32, &mut RenderBody<'_, B>) + Send + Sync> SectionWork<B> for Once<F> {
    fn run(&self, section: u32, body: &mut RenderBody<'_, B>) {
        if let Some(work) = &self.0 {
            work(section, body);
        }
    }

    fn discard(&mut self) {
        self.0 = None;
    }
}

impl<B: Backend, F: FnOnce(&mut ComputeBody<'_, B>) + Send> ComputeWork<B> for Once<F> {
    fn run(&mut self, body: &mut ComputeBody<'_, B>) {
        if let Some(work) = self.0.take() {
            work(body);
        }
    }

    fn discard(&mut self) {
        self.0 = None;
    }
}

/// A closure in bump memory.
pub(crate) enum Body<'f, B: Backend> {
    Render(&'f mut (dyn RenderWork<B> + 'f)),
    /// With the number of sections.
    Sections(&'f mut (dyn SectionWork<B> + 'f), u32),
    Compute(&'f mut (dyn ComputeWork<B> + 'f)),
}

impl<B: Backend> Body<'_, B> {
    pub(crate) fn discard(&mut self) {
        match self {
            Body::Render(work) => work.discard(),
            Body::Sections(work, _) => work.discard(),
            Body::Compute(work) => work.discard(),
        }
    }
}

/// The resource that a body asked for in vain.
pub(crate) type Missing = Option<u32>;

/// Finds the physical resources of a graph's names.
#[derive(Debug)]
pub(crate) struct Resolver<'p> {
    pub graph: u32,
    pub physical: &'p [Physical],
    missing: Cell<Missing>,
}

impl<'p> Resolver<'p> {
    pub(crate) fn new(graph: u32, physical: &'p [Physical]) -> Self {
        Self { graph, physical, missing: Cell::new(None) }
    }

    pub(crate) fn missing(&self) -> Missing {
        self.missing.get()
    }

    fn find(&self, graph: u32, index: u32) -> Physical {
        let found = match self.physical.get(index as usize) {
            Some(&physical) if graph == self.graph => physical,
            _ => Physical::None,
        };
        if matches!(found, Physical::None) && self.missing.get().is_none() {
            self.missing.set(Some(if graph == self.graph { index } else { u32::MAX }));
        }
        found
    }

    // A handle of no device stands in for what is missing. The pass fails for it in any case.
    fn buffer(&self, id: BufferId) -> Buffer {
        match self.find(id.graph, id.index) {
            Physical::Buffer(buffer) => buffer,
            _ => bare_handle(0),
        }
    }

    fn texture(&self, id: TextureId) -> Texture {
        match self.find(id.graph, id.index) {
            Physical::Texture(texture) => texture,
            _ => bare_handle(0),
        }
    }
}

macro_rules! bodies {
    ($(#[$doc:meta])* $name:ident wraps $pass:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'p, B: Backend> {
            pass: $pass<'p, B>,
            resolver: Resolver<'p>,
        }

        impl<'p, B: Backend> $name<'p, B> {
            pub(crate) fn new(pass: $pass<'p, B>, resolver: Resolver<'p>) -> Self {
                Self { pass, resolver }
            }

            pub(crate) fn end(self) -> (PassEnd, Missing) {
                (self.pass.end(), self.resolver.missing())
            }

            /// The physical buffer behind a name. A buffer that no live pass uses has none: the pass then fails.
            pub fn buffer(&self, id: BufferId) -> Buffer {
                self.resolver.buffer(id)
            }

            /// The physical texture behind a name. A texture that no live pass uses has none: the pass then fails.
            pub fn texture(&self, id: TextureId) -> Texture {
                self.resolver.texture(id)
            }
        }

        impl<'p, B: Backend> Deref for $name<'p, B> {
            type Target = $pass<'p, B>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.pass
            }
        }

        impl<B: Backend> DerefMut for $name<'_, B> {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.pass
            }
        }
    };
}

bodies! {
    /// Records draws. Everything that was bound where the pass was declared is already set.
    RenderBody wraps RenderPass
}
bodies! {
    /// Records dispatches. Everything that was bound where the pass was declared is already set.
    ComputeBody wraps ComputePass
}

impl<B: Backend> RenderBody<'_, B> {
    /// Whether it has made a mistake or asked in vain.
    pub(crate) fn has_failed(&self) -> bool {
        self.pass.mistake().is_some() || self.resolver.missing().is_some()
    }
}
