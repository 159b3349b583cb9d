//! The device: how it is opened or adopted, and what it holds.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;

use purlin_rhi::backend::SlotTable;
use purlin_rhi::caps::{AdapterInfo, Capabilities, Features, FormatUses};
use purlin_rhi::error::{BackendError, Error};
use purlin_rhi::formats::{FormatCapabilities, FormatShape};
use purlin_rhi::request::{AdapterSelector, DeviceRequest, Validation, negotiate, select};
use purlin_rhi::surface::SurfaceTarget;
use purlin_rhi::types::TextureFormat;
use wgpu::rwh::HasDisplayHandle as _;

use crate::binding::{GroupLayout, PipelineLayout};
use crate::buffer::Buffer;
use crate::copy::Scratch;
use crate::depth::DepthReader;
use crate::errors::{Errors, Loss};
use crate::immediates::Pages;
use crate::pipeline::{RenderPipeline, ShaderModule};
use crate::query::QuerySet;
use crate::queue::Flight;
use crate::surface::{self, Surface};
use crate::{adapter, formats};

/// What a request to open an adapter does not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct WgpuOptions {
    /// The APIs that may be used; every compiled one when `None`.
    pub backends: Option<wgpu::Backends>,
}

/// The APIs by the names that [`AdapterInfo::backend`] has for them, best first.
const NAMES: &[(&str, wgpu::Backends)] = &[
    ("wgpu-metal", wgpu::Backends::METAL),
    ("wgpu-dx12", wgpu::Backends::DX12),
    ("wgpu-vulkan", wgpu::Backends::VULKAN),
    ("webgpu", wgpu::Backends::BROWSER_WEBGPU),
    (if cfg!(target_arch = "wasm32") { "webgl" } else { "wgpu-gl" }, wgpu::Backends::GL),
];

/// The names of the APIs that this build and its target have, best first.
pub fn compiled() -> impl Iterator<Item = &'static str> {
    let compiled = wgpu::Instance::enabled_backend_features();
    NAMES.iter().filter(move |(_, backends)| compiled.contains(*backends)).map(|(name, _)| *name)
}

impl WgpuOptions {
    /// One API, by the name that [`AdapterInfo::backend`] has for it: `wgpu-vulkan`, `wgpu-metal`, `wgpu-dx12`,
    /// `wgpu-gl`, `webgpu`, `webgl`.
    pub fn named(name: &str) -> Option<Self> {
        let (_, backends) = NAMES.iter().find(|(one, _)| *one == name)?;
        Some(Self { backends: Some(*backends) })
    }

    fn allowed(&self) -> wgpu::Backends {
        let compiled = wgpu::Instance::enabled_backend_features();
        self.backends.map_or(compiled, |wanted| wanted & compiled)
    }
}

/// A device on wgpu. See the crate's page for its contracts.
pub struct Wgpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// What surfaces are made of; `None` for an adopted device.
    pub(crate) instance: Option<wgpu::Instance>,
    /// The surface of the request, until the program makes it its own.
    pub(crate) asked_for: Option<(SurfaceTarget, wgpu::Surface<'static>)>,
    pub(crate) adapter: Option<wgpu::Adapter>,
    /// The API below wgpu.
    pub(crate) native: wgpu::Backend,
    /// Whether objects and passes are named: where somebody validates, and on adopted devices. wgpu copies every name.
    pub(crate) labels: bool,
    /// Whether draws have a base vertex.
    pub(crate) base_vertex: bool,
    /// Whether a depth bias can be limited.
    pub(crate) bias_clamp: bool,
    info: AdapterInfo,
    capabilities: Capabilities,
    pub(crate) errors: Errors,

    /// Lets the event loop turn, where the program found a way.
    #[cfg(target_arch = "wasm32")]
    pub(crate) pause: Option<fn()>,
    /// The canvas whose context is WebGL 2's device.
    #[cfg(target_arch = "wasm32")]
    pub(crate) canvas: Option<crate::Canvas>,

    /// The most that reports have seen allocated, and in blocks.
    pub(crate) memory_peaks: [AtomicU64; 2],
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) in_flight: VecDeque<Flight>,
    /// Slots of buffers with a shadow.
    pub(crate) uploads: Vec<u32>,
    pub(crate) scratch: Scratch,

    pub(crate) buffers: SlotTable<Buffer>,
    pub(crate) textures: SlotTable<wgpu::Texture>,
    pub(crate) views: SlotTable<wgpu::TextureView>,
    pub(crate) samplers: SlotTable<wgpu::Sampler>,
    pub(crate) group_layouts: SlotTable<GroupLayout>,
    pub(crate) groups: SlotTable<wgpu::BindGroup>,
    pub(crate) pipeline_layouts: SlotTable<PipelineLayout>,
    pub(crate) shader_modules: SlotTable<ShaderModule>,
    pub(crate) render_pipelines: SlotTable<RenderPipeline>,
    pub(crate) compute_pipelines: SlotTable<wgpu::ComputePipeline>,
    pub(crate) query_sets: SlotTable<QuerySet>,
    pub(crate) immediates: Pages,
    pub(crate) depth_reader: DepthReader,
    pub(crate) surfaces: SlotTable<Surface>,
    /// Slots of textures that are images of surfaces.
    pub(crate) surface_textures: Vec<u32>,
}

/// What a request finds.
pub(crate) struct Found {
    pub instance: wgpu::Instance,
    /// The surface of the request; a browser's WebGPU makes it when its device is there.
    pub surface: Option<(SurfaceTarget, wgpu::Surface<'static>)>,
    pub adapters: Vec<wgpu::Adapter>,
}

pub(crate) fn new_instance(request: &DeviceRequest<'_>, backends: wgpu::Backends) -> wgpu::Instance {
    let mut flags = wgpu::InstanceFlags::empty();
    if request.validation != Validation::Off {
        flags |= wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG;
    }
    if cfg!(windows) {
        // Direct3D 12 needs it for the first vertex and instance of indirect draws.
        flags |= wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL;
    }
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags,
        // OpenGL presents on no other display than the one that it begins with.
        display: request
            .surface
            .filter(|target| target.display_handle().is_ok())
            .map(|target| Box::new(target.clone()) as _),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

fn nothing_compiled(options: &WgpuOptions) -> Error {
    let wanted = options.backends.map_or("any API".into(), |backends| format!("{backends:?}"));
    let compiled = wgpu::Instance::enabled_backend_features();
    Error::NoAdapter { detail: format!("wgpu: {wanted} is wanted, and compiled are {compiled:?}") }
}

pub(crate) fn nothing_found(backends: wgpu::Backends, why: &str) -> Error {
    let install = if cfg!(all(target_os = "linux", not(target_arch = "wasm32"))) {
        "; on a machine without a GPU install software drivers (Debian: mesa-vulkan-drivers, libegl1, libgl1-mesa-dri)"
    } else {
        ""
    };
    Error::NoAdapter { detail: format!("wgpu found none for {backends:?}{why}{install}") }
}

/// The request, for errors.
pub(crate) fn asked(request: &DeviceRequest<'_>) -> String {
    format!("device request \"{}\"", request.label)
}

/// Every adapter that the options allow.
async fn find(request: &DeviceRequest<'_>, options: &WgpuOptions) -> Result<Found, Error> {
    let backends = options.allowed();
    if backends.is_empty() {
        return Err(nothing_compiled(options));
    }
    #[cfg(target_arch = "wasm32")]
    return crate::browser::find(request, backends).await;
    #[cfg(not(target_arch = "wasm32"))]
    find_native(request, backends).await
}

#[cfg(not(target_arch = "wasm32"))]
async fn find_native(request: &DeviceRequest<'_>, backends: wgpu::Backends) -> Result<Found, Error> {
    let instance = new_instance(request, backends);
    let surface = match request.surface {
        Some(target) => Some((target.clone(), surface::make(&instance, target, &asked(request))?)),
        None => None,
    };
    let adapters = instance.enumerate_adapters(backends).await;
    if adapters.is_empty() {
        return Err(nothing_found(backends, ""));
    }
    Ok(Found { instance, surface, adapters })
}

impl Found {
    fn catalog(&self) -> Vec<AdapterInfo> {
        self.adapters.iter().map(|adapter| self.describe(adapter)).collect()
    }

    fn describe(&self, found: &wgpu::Adapter) -> AdapterInfo {
        let mut info = describe(found);
        if self.surface.as_ref().is_some_and(|(_, raw)| !found.is_surface_supported(raw)) {
            info.usable = Err("it cannot present to the requested surface".into());
        }
        info
    }
}

fn describe(found: &wgpu::Adapter) -> AdapterInfo {
    let info = found.get_info();
    let downlevel = adapter::downlevel(Some(found), info.backend);
    adapter::describe(&info, found.features(), &found.limits(), downlevel)
}

impl Wgpu {
    /// Lists the adapters that the options allow.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] when no wanted API is compiled, or none finds an adapter.
    pub async fn catalog(
        request: &DeviceRequest<'_>,
        options: &WgpuOptions,
    ) -> Result<Vec<AdapterInfo>, Error> {
        Ok(find(request, options).await?.catalog())
    }

    /// A name, where there are names.
    #[inline]
    pub(crate) fn label<'l>(&self, label: &'l str) -> Option<&'l str> {
        self.labels.then_some(label)
    }

    /// Opens a device as [`purlin_rhi::Device::request`] does, on the APIs of the options. Hand it to
    /// [`purlin_rhi::Device::from_backend`] with the same request.
    ///
    /// A browser has one adapter: WebGPU's where that may be used and is there, else WebGL 2's, which is a canvas's, so the
    /// request must name one as its surface. `purlin::choose::open_in_browser` tries both.
    ///
    /// # Errors
    /// As [`purlin_rhi::Device::request`]; where a `Canvas` gives no context, [`Error::Unsupported`].
    pub async fn open(request: &DeviceRequest<'_>, options: &WgpuOptions) -> Result<Self, Error> {
        request.check()?;
        #[cfg(target_arch = "wasm32")]
        return Self::open_in_page(request, options).await;
        #[cfg(not(target_arch = "wasm32"))]
        Self::open_once(request, options).await
    }

    pub(crate) async fn open_once(request: &DeviceRequest<'_>, options: &WgpuOptions) -> Result<Self, Error> {
        let mut all = find(request, options).await?;
        let catalog = all.catalog();
        let selector = if cfg!(target_arch = "wasm32") { AdapterSelector::Index(0) } else { request.adapter };
        let index = select(&catalog, selector)?;
        let found = all.adapters.swap_remove(index);
        let info = &catalog[index];
        let available = found.features();
        let native = found.get_info().backend;
        let row = |format| {
            let uses = formats::uses(Some(&found), native, available, format);
            let shape = |dimension| Some(FormatShape::of_limits(&info.limits, dimension));
            FormatCapabilities::new(format, uses, info.features, shape)
        };
        let negotiated = negotiate(request, info, row)?;
        if !negotiated.missing_preferred.is_empty() {
            let missing = negotiated.missing_preferred.names();
            tracing::info!(adapter = info.name, missing, "preferred features are not there");
        }
        let native = wgpu::DeviceDescriptor {
            label: Some(request.label),
            required_features: adapter::to_native(negotiated.features) | (formats::WIDENING & available),
            required_limits: found.limits(),
            ..Default::default()
        };
        let (device, queue) = found.request_device(&native).await.map_err(|error| {
            let what = format!("{} on \"{}\"", asked(request), info.name);
            BackendError::Failed { call: "request_device", detail: error.to_string() }.at(what)
        })?;
        let errors = Errors::of_own(&device);
        let asked_for = match (all.surface, request.surface) {
            (None, Some(target)) => {
                Some((target.clone(), surface::make(&all.instance, target, &asked(request))?))
            }
            (made, _) => made,
        };
        let labels = request.validation != Validation::Off;
        let instance = Some(all.instance);
        let opened = Self::new(device, queue, Some(found), negotiated.features, errors);
        #[cfg(target_arch = "wasm32")]
        let opened = Self { canvas: opened.device_canvas(request), ..opened };
        Ok(Self { labels, instance, asked_for, ..opened })
    }

    /// Takes part in a device that somebody else made, and never destroys it: other programs of the same process may go
    /// on using it. Every feature that it was made with is enabled.
    ///
    /// Without its adapter, formats have the uses that WebGPU promises for the device's features, and nothing more.
    /// The device's callbacks stay its owner's; see [`Self::loss`].
    pub fn adopt(device: wgpu::Device, queue: wgpu::Queue, adapter: Option<wgpu::Adapter>) -> Self {
        let errors = Errors::of_adopted();
        Self::new(device, queue, adapter, Features::all(), errors)
    }

    fn new(
        device: wgpu::Device,
        queue: wgpu::Queue,
        found: Option<wgpu::Adapter>,
        wanted: Features,
        errors: Errors,
    ) -> Self {
        let native = device.adapter_info();
        let downlevel = adapter::downlevel(found.as_ref(), native.backend);
        let info = adapter::describe(&native, device.features(), &device.limits(), downlevel);
        let features = info.features & wanted;
        let timestamps = features.contains(Features::TIMESTAMP_QUERY);
        let capabilities = Capabilities {
            features,
            limits: info.limits.clone(),
            timestamp_period: if timestamps { queue.get_timestamp_period() } else { 0.0 },
            // wgpu does not say.
            timestamp_valid_bits: None,
            copy_row_alignment: wgpu::COPY_BYTES_PER_ROW_ALIGNMENT,
            // Depth and stencil copies begin at multiples of four.
            copy_offset_alignment: 4,
        };
        Self {
            device,
            queue,
            instance: None,
            asked_for: None,
            adapter: found,
            native: native.backend,
            labels: true,
            bias_clamp: downlevel.contains(wgpu::DownlevelFlags::DEPTH_BIAS_CLAMP),
            base_vertex: downlevel.contains(wgpu::DownlevelFlags::BASE_VERTEX),
            info,
            capabilities,
            errors,
            #[cfg(target_arch = "wasm32")]
            pause: None,
            memory_peaks: Default::default(),
            #[cfg(target_arch = "wasm32")]
            canvas: None,
            submitted: 0,
            completed: 0,
            in_flight: VecDeque::new(),
            uploads: Vec::new(),
            scratch: Scratch::default(),
            buffers: SlotTable::default(),
            textures: SlotTable::default(),
            views: SlotTable::default(),
            samplers: SlotTable::default(),
            group_layouts: SlotTable::default(),
            groups: SlotTable::default(),
            pipeline_layouts: SlotTable::default(),
            shader_modules: SlotTable::default(),
            render_pipelines: SlotTable::default(),
            compute_pipelines: SlotTable::default(),
            query_sets: SlotTable::default(),
            immediates: Pages::default(),
            depth_reader: DepthReader::default(),
            surfaces: SlotTable::default(),
            surface_textures: Vec::new(),
        }
    }

    /// What tells this device that it is lost; for the callback of an adopted device's owner.
    pub fn loss(&self) -> Loss {
        self.errors.loss.clone()
    }

    /// Lets waits wait in a browser: `pause` must come back after the event loop has turned, as a suspended import does
    /// (JavaScript promise integration). It is called again and again until the work is complete.
    #[cfg(target_arch = "wasm32")]
    pub fn pause_with(&mut self, pause: fn()) {
        self.pause = Some(pause);
    }

    /// wgpu's device, for work beside Purlin's.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// wgpu's queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    pub(crate) fn info(&self) -> &AdapterInfo {
        &self.info
    }

    pub(crate) fn enabled(&self) -> &Capabilities {
        &self.capabilities
    }

    pub(crate) fn uses_of(&self, format: TextureFormat) -> FormatUses {
        formats::uses(self.adapter.as_ref(), self.native, self.device.features(), format)
    }
}

impl std::fmt::Debug for Wgpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wgpu")
            .field("adapter", &self.info.name)
            .field("backend", &self.info.backend)
            .field("features", &self.capabilities.features)
            .finish_non_exhaustive()
    }
}
