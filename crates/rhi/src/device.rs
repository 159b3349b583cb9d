//! The device: one owner of everything that one GPU queue's worth of work needs.
//!
//! `&mut Device` is the owner thread. There are no locks and no thread checks: who holds the borrow may create,
//! destroy, upload and submit; recorders hand shared views to whoever records.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::backend::{Backend, NativeMemory};
use crate::caps::{AdapterInfo, Capabilities, Features, FormatUses, Limits};
use crate::desc::MemoryClass;
use crate::error::{BackendError, Error, HandleProblem, Result, named, state, unsupported};
use crate::formats::FormatCapabilities;
use crate::handle::{DeviceTag, Handle, ResourceKind, kind::Kind};
use crate::needs::{FormatRequirement, Unmet};
use crate::owned::{DropNote, DropQueue, Owned};
use crate::plan::{HazardMode, Ledger, Planner};
use crate::registry::Registry;
use crate::request::{DeviceRequest, StorageCeilings};
use crate::services::{FrameArena, Pipelines, ReadbackRing, Timings, UploadRing};
use crate::surface::Surfaces;
use crate::types::TextureFormat;

static NEXT_TAG: AtomicU32 = AtomicU32::new(0);

/// Names one submission. Tokens of a device are ordered: when one is complete, all earlier ones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubmissionToken {
    pub(crate) device: DeviceTag,
    pub(crate) ordinal: u64,
}

impl SubmissionToken {
    /// The submission's number on its queue, counted from one.
    pub fn ordinal(self) -> u64 {
        self.ordinal
    }
}

/// What the device holds in memory, each figure in bytes and none mixed with another. Buffers of the device's own services
/// count like the program's. Peaks are since the device was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryReport {
    /// What live and retiring buffers and textures were described as: nothing is rounded, and textures in heaps count.
    pub requested: u64,
    /// The most that `requested` has been.
    pub requested_peak: u64,
    /// What counts against [`StorageCeilings::memory_budget`]: buffers rounded up to four bytes, textures with memory of
    /// their own, and heaps whatever lies in them; live and retiring.
    pub logical: u64,
    /// The most that `logical` has been.
    pub logical_peak: u64,
    /// The part of `logical` that was destroyed and waits for the GPU or for dependents.
    pub retiring: u64,
    /// The most that has waited at once.
    pub retiring_peak: u64,
    /// What the backend's allocator has given out and holds; `None` where the API below does not say.
    pub native: Option<NativeMemory>,
}

/// How many objects of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectReport {
    /// With a live handle.
    pub live: u32,
    /// Destroyed, and waiting for the GPU or for dependents.
    pub retiring: u32,
    /// The most, of both together, that have existed at once.
    pub peak: u32,
    /// The most that there may be, both together.
    pub ceiling: u32,
}

/// A GPU device. See the [crate's front page](crate) for the life of a frame.
#[derive(Debug)]
pub struct Device<B: Backend> {
    pub(crate) backend: B,
    pub(crate) tag: DeviceTag,
    pub(crate) registry: Registry,
    pub(crate) ledger: Ledger,
    pub(crate) planner: Planner,
    pub(crate) storage: StorageCeilings,
    pub(crate) uploads: UploadRing,
    pub(crate) readbacks: ReadbackRing,
    pub(crate) frame_arena: FrameArena,
    pub(crate) timings: Timings,
    pub(crate) pipelines: Pipelines<B>,
    pub(crate) surfaces: Surfaces,
    pub(crate) drops: &'static DropQueue,
    pub(crate) scratch: crate::record::Scratch<B>,
    late_drops: Vec<DropNote>,
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    lost: Option<String>,
    missing_preferred: Features,
    unmet_preference: Option<Unmet>,
}

impl<B: Backend> Device<B> {
    /// Lists the adapters of this backend without making a device.
    pub fn adapters(request: &DeviceRequest<'_>) -> Result<Vec<AdapterInfo>> {
        B::adapters(request)
    }

    /// Opens a device that meets the request.
    ///
    /// # Errors
    /// A malformed request is [`Error::InvalidDescription`] and starts no backend; no fitting adapter is
    /// [`Error::NoAdapter`], on an empty machine with what to install; the first unmet feature, limit or format use
    /// is [`Error::Unsupported`] with the requested and the available value.
    pub async fn request(request: &DeviceRequest<'_>) -> Result<Self> {
        request.check()?;
        let backend = B::request(request).await?;
        Self::from_backend(backend, request)
    }

    /// Makes a device of a backend that is already open.
    pub fn from_backend(backend: B, request: &DeviceRequest<'_>) -> Result<Self> {
        request.check()?;
        let tag = NEXT_TAG
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |tag| {
                (tag <= u32::from(u16::MAX)).then(|| tag + 1)
            })
            .map_err(|_| Error::CapacityExceeded {
                what: "devices of this process".into(),
                requested: u64::from(u16::MAX) + 2,
                capacity: u64::from(u16::MAX) + 1,
            })?;
        let tag = DeviceTag(tag as u16);
        let capabilities = backend.capabilities();
        let features = capabilities.features;
        let most = capabilities.limits.max_buffer_size;
        for (bytes, field) in [
            (request.storage.upload_ring, "storage.upload_ring"),
            (request.storage.frame_arena_page, "storage.frame_arena_page"),
        ] {
            if bytes > most {
                let what = format!("device request \"{}\", {field}", request.label);
                let detail = format!("{bytes} bytes requested, {most} available");
                return Err(unsupported(what, "limit max_buffer_size", detail));
            }
        }
        let copy_alignment = u64::from(capabilities.copy_offset_alignment);
        let mut device = Self {
            registry: Registry::new(tag, &request.storage.objects),
            ledger: Ledger::default(),
            planner: Planner::default(),
            storage: request.storage,
            uploads: UploadRing::new(request.storage.upload_ring, copy_alignment),
            readbacks: ReadbackRing::new(request.storage.readback),
            frame_arena: FrameArena::new(request.storage.frame_arena_page),
            timings: Timings::default(),
            pipelines: Pipelines::default(),
            surfaces: Surfaces::default(),
            drops: DropQueue::lend(),
            scratch: crate::record::Scratch::default(),
            late_drops: Vec::new(),
            submitted: 0,
            completed: 0,
            lost: None,
            missing_preferred: request.preferred_features - features,
            unmet_preference: None,
            tag,
            backend,
        };
        let limit = request.preferred_limits.as_ref().and_then(|need| need.first_unmet(device.limits()));
        let formats = request.preferred_formats.iter();
        let format = |need: &FormatRequirement| need.first_unmet(&device.format_capabilities(need.format));
        device.unmet_preference = limit.map(Unmet::Limit).or_else(|| formats.into_iter().find_map(format));
        Ok(device)
    }

    /// Which device this is; every handle of it carries the tag.
    pub fn tag(&self) -> DeviceTag {
        self.tag
    }

    /// The adapter behind the device.
    pub fn adapter(&self) -> &AdapterInfo {
        self.backend.adapter()
    }

    /// What is enabled, end to end.
    pub fn capabilities(&self) -> &Capabilities {
        self.backend.capabilities()
    }

    /// The enabled limits.
    pub fn limits(&self) -> &Limits {
        &self.backend.capabilities().limits
    }

    /// Features that the request preferred and the adapter lacks.
    pub fn missing_preferred(&self) -> Features {
        self.missing_preferred
    }

    /// What a format may be used for on this device.
    pub fn format_uses(&self, format: TextureFormat) -> FormatUses {
        self.backend.format_uses(format)
    }

    /// What a format may be used for and in which shapes, feature by feature and limit by limit.
    ///
    /// ```
    /// # use purlin_rhi::{null::Null, types::{TextureDimension, TextureFormat}, Device, DeviceRequest};
    /// # let device = pollster::block_on(Device::<Null>::request(&DeviceRequest::default())).unwrap();
    /// let row = device.format_capabilities(TextureFormat::Rgba8Unorm);
    /// assert!(row.shape(TextureDimension::D2).is_some_and(|most| most.extent.width >= 8192));
    /// // Blocks need their feature.
    /// assert!(device.format_capabilities(TextureFormat::Bc7RgbaUnorm).uses.is_empty());
    /// ```
    pub fn format_capabilities(&self, format: TextureFormat) -> FormatCapabilities {
        let uses = self.backend.format_uses(format);
        let shape = |dimension| self.backend.format_shape(format, dimension);
        FormatCapabilities::new(format, uses, self.capabilities().features, shape)
    }

    /// The whole table: the rows of the formats that the device has.
    pub fn format_table(&self) -> Vec<FormatCapabilities> {
        let rows = crate::formats::all().map(|format| self.format_capabilities(format));
        rows.filter(|row| !row.uses.is_empty()).collect()
    }

    /// The first preferred limit or format of the request that the device does not meet. Preferences never fail a request;
    /// features that were preferred are in [`Self::missing_preferred`].
    pub fn unmet_preference(&self) -> Option<&Unmet> {
        self.unmet_preference.as_ref()
    }

    /// The token of an extension's capability, when it is enabled.
    pub fn capability<C: crate::capability::Capability>(&self) -> Option<C> {
        C::of(self.capabilities())
    }

    /// The backend, for what only it offers.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Validation messages counted so far; zero when validation is off.
    pub fn validation_messages(&self) -> u64 {
        self.backend.validation_messages()
    }

    /// The ledger, for reading: who wrote what last, and what is defined.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How precisely the device finds dependencies.
    pub fn hazard_mode(&self) -> HazardMode {
        self.planner.mode()
    }

    /// Changes how precisely the device finds dependencies, for everything recorded from now on.
    pub fn set_hazard_mode(&mut self, mode: HazardMode) {
        self.planner.set_mode(mode);
    }

    /// Bytes held, by kind of figure. For reports: backends may look at all of their blocks.
    pub fn memory(&self) -> MemoryReport {
        let registry = &self.registry;
        MemoryReport {
            requested: registry.requested,
            requested_peak: registry.requested_peak,
            logical: registry.memory,
            logical_peak: registry.memory_peak,
            retiring: registry.retiring_bytes,
            retiring_peak: registry.retiring_peak,
            native: self.backend.memory(),
        }
    }

    /// The objects of a kind, those of the device's own services included. For reports: it looks at all of them.
    pub fn objects(&mut self, kind: ResourceKind) -> ObjectReport {
        let (live, ceiling) = self.registry.live(kind);
        let (count, peak) = (self.registry.count(kind), self.registry.peak(kind));
        ObjectReport { live, retiring: count - live, peak, ceiling }
    }

    /// Objects of a kind that exist natively, destroyed ones that still retire included.
    pub fn object_count(&mut self, kind: ResourceKind) -> u32 {
        self.registry.count(kind)
    }

    /// The most objects of a kind that have existed at once.
    pub fn object_peak(&mut self, kind: ResourceKind) -> u32 {
        self.registry.peak(kind)
    }

    /// Destroyed resources that wait for the GPU or for dependents.
    pub fn retiring(&self) -> usize {
        self.registry.retiring()
    }

    /// The token of the newest submission; before the first one, a token that is already complete.
    pub fn last_submission(&self) -> SubmissionToken {
        SubmissionToken { device: self.tag, ordinal: self.submitted }
    }

    /// Whether a submission has completed. Never waits.
    pub fn is_complete(&mut self, token: SubmissionToken) -> Result<bool> {
        self.check_token(token)?;
        self.poll()?;
        Ok(token.ordinal <= self.completed)
    }

    /// Waits for a submission, at most this long; whether it has completed. The wait is the CPU's and says nothing
    /// of GPU time.
    pub fn wait(&mut self, token: SubmissionToken, timeout: Duration) -> Result<bool> {
        self.check_token(token)?;
        if token.ordinal > self.completed {
            match self.backend.wait(token.ordinal, timeout) {
                Ok(_) => {}
                Err(error) => return Err(self.backend_error(error, "wait")),
            }
            self.poll()?;
        }
        Ok(token.ordinal <= self.completed)
    }

    /// Waits for everything submitted so far, at most this long; whether all of it has completed.
    pub fn wait_idle(&mut self, timeout: Duration) -> Result<bool> {
        let last = self.last_submission();
        self.wait(last, timeout)
    }

    /// Reads what the GPU has finished and what was dropped, releases what nothing needs any more, and publishes requested
    /// pipelines that are compiled. Every recording begins with this. Never waits for the GPU.
    pub fn maintain(&mut self) -> Result<()> {
        self.poll()?;
        self.collect_drops();
        if self.surfaces.is_empty() {
            self.retire();
        } else {
            self.collect_surface_drops();
            self.retire();
            self.retire_surfaces();
        }
        if self.pipelines.is_busy() { self.publish_pipelines() } else { Ok(()) }
    }

    /// Takes back what was dropped when a creation would not fit otherwise. Never called while recording: an open
    /// recording may use what was dropped since it began.
    #[inline]
    pub(crate) fn make_room(&mut self, kind: ResourceKind, bytes: u64) -> Result<()> {
        let full = self.registry.count(kind) >= self.storage.objects.of(kind);
        if full || bytes > self.storage.memory_budget.saturating_sub(self.registry.memory) {
            self.maintain()?;
        }
        Ok(())
    }

    fn check_token(&self, token: SubmissionToken) -> Result<()> {
        self.check_lost("submission token")?;
        if token.device != self.tag {
            return Err(Error::InvalidHandle {
                what: "submission token".into(),
                handle: format!("submission {} of device {}", token.ordinal, token.device.0),
                problem: HandleProblem::Foreign,
            });
        }
        Ok(())
    }

    pub(crate) fn poll(&mut self) -> Result<()> {
        self.check_lost("poll")?;
        match self.backend.completed() {
            Ok(completed) => {
                debug_assert!(completed >= self.completed && completed <= self.submitted);
                self.completed = completed;
                self.uploads.complete(completed);
                self.frame_arena.complete(completed);
                self.readbacks.complete(completed);
                Ok(())
            }
            Err(error) => Err(self.backend_error(error, "poll")),
        }
    }

    pub(crate) fn collect_drops(&mut self) {
        let (submitted, completed) = (self.submitted, self.completed);
        let Self { registry, backend, ledger, readbacks, pipelines, tag, .. } = self;
        self.drops.take(&mut self.late_drops, |note| match note {
            DropNote::Resource { kind, bits } => {
                // A note of another tag is for the device that had the queue before.
                let (device, slot, generation) = crate::handle::split(bits);
                if device == *tag {
                    let dropped = (kind, slot, generation);
                    registry.discard(backend, ledger, dropped, submitted, completed);
                }
            }
            DropNote::Readback { device, id } if device == *tag => readbacks.cancel(id, completed),
            DropNote::Pipeline { device, id } if device == *tag => {
                pipelines.released(id, registry, submitted);
            }
            DropNote::Readback { .. } | DropNote::Pipeline { .. } => {}
        });
    }

    fn retire(&mut self) {
        self.registry.retire(&mut self.backend, &mut self.ledger, self.completed);
    }

    /// Destroys a resource by handle: the handle is stale at once, memory goes when dependents and the GPU are done.
    ///
    /// # Errors
    /// A stale or foreign handle, also on the second destruction; a page of the frame arena, an image of a surface and the
    /// pipeline of a request, which are the device's.
    pub fn destroy<K: Kind>(&mut self, handle: Handle<K>) -> Result<()> {
        self.check_lost("destroy")?;
        self.collect_drops();
        if K::KIND == ResourceKind::Buffer
            && let Some(record) = self.registry.buffers.get(handle)
            && record.memory != MemoryClass::Device
        {
            let found = format!("{} of the device's services", named(K::KIND, &record.label));
            return Err(state("destroy", "a buffer that the program made", found));
        }
        if handle.device() == self.tag && self.is_of_surface(K::KIND, handle.slot()) {
            return Err(state("destroy", "a resource that the program made", "one of a surface"));
        }
        if handle.device() == self.tag && self.is_of_request(handle) {
            return Err(state(
                "destroy",
                "a pipeline that the program made",
                "one of a request, which its tickets keep",
            ));
        }
        let foreign = handle.device() != self.tag;
        if foreign || !self.registry.destroy(K::KIND, handle.slot(), handle.generation(), self.submitted) {
            let problem = if foreign { HandleProblem::Foreign } else { HandleProblem::Stale };
            return Err(Error::InvalidHandle {
                what: "destroy".into(),
                handle: format!("{handle:?}"),
                problem,
            });
        }
        Ok(())
    }

    fn is_of_surface(&self, kind: ResourceKind, slot: u32) -> bool {
        match kind {
            ResourceKind::Texture => self.registry.textures.at(slot).is_some_and(|record| record.surface),
            ResourceKind::TextureView => self.surfaces.owns_view(slot),
            _ => false,
        }
    }

    fn is_of_request<K: Kind>(&self, handle: Handle<K>) -> bool {
        match K::KIND {
            ResourceKind::RenderPipeline => {
                self.registry.render_pipelines.get(handle).is_some_and(|record| record.requested)
            }
            ResourceKind::ComputePipeline => {
                self.registry.compute_pipelines.get(handle).is_some_and(|record| record.requested)
            }
            _ => false,
        }
    }

    pub(crate) fn own<K: Kind>(&self, handle: Handle<K>) -> Owned<K> {
        Owned::new(handle, self.drops)
    }

    /// Why the device is lost, if it is.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// The same as a mere yes or no.
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    #[inline]
    pub(crate) fn check_lost(&self, what: &str) -> Result<()> {
        match &self.lost {
            None => Ok(()),
            Some(detail) => Err(Error::DeviceLost { what: what.into(), detail: detail.clone() }),
        }
    }

    /// Names the call that failed, and marks the device lost when that is why.
    #[cold]
    pub(crate) fn backend_error(&mut self, error: BackendError, what: impl Into<String>) -> Error {
        if let BackendError::DeviceLost(detail) = &error {
            if self.lost.is_none() {
                tracing::error!(device = self.tag.0, detail, "the device is lost");
                self.lost = Some(detail.clone());
            }
            self.registry.destroy_all();
        }
        error.at(what)
    }
}

impl<B: Backend> Drop for Device<B> {
    fn drop(&mut self) {
        // Jobs use the device and what the registry keeps for them.
        self.stop_pipelines();
        // Bounded: a GPU that hangs must not hang the program's end. What it still uses is left to the backend's own
        // end, for nothing may be destroyed in use.
        if self.lost.is_none() && self.submitted > self.completed {
            let waited = self.backend.wait(self.submitted, Duration::from_secs(10));
            if waited == Ok(false) {
                tracing::error!(
                    device = self.tag.0,
                    "the GPU does not finish: the device's resources are leaked"
                );
                return;
            }
        }
        self.registry.destroy_everything(&mut self.backend, &mut self.ledger);
        self.destroy_surfaces();
        self.drops.give_back();
    }
}
