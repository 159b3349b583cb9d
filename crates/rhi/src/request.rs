//! Asking for a device: what must be there, what would be nice, and how the answer is found.
//!
//! The negotiation is one function over plain facts, so it is the same on every backend and is tested without a
//! driver. Nothing is created before it has said yes.

use crate::caps::{AdapterInfo, Features, Limits};
use crate::error::{Error, Result, invalid, unmet};
use crate::formats::FormatCapabilities;
use crate::handle::{MAX_SLOTS, ResourceKind};
use crate::needs::{FormatRequirement, Unmet};
use crate::surface::SurfaceTarget;
use crate::types::{DeviceType, TextureFormat};

/// Which adapter to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdapterSelector<'a> {
    /// The first usable one, discrete before integrated before virtual before software.
    #[default]
    Auto,
    /// The first usable one whose name contains this text, without regard to case.
    Name(&'a str),
    /// The one at this place in the catalog.
    Index(usize),
}

/// How much the driver's own validation is asked to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Validation {
    /// Nothing.
    #[default]
    Off,
    /// The native API's rules.
    Core,
    /// Those, and synchronization.
    Synchronization,
}

/// The most objects of each kind: the same of all, with exceptions.
///
/// ```
/// use purlin_rhi::{ObjectCeilings, ResourceKind};
///
/// let ceilings = ObjectCeilings::each(128).with(ResourceKind::Texture, 4096);
/// assert_eq!((ceilings.of(ResourceKind::Buffer), ceilings.of(ResourceKind::Texture)), (128, 4096));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectCeilings([u32; ResourceKind::ALL.len()]);

impl ObjectCeilings {
    /// This many of every kind.
    pub const fn each(most: u32) -> Self {
        Self([most; ResourceKind::ALL.len()])
    }

    /// The same, with another number of one kind.
    pub const fn with(mut self, kind: ResourceKind, most: u32) -> Self {
        self.0[kind as usize] = most;
        self
    }

    /// The most of a kind.
    #[inline]
    pub const fn of(&self, kind: ResourceKind) -> u32 {
        self.0[kind as usize]
    }
}

impl Default for ObjectCeilings {
    /// As many as handles can name.
    fn default() -> Self {
        Self::each(MAX_SLOTS)
    }
}

/// Ceilings of the tables and rings of a device. All are checked, none grows silently past its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageCeilings {
    /// The most objects of each kind, those that still retire and the services' own included.
    pub objects: ObjectCeilings,
    /// Bytes of device memory that buffers and textures may take together.
    pub memory_budget: u64,
    /// Bytes of the upload ring.
    pub upload_ring: u64,
    /// Bytes of one page of the frame arena; it grows by pages.
    pub frame_arena_page: u64,
    /// Bytes of readback staging that may be outstanding.
    pub readback: u64,
    /// The most draws and debug groups of one command batch.
    pub batch_commands: u32,
}

impl Default for StorageCeilings {
    fn default() -> Self {
        Self {
            objects: ObjectCeilings::default(),
            memory_budget: u64::MAX,
            upload_ring: 64 << 20,
            frame_arena_page: 4 << 20,
            readback: 256 << 20,
            batch_commands: 1 << 20,
        }
    }
}

/// What a program needs of a device.
#[derive(Debug, Clone, Default)]
pub struct DeviceRequest<'a> {
    /// The device's name in logs.
    pub label: &'a str,
    /// Which adapter.
    pub adapter: AdapterSelector<'a>,
    /// Features without which the request fails.
    pub required_features: Features,
    /// Features that are enabled when they are there; see [`Negotiated::missing_preferred`].
    pub preferred_features: Features,
    /// Limits without which the request fails. The device gets the adapter's own, which are no lower.
    pub required_limits: Limits,
    /// Format uses without which the request fails.
    pub required_formats: &'a [FormatRequirement],
    /// Limits that would be nice; see [`Device::unmet_preference`](crate::Device::unmet_preference).
    pub preferred_limits: Option<Limits>,
    /// Format uses and shapes that would be nice; see [`Device::unmet_preference`](crate::Device::unmet_preference).
    pub preferred_formats: &'a [FormatRequirement],
    /// A window that the adapter must be able to present to. Surfaces of other windows can be made too.
    pub surface: Option<&'a SurfaceTarget>,
    /// How much the driver's validation checks.
    pub validation: Validation,
    /// Ceilings of tables and rings.
    pub storage: StorageCeilings,
}

impl DeviceRequest<'_> {
    /// Rejects a request that no adapter could ever meet, before any backend is started.
    pub fn check(&self) -> Result<()> {
        let what = || format!("device request \"{}\"", self.label);
        let storage = &self.storage;
        let positive = [
            ("storage.upload_ring", storage.upload_ring),
            ("storage.frame_arena_page", storage.frame_arena_page),
            ("storage.readback", storage.readback),
            ("storage.batch_commands", storage.batch_commands.into()),
        ];
        for (field, value) in positive {
            if value == 0 {
                return Err(invalid(what(), field, "at least 1", value));
            }
        }
        for kind in ResourceKind::ALL {
            let most = storage.objects.of(kind);
            if !(1..=MAX_SLOTS).contains(&most) {
                let what = format!("{}, {kind}", what());
                return Err(invalid(what, "storage.objects", format!("1 to {MAX_SLOTS}"), most));
            }
        }
        for alignment in [
            (
                "required_limits.min_uniform_offset_alignment",
                self.required_limits.min_uniform_offset_alignment,
            ),
            (
                "required_limits.min_storage_offset_alignment",
                self.required_limits.min_storage_offset_alignment,
            ),
        ] {
            if !alignment.1.is_power_of_two() {
                return Err(invalid(what(), alignment.0, "a power of two", alignment.1));
            }
        }
        if let AdapterSelector::Name("") = self.adapter {
            return Err(invalid(what(), "adapter", "a part of a name", "an empty text"));
        }
        for (field, list) in
            [("required_formats", self.required_formats), ("preferred_formats", self.preferred_formats)]
        {
            for (index, requirement) in list.iter().enumerate() {
                let FormatRequirement { format, uses, dimension, .. } = requirement;
                if uses.is_empty() {
                    let found = format!("no use of {format:?}");
                    return Err(invalid(what(), field, "at least one use", found));
                }
                let twice =
                    |other: &FormatRequirement| other.format == *format && other.dimension == *dimension;
                if list[..index].iter().any(twice) {
                    let found = format!("{format:?} twice as {dimension:?}");
                    return Err(invalid(what(), field, "each format once for a dimension", found));
                }
            }
        }
        Ok(())
    }
}

/// What a request comes to on one adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// Exactly the features to enable: what was asked for, and [`Features::CORE`], as far as it is there.
    pub features: Features,
    /// Preferred features that are not there.
    pub missing_preferred: Features,
}

/// Picks an adapter by the request's selector; its place in the catalog.
pub fn select(catalog: &[AdapterInfo], selector: AdapterSelector<'_>) -> Result<usize> {
    let describe = || {
        let mut names: Vec<String> = Vec::with_capacity(catalog.len());
        for adapter in catalog {
            match &adapter.usable {
                Ok(()) => names.push(format!("\"{}\"", adapter.name)),
                Err(why) => names.push(format!("\"{}\" (unusable: {why})", adapter.name)),
            }
        }
        if names.is_empty() { "none".to_string() } else { names.join(", ") }
    };
    let rank = |kind: DeviceType| match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Cpu => 3,
        DeviceType::Other => 4,
    };
    match selector {
        AdapterSelector::Auto => catalog
            .iter()
            .enumerate()
            .filter(|(_, adapter)| adapter.usable.is_ok())
            .min_by_key(|(_, adapter)| rank(adapter.device_type))
            .map(|(index, _)| index)
            .ok_or_else(|| Error::NoAdapter { detail: format!("none is usable; found {}", describe()) }),
        AdapterSelector::Name(part) => {
            let part = part.to_lowercase();
            catalog
                .iter()
                .position(|adapter| adapter.usable.is_ok() && adapter.name.to_lowercase().contains(&part))
                .ok_or_else(|| Error::NoAdapter {
                    detail: format!("no usable adapter's name contains \"{part}\"; found {}", describe()),
                })
        }
        AdapterSelector::Index(index) => match catalog.get(index).map(|adapter| &adapter.usable) {
            Some(Ok(())) => Ok(index),
            Some(Err(why)) => Err(Error::NoAdapter { detail: format!("adapter {index} is unusable: {why}") }),
            None => Err(Error::NoAdapter {
                detail: format!("there is no adapter {index}: the catalog has {}", catalog.len()),
            }),
        },
    }
}

/// Checks the request against one adapter and says what to enable. The first unmet need is the error.
pub fn negotiate(
    request: &DeviceRequest<'_>,
    adapter: &AdapterInfo,
    formats: impl Fn(TextureFormat) -> FormatCapabilities,
) -> Result<Negotiated> {
    request.check()?;
    let what = || format!("device request \"{}\" on \"{}\"", request.label, adapter.name);
    if let Some((_, feature)) = (request.required_features - adapter.features).iter_names().next() {
        let need = Unmet::Feature(feature);
        let detail = format!("required; the adapter has {}", adapter.features.names());
        let (capability, unmet) = (need.capability(), Some(Box::new(need)));
        return Err(Error::Unsupported { what: what(), capability, detail, unmet });
    }
    if let Some(limit) = request.required_limits.first_unmet(&adapter.limits) {
        return Err(unmet(what(), Unmet::Limit(limit)));
    }
    for requirement in request.required_formats {
        if let Some(need) = requirement.first_unmet(&formats(requirement.format)) {
            return Err(unmet(what(), need));
        }
    }
    Ok(Negotiated {
        features: (request.required_features | request.preferred_features | Features::CORE).with_needs()
            & adapter.features,
        missing_preferred: request.preferred_features - adapter.features,
    })
}
