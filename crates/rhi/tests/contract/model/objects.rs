//! What the model knows: objects, their contents, what waits and what is in flight.

use std::any::Any;

use purlin_rhi::handle::kind::Kind;
use purlin_rhi::null::{NullControl, POISON};
use purlin_rhi::*;

use super::World;
use crate::support::*;

/// The handle of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Buffer(Buffer),
    Texture(Texture),
    View(TextureView),
    Sampler(Sampler),
    Shape(BindGroupLayout),
    Group(BindGroup),
    Layout(PipelineLayout),
    Module(ShaderModule),
    Raster(RenderPipeline),
    Compute(ComputePipeline),
}

impl What {
    pub fn kind(self) -> ResourceKind {
        match self {
            What::Buffer(_) => ResourceKind::Buffer,
            What::Texture(_) => ResourceKind::Texture,
            What::View(_) => ResourceKind::TextureView,
            What::Sampler(_) => ResourceKind::Sampler,
            What::Shape(_) => ResourceKind::BindGroupLayout,
            What::Group(_) => ResourceKind::BindGroup,
            What::Layout(_) => ResourceKind::PipelineLayout,
            What::Module(_) => ResourceKind::ShaderModule,
            What::Raster(_) => ResourceKind::RenderPipeline,
            What::Compute(_) => ResourceKind::ComputePipeline,
        }
    }
}

/// Bytes, and which of them mean anything.
#[derive(Debug, Clone)]
pub struct Image {
    pub bytes: Vec<u8>,
    pub defined: Vec<bool>,
}

impl Image {
    pub fn new(size: usize) -> Self {
        Self { bytes: vec![POISON; size], defined: vec![false; size] }
    }

    pub fn put(&mut self, offset: usize, data: &[u8]) {
        self.bytes[offset..offset + data.len()].copy_from_slice(data);
        self.defined[offset..offset + data.len()].fill(true);
    }

    pub fn is_defined(&self, offset: usize, size: usize) -> bool {
        self.defined[offset..offset + size].iter().all(|defined| *defined)
    }

    pub fn all_defined(&self) -> bool {
        self.is_defined(0, self.defined.len())
    }
}

/// What a resource contains: a buffer one image, a texture one for each mip.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    pub images: Vec<Image>,
}

/// What a group binds.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    pub buffer: usize,
    pub size: usize,
    /// Storage that is written; otherwise a uniform.
    pub writes: bool,
}

pub struct Object {
    pub what: What,
    /// Gone when dropped. The drop may not have been read yet: see `dies_after`.
    pub owner: Option<Box<dyn Any>>,
    /// Objects that live at least as long.
    pub needs: Vec<usize>,
    /// What the budget is charged.
    pub bytes: u64,
    /// The size a buffer was created with, which may be less than its bytes.
    pub size: usize,
    pub uploaded: bool,
    /// Whether an upload was ever queued.
    pub written: bool,
    pub contents: Contents,
    /// Of a view: its mip.
    pub mip: usize,
    /// Of a shape: whether its buffer is storage that is written.
    pub writes: bool,
    pub bound: Option<Bound>,
    /// Uploads that no submission has carried yet.
    pub pending: usize,
    /// The last submission that carried an upload.
    pub until: u64,
    /// When its destruction was read: the submission it waits for.
    pub dies_after: Option<u64>,
    pub exists: bool,
}

impl Object {
    pub fn new<K: Kind>(owner: Owned<K>, what: What, needs: Vec<usize>) -> Self {
        Self {
            what,
            owner: Some(Box::new(owner)),
            needs,
            bytes: 0,
            size: 0,
            uploaded: false,
            written: false,
            contents: Contents::default(),
            mip: 0,
            writes: false,
            bound: None,
            pending: 0,
            until: 0,
            dies_after: None,
            exists: true,
        }
    }

    /// Whether the device has read that it was destroyed, so that its handle is stale.
    pub fn is_gone(&self) -> bool {
        self.dies_after.is_some()
    }
}

/// An upload that waits for a submission.
pub struct Upload {
    pub object: usize,
    pub image: usize,
    pub offset: usize,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Recorded,
    Submitted(u64),
    Over,
}

pub struct Read {
    pub ticket: ReadTicket,
    pub expected: Vec<u8>,
    pub progress: Progress,
}

pub struct State {
    pub control: NullControl,
    pub objects: Vec<Object>,
    pub uploads: Vec<Upload>,
    pub reads: Vec<Read>,
    pub tokens: Vec<SubmissionToken>,
    pub submitted: u64,
    pub fails_submission: bool,
    pub recording: bool,
}

impl State {
    pub fn new(control: NullControl) -> Self {
        let submitted = control.last_submitted();
        Self {
            control,
            objects: Vec::new(),
            uploads: Vec::new(),
            reads: Vec::new(),
            tokens: Vec::new(),
            submitted,
            fails_submission: false,
            recording: false,
        }
    }

    /// An object that fits: mostly one that can be used, now and then one whose handle is stale. What was dropped and
    /// not read yet can be used only while recording, when nothing reads drops.
    pub fn pick(&self, n: u8, fits: impl Fn(&Object) -> bool) -> Option<usize> {
        let stale = n >= 244;
        let chosen = |object: &Object| {
            let usable = if stale { object.is_gone() } else { !object.is_gone() };
            usable && (object.owner.is_some() || self.recording || stale) && fits(object)
        };
        let count = self.objects.iter().filter(|object| chosen(object)).count();
        let nth = usize::from(n).checked_rem(count)?;
        let mut found = self.objects.iter().enumerate().filter(|(_, object)| chosen(object));
        found.nth(nth).map(|(index, _)| index)
    }

    pub fn drop_owner(&mut self, n: u8) {
        if let Some(index) = self.pick(n % 244, |object| object.owner.is_some()) {
            self.objects[index].owner = None;
        }
    }

    pub fn complete(&mut self, back: u8) {
        self.control.complete_to(self.submitted.saturating_sub(u64::from(back % 3)));
    }

    pub fn fail_next_submission(&mut self) {
        self.control.fail_next_submit();
        self.fails_submission = true;
    }

    /// The device has read the drops.
    pub fn note_drops(&mut self) {
        for object in self.objects.iter_mut().filter(|object| object.owner.is_none()) {
            object.dies_after.get_or_insert(self.submitted);
        }
    }

    /// Which objects exist after maintenance that finds `completed`.
    pub fn surviving(&self, completed: u64) -> Vec<bool> {
        let mut exists: Vec<bool> = self.objects.iter().map(|object| object.exists).collect();
        let ends = |object: &Object| {
            let after = object.dies_after.unwrap_or(self.submitted);
            object.owner.is_none() && object.pending == 0 && after.max(object.until) <= completed
        };
        // Dependents come after what they are made of.
        let mut needed = vec![0; exists.len()];
        for (index, object) in self.objects.iter().enumerate().rev() {
            exists[index] &= needed[index] > 0 || !ends(object);
            if exists[index] {
                object.needs.iter().for_each(|need| needed[*need] += 1);
            }
        }
        exists
    }

    /// Bytes of surviving objects.
    pub fn weight(&self, exists: &[bool]) -> u64 {
        self.objects.iter().zip(exists).filter(|(_, exists)| **exists).map(|(object, _)| object.bytes).sum()
    }

    /// The uploads go with the recording that begins.
    pub fn apply_uploads(&mut self) {
        for upload in &self.uploads {
            let contents = &mut self.objects[upload.object].contents;
            contents.images[upload.image].put(upload.offset, &upload.bytes);
        }
    }

    /// A submission was accepted.
    pub fn accepted(&mut self, token: SubmissionToken) {
        self.submitted += 1;
        assert_eq!(token.ordinal(), self.submitted);
        self.tokens.push(token);
        for upload in self.uploads.drain(..) {
            let object = &mut self.objects[upload.object];
            object.pending -= 1;
            object.until = self.submitted;
        }
        for read in self.reads.iter_mut().filter(|read| read.progress == Progress::Recorded) {
            read.progress = Progress::Submitted(self.submitted);
        }
    }

    /// A recording was given up.
    pub fn given_up(&mut self, contents: Vec<Contents>) {
        for (object, contents) in self.objects.iter_mut().zip(contents) {
            object.contents = contents;
        }
        for read in self.reads.iter_mut().filter(|read| read.progress == Progress::Recorded) {
            read.progress = Progress::Over;
        }
    }
}

/// Buffers and bytes of the services.
pub fn services(gpu: &Gpu) -> (usize, u64) {
    let (staging, staged) = gpu.readbacks().staging();
    let (pages, page) = (gpu.frame_arena().pages(), gpu.frame_arena().page_size());
    let buffers = 1 + staging + pages;
    (buffers as usize, gpu.uploads().capacity() + staged + u64::from(pages) * page)
}

impl World {
    /// Maintains, and compares everything.
    pub fn compare(&mut self) {
        let World { gpu, state, setup, .. } = self;
        gpu.maintain().unwrap();
        let completed = state.control.completed();
        state.note_drops();
        let exists = state.surviving(completed);
        for (object, exists) in state.objects.iter_mut().zip(&exists) {
            object.exists = *exists;
        }
        let (service_buffers, service_bytes) = services(gpu);
        for kind in ResourceKind::ALL {
            let expected =
                state.objects.iter().filter(|object| object.exists && object.what.kind() == kind).count();
            let services = if kind == ResourceKind::Buffer { service_buffers } else { 0 };
            let counts = (state.control.live(kind), gpu.object_count(kind) as usize);
            assert_eq!(counts, (expected + services, expected + services), "{kind}");
        }
        let retiring = state.objects.iter().filter(|object| object.exists && object.is_gone()).count();
        assert_eq!(gpu.retiring(), retiring);
        let memory = gpu.memory();
        let bytes = state.weight(&exists) + service_bytes;
        assert_eq!((memory.logical, memory.native.unwrap().allocated), (bytes, bytes));
        assert!(memory.logical_peak >= bytes && memory.logical_peak <= setup.storage().memory_budget);
        assert_eq!(gpu.uploads().pending(), state.uploads.len());
        assert_eq!(gpu.last_submission().ordinal(), state.submitted);
        assert_eq!(state.control.open_encoders(), 0);
        self.compare_contents(completed);
    }

    fn compare_contents(&self, completed: u64) {
        let ledger = self.gpu.ledger();
        for object in self.state.objects.iter().filter(|object| object.exists) {
            match object.what {
                What::Buffer(buffer) => {
                    let image = &object.contents.images[0];
                    for (offset, defined) in image.defined.iter().enumerate() {
                        assert_eq!(ledger.buffer_defined(buffer.slot(), offset as u64, 1), *defined);
                    }
                    if completed == self.state.submitted {
                        let bytes = self.state.control.buffer_bytes(buffer.slot()).unwrap();
                        let wrong =
                            (0..bytes.len()).find(|at| image.defined[*at] && bytes[*at] != image.bytes[*at]);
                        assert_eq!(wrong, None, "{buffer:?}: {bytes:?} and {:?}", image.bytes);
                    }
                }
                What::Texture(texture) => {
                    for (mip, image) in object.contents.images.iter().enumerate() {
                        let defined = ledger.texture_defined(texture.slot(), &color_range(mip as u32));
                        assert_eq!(defined, image.all_defined());
                    }
                }
                _ => {}
            }
        }
    }
}
