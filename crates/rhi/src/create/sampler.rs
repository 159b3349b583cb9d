//! Samplers.

use crate::backend::Backend;
use crate::caps::Features;
use crate::desc::SamplerDesc;
use crate::device::Device;
use crate::error::{Result, invalid, named, unsupported};
use crate::handle::{ResourceKind, kind};
use crate::owned::Owned;
use crate::registry::SamplerRecord;
use crate::types::{AddressMode, FilterMode, SamplerBorderColor};

impl<B: Backend> Device<B> {
    /// Creates a sampler.
    ///
    /// # Errors
    /// A level-of-detail range that is negative, not finite or upside down; anisotropy without linear filters, of
    /// zero, or without the feature; border addressing without the feature, and a border of
    /// [`SamplerBorderColor::Zero`].
    pub fn create_sampler(&mut self, desc: &SamplerDesc<'_>) -> Result<Owned<kind::Sampler>> {
        let what = || named(ResourceKind::Sampler, desc.label);
        self.check_lost("create_sampler")?;
        self.make_room(ResourceKind::Sampler, 0)?;
        let lod_ok = desc.lod_min.is_finite()
            && desc.lod_max.is_finite()
            && desc.lod_min >= 0.0
            && desc.lod_max >= desc.lod_min;
        if !lod_ok {
            let found = format!("{} to {}", desc.lod_min, desc.lod_max);
            return Err(invalid(what(), "lod_min, lod_max", "0 <= lod_min <= lod_max, finite", found));
        }
        if desc.address.contains(&AddressMode::ClampToBorder) {
            if !self.capabilities().features.contains(Features::ADDRESS_MODE_CLAMP_TO_BORDER) {
                let detail = "ClampToBorder requested";
                return Err(unsupported(what(), "feature ADDRESS_MODE_CLAMP_TO_BORDER", detail));
            }
            if desc.border == SamplerBorderColor::Zero {
                let detail = "a border of zeros requested, which no backend has";
                return Err(unsupported(what(), "feature ADDRESS_MODE_CLAMP_TO_ZERO", detail));
            }
        }
        let filters = [desc.mag_filter, desc.min_filter, desc.mipmap_filter];
        let all_linear = filters.iter().all(|filter| *filter == FilterMode::Linear);
        if desc.anisotropy == 0 || (desc.anisotropy > 1 && !all_linear) {
            let found = format!("{} with filters {filters:?}", desc.anisotropy);
            return Err(invalid(what(), "anisotropy", "1, or more with all filters linear", found));
        }
        if desc.anisotropy > 1 {
            let most = self.limits().max_anisotropy;
            if !self.capabilities().features.contains(Features::ANISOTROPY) {
                let detail = format!("anisotropy {} requested", desc.anisotropy);
                return Err(unsupported(what(), "feature ANISOTROPY", detail));
            }
            if u32::from(desc.anisotropy) > most {
                let detail = format!("{} requested, {most} available", desc.anisotropy);
                return Err(unsupported(what(), "limit max_anisotropy", detail));
            }
        }
        let slot = self.registry.samplers.next_slot()?;
        if let Err(error) = self.backend.create_sampler(slot, desc) {
            return Err(self.backend_error(error, what()));
        }
        let handle = self.registry.samplers.insert(
            slot,
            SamplerRecord {
                label: desc.label.into(),
                compare: desc.compare.is_some(),
                filtering: filters.contains(&FilterMode::Linear),
            },
        );
        Ok(self.own(handle))
    }
}
