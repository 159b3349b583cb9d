//! Raster passes that several threads record.
//!
//! The recorder's thread plans the pass and takes an encoder for each section. Then every section records on some
//! thread, into its own encoder and with its own bind state: it reads what the device holds, writes nothing that another
//! one touches, and so takes no lock and shares no cache line. The pass executes them in order. What threads there are
//! changes neither the submission nor the mistake that is answered.

use std::fmt::Write;

use crate::backend::{Backend, Encoder};
use crate::error::{BackendError, Error, Result, unsupported};
use crate::plan::ResourceUse;
use crate::record::attachments::ResolvedPass;
use crate::record::bind::Kept;
use crate::record::declared::Declared;
use crate::record::sink::PassEncoder;
use crate::record::{PassEnd, Recorder, RenderPass, RenderPassDesc};
use crate::registry::Registry;

/// What a section records with, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Section<B: Backend> {
    kept: Kept,
    encoder: Option<B::Encoder>,
    label: String,
    failure: Option<Failure>,
}

/// Why a section cannot be executed.
#[derive(Debug)]
enum Failure {
    Mistake(Error),
    Backend(BackendError),
}

/// What parallel passes keep from frame to frame.
#[derive(Debug)]
pub(crate) struct Sections<B: Backend> {
    all: Vec<Section<B>>,
    /// The encoders of sections that can be executed.
    ended: Vec<B::Encoder>,
}

impl<B: Backend> Default for Sections<B> {
    fn default() -> Self {
        Self { all: Vec::new(), ended: Vec::new() }
    }
}

impl<B: Backend> Sections<B> {
    fn reserve(&mut self, count: usize) {
        if self.all.len() < count {
            let blank =
                || Section { kept: Kept::default(), encoder: None, label: String::new(), failure: None };
            self.all.resize_with(count, blank);
        }
    }

    /// One to record with, when nothing else does.
    fn any(&mut self) -> &mut Section<B> {
        self.reserve(1);
        &mut self.all[0]
    }

    /// Takes an encoder for each section.
    fn take(&mut self, backend: &mut B, count: usize) -> Result<(), BackendError> {
        self.reserve(count);
        for section in &mut self.all[..count] {
            section.encoder = Some(backend.section()?);
        }
        Ok(())
    }

    /// Collects what was recorded; or answers with the failure of the lowest section.
    fn end(&mut self) -> Result<(), Failure> {
        for section in &mut self.all {
            let Some(encoder) = section.encoder.take() else { break };
            self.ended.push(encoder);
            if let Some(failure) = section.failure.take() {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Takes the batches that the sections execute.
    pub(crate) fn executed(&mut self, mut each: impl FnMut(u32)) {
        for section in &mut self.all {
            section.kept.executed.drain(..).for_each(&mut each);
        }
    }

    /// Gives up the encoders that nothing executed.
    pub(crate) fn discard(&mut self, backend: &mut B) {
        for section in &mut self.all {
            section.failure = None;
            self.ended.extend(section.encoder.take());
        }
        self.ended.drain(..).for_each(|encoder| backend.discard(encoder));
    }
}

/// What sections share, for reading.
struct Shared<'p, B: Backend> {
    registry: &'p Registry,
    backend: &'p B,
    declared: Declared<'p>,
    label: &'p str,
    pass: &'p ResolvedPass,
}

impl<B: Backend> Shared<'_, B> {
    /// Records a section into the pass's own encoder, with what that has bound.
    fn record_in(
        &self,
        encoder: &mut B::Encoder,
        kept: &mut Kept,
        section: &mut Section<B>,
        index: u32,
        body: &impl Fn(u32, RenderPass<'_, B>) -> PassEnd,
    ) -> Result<()> {
        section.name(index, self.label);
        let (registry, backend, label) = (self.registry, self.backend, &section.label);
        let encoder = PassEncoder(encoder);
        body(index, RenderPass::new(registry, backend, encoder, kept, self.declared, label, self.pass)).0
    }

    /// Records a section into its own encoder.
    fn record_apart(
        &self,
        section: &mut Section<B>,
        index: u32,
        body: &impl Fn(u32, RenderPass<'_, B>) -> PassEnd,
    ) -> Result<(), Failure> {
        section.name(index, self.label);
        let Section { kept, label, encoder: Some(encoder), .. } = section else { return Ok(()) };
        kept.forget();
        let (registry, backend) = (self.registry, self.backend);
        encoder.begin_section(backend, label, &self.pass.targets()).map_err(Failure::Backend)?;
        let sink = PassEncoder(&mut *encoder);
        let pass = RenderPass::new(registry, backend, sink, kept, self.declared, label, self.pass);
        body(index, pass).0.map_err(Failure::Mistake)?;
        encoder.end_section(backend).map_err(Failure::Backend)
    }
}

impl<B: Backend> Section<B> {
    fn name(&mut self, index: u32, pass: &str) {
        self.label.clear();
        // A string takes everything.
        let _ = write!(self.label, "{pass}, section {index}");
    }
}

/// Calls `record` for each, on the threads of the current pool.
#[cfg(not(target_family = "wasm"))]
fn each<B: Backend>(sections: &mut [Section<B>], record: impl Fn(u32, &mut Section<B>) + Sync) {
    use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
    let sections = sections.par_iter_mut().enumerate().with_max_len(1);
    sections.for_each(|(index, section)| record(index as u32, section));
}

/// Calls `record` for each: a page has one thread.
#[cfg(target_family = "wasm")]
fn each<B: Backend>(sections: &mut [Section<B>], record: impl Fn(u32, &mut Section<B>) + Sync) {
    for (index, section) in (0u32..).zip(sections) {
        record(index, section);
    }
}

impl<B: Backend> Recorder<'_, B> {
    /// Records a raster pass in sections, on the threads of the current [`rayon`] pool: plans its attachments and
    /// declared uses, then runs `body` once for each section with the section's index.
    ///
    /// Sections execute in the order of their indices, whichever is recorded first. Each starts as a pass does, without
    /// pipeline, groups or buffers, with the viewport and scissor of the attachments. One section is recorded by the
    /// calling thread; so are all of them, one after the other, where the backend records with one thread
    /// ([`Backend::has_sections`]).
    ///
    /// # Errors
    /// As [`Self::render_pass`]; of several mistakes that of the lowest section. No memory for a section.
    ///
    /// # Panics
    /// When `body` does, after all sections are done.
    pub fn render_pass_parallel(
        &mut self,
        desc: &RenderPassDesc<'_>,
        sections: u32,
        body: impl Fn(u32, &mut RenderPass<'_, B>) + Sync,
    ) -> Result<()> {
        self.check(desc.label)?;
        let mut resolved = ResolvedPass::default();
        let result = self.plan_render_pass(desc, &mut resolved).and_then(|()| {
            let declared = Declared::of_render(desc);
            self.record_sections(desc, &resolved, declared, sections, |index, mut pass| {
                body(index, &mut pass);
                pass.close()
            })
        });
        self.keep(result)
    }

    /// As [`Self::render_pass_parallel`], when the barriers were planned and emitted before. `declared` are the pass's
    /// uses. The body owns each section and gives it back through [`RenderPass::end`].
    pub fn render_pass_parallel_planned(
        &mut self,
        desc: &RenderPassDesc<'_>,
        declared: &[ResourceUse],
        sections: u32,
        body: impl Fn(u32, RenderPass<'_, B>) -> PassEnd + Sync,
    ) -> Result<()> {
        self.check(desc.label)?;
        let mut resolved = ResolvedPass::default();
        let result = self.resolve(desc, &mut resolved).and_then(|()| {
            self.record_sections(desc, &resolved, Declared::new(declared, &[]), sections, body)
        });
        self.keep(result)
    }

    fn record_sections(
        &mut self,
        desc: &RenderPassDesc<'_>,
        pass: &ResolvedPass,
        declared: Declared<'_>,
        count: u32,
        body: impl Fn(u32, RenderPass<'_, B>) -> PassEnd + Sync,
    ) -> Result<()> {
        let label = desc.label;
        if desc.occlusion_query_set.is_some() || desc.pipeline_statistics_query_set.is_some() {
            let detail = "sections record apart; timestamps of the whole pass are possible";
            return Err(unsupported(format!("pass \"{label}\""), "queries in a pass of sections", detail));
        }
        if count == 1 {
            return self.render_pass_body(desc, pass, declared, |pass| body(0, pass));
        }
        let device = &mut *self.device;
        let apart = device.backend.has_sections() && count > 1;
        if apart && let Err(error) = device.scratch.sections.take(&mut device.backend, count as usize) {
            device.scratch.sections.discard(&mut device.backend);
            return Err(device.backend_error(error, format!("pass \"{label}\", {count} sections")));
        }
        self.in_render_pass(desc, pass, apart, |device, encoder| {
            let (sections, kept) = (&mut device.scratch.sections, &mut device.scratch.kept);
            let (registry, backend) = (&device.registry, &device.backend);
            let shared = Shared { registry, backend, declared, label, pass };
            if !apart {
                let mut result = Ok(());
                for index in 0..count {
                    result = result.and(shared.record_in(encoder, kept, sections.any(), index, &body));
                }
                return result;
            }
            each(&mut sections.all[..count as usize], |index, section| {
                section.failure = shared.record_apart(section, index, &body).err();
            });
            match sections.end() {
                Ok(()) => {
                    encoder.execute_sections(backend, &mut sections.ended);
                    kept.forget();
                    Ok(())
                }
                Err(failure) => {
                    sections.discard(&mut device.backend);
                    Err(match failure {
                        Failure::Mistake(error) => error,
                        Failure::Backend(error) => {
                            device.backend_error(error, format!("pass \"{label}\", {count} sections"))
                        }
                    })
                }
            }
        })
    }
}
