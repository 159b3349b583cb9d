//! What a sampled binding takes, as one bit of a word: so that a group of a thousand textures costs a thousand tests of a
//! bit. What the bit does not decide is looked at in full.

use crate::types::{BindGroupLayoutEntry, BindingType, TextureSampleType, TextureViewDimension};

/// What a view is to a sampled binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class(u8);

/// What a sampled binding takes: a bit for each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Classes(u64);

/// Every sample type that a view can have.
const SAMPLE_TYPES: [TextureSampleType; 5] = [
    TextureSampleType::Float { filterable: true },
    TextureSampleType::Float { filterable: false },
    TextureSampleType::Depth,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];

impl Class {
    /// Nothing that a bit could say.
    pub(crate) const NONE: Class = Class(63);

    pub(crate) fn new(dimension: TextureViewDimension, ty: TextureSampleType, multisampled: bool) -> Self {
        let dimension = match dimension {
            TextureViewDimension::D1 => 0,
            TextureViewDimension::D2 => 1,
            TextureViewDimension::D2Array => 2,
            TextureViewDimension::Cube => 3,
            TextureViewDimension::CubeArray => 4,
            TextureViewDimension::D3 => 5,
        };
        let ty = SAMPLE_TYPES.iter().position(|known| *known == ty).unwrap_or(0) as u8;
        Self((dimension * 5 + ty) * 2 + u8::from(multisampled))
    }
}

impl Default for Class {
    fn default() -> Self {
        Self::NONE
    }
}

impl Classes {
    /// None, unless the entry is a sampled texture.
    pub(crate) fn of(entry: &BindGroupLayoutEntry) -> Self {
        let BindingType::Texture { sample_type, view_dimension, multisampled } = entry.ty else {
            return Self(0);
        };
        let taken = SAMPLE_TYPES.iter().filter(|found| samples_as(**found, sample_type));
        let bits = taken.map(|found| 1 << Class::new(view_dimension, *found, multisampled).0);
        Self(bits.fold(0, |all, bit: u64| all | bit))
    }

    #[inline]
    pub(crate) fn take(self, class: Class) -> bool {
        self.0 >> class.0 & 1 != 0
    }
}

/// Whether a binding of one sample type takes what a view has.
pub(crate) fn samples_as(found: TextureSampleType, wanted: TextureSampleType) -> bool {
    match wanted {
        TextureSampleType::Float { filterable: false } => {
            matches!(found, TextureSampleType::Float { .. } | TextureSampleType::Depth)
        }
        other => other == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ShaderStages;

    /// The bit says what the long way says, for everything that there is.
    #[test]
    fn bits_say_what_comparisons_say() {
        use TextureViewDimension::{Cube, CubeArray, D1, D2, D2Array, D3};
        let all = || {
            [D1, D2, D2Array, Cube, CubeArray, D3].into_iter().flat_map(|dimension| {
                SAMPLE_TYPES.into_iter().flat_map(move |ty| [(dimension, ty, false), (dimension, ty, true)])
            })
        };
        let mut seen = std::collections::HashSet::new();
        for (view_dimension, sample_type, multisampled) in all() {
            assert!(seen.insert(Class::new(view_dimension, sample_type, multisampled).0));
            let ty = BindingType::Texture { sample_type, view_dimension, multisampled };
            let entry =
                BindGroupLayoutEntry { binding: 0, visibility: ShaderStages::FRAGMENT, ty, count: None };
            let classes = Classes::of(&entry);
            for (dimension, found, samples) in all() {
                let fits =
                    dimension == view_dimension && samples == multisampled && samples_as(found, sample_type);
                assert_eq!(classes.take(Class::new(dimension, found, samples)), fits);
            }
            assert!(!classes.take(Class::NONE));
        }
    }
}
