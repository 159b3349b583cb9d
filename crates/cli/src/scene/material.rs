//! Materials: glTF's metallic-roughness model with plain texture indices.

/// How a material's alpha is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    Opaque,
    /// Texels with alpha below the cutoff are not drawn.
    Mask {
        /// The smallest alpha that is drawn.
        cutoff: f32,
    },
    /// Alpha blends with what is behind.
    Blend,
}

/// What happens outside `0.0..1.0` of a texture coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, every second time mirrored.
    Mirror,
    /// The edge continues.
    Clamp,
}

/// How a material's textures are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SamplerDesc {
    /// Along `u`.
    pub wrap_u: Wrap,
    /// Along `v`.
    pub wrap_v: Wrap,
    /// Whether magnification interpolates.
    pub linear_mag: bool,
    /// Whether minification interpolates inside a level.
    pub linear_min: bool,
    /// Between levels: none (level 0 only), nearest, or interpolated.
    pub mip: MipFilter,
}

/// How levels of a mip chain are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MipFilter {
    /// Only level 0 is used.
    None,
    /// The nearest level.
    Nearest,
    /// Interpolation between two levels.
    Linear,
}

impl Default for SamplerDesc {
    /// Repeating and trilinear.
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            linear_mag: true,
            linear_min: true,
            mip: MipFilter::Linear,
        }
    }
}

/// The texture that every scene has at index 0: one white texel.
pub const WHITE: u32 = 0;
/// The texture that every scene has at index 1: one texel with the normal (0, 0, 1).
pub const FLAT_NORMAL: u32 = 1;

/// A surface. Texture fields are indices into the scene's textures and are always valid: a material without a
/// texture has [`WHITE`] or [`FLAT_NORMAL`] there, so shading needs no branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// A name for labels.
    pub name: String,
    /// Linear color and alpha.
    pub base_color: [f32; 4],
    /// Multiplies the base color; sRGB.
    pub base_color_texture: u32,
    /// 0 for a dielectric, 1 for a metal.
    pub metallic: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// Multiplies roughness by its green and metallic by its blue channel.
    pub metallic_roughness_texture: u32,
    /// Multiplies the normal map's x and y.
    pub normal_scale: f32,
    /// The tangent-space normal map.
    pub normal_texture: u32,
    /// 0 ignores the occlusion texture, 1 applies it fully.
    pub occlusion_strength: f32,
    /// Ambient occlusion in its red channel.
    pub occlusion_texture: u32,
    /// Linear emitted light, which may exceed one.
    pub emissive: [f32; 3],
    /// Multiplies the emitted light; sRGB.
    pub emissive_texture: u32,
    /// How alpha is used.
    pub alpha_mode: AlphaMode,
    /// Whether back faces are drawn, with a flipped normal.
    pub double_sided: bool,
    /// Whether the base color is shown as it is, without lighting.
    pub unlit: bool,
    /// Maps texture coordinates before sampling: `u' = r0 . (u, v, 1)`, `v' = r1 . (u, v, 1)`.
    pub uv_transform: [[f32; 3]; 2],
    /// How all textures of this material are sampled.
    pub sampler: SamplerDesc,
}

impl Default for Material {
    /// A rough white dielectric without textures.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            base_color: [1.0; 4],
            base_color_texture: WHITE,
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_texture: WHITE,
            normal_scale: 1.0,
            normal_texture: FLAT_NORMAL,
            occlusion_strength: 1.0,
            occlusion_texture: WHITE,
            emissive: [0.0; 3],
            emissive_texture: WHITE,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
            uv_transform: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            sampler: SamplerDesc::default(),
        }
    }
}

impl Material {
    /// Whether the material is drawn in the transparent pass.
    pub fn is_blended(&self) -> bool {
        self.alpha_mode == AlphaMode::Blend
    }

    /// The material's textures in the order of their bindings: base color, metallic-roughness, normal,
    /// occlusion, emissive.
    pub fn textures(&self) -> [u32; 5] {
        [
            self.base_color_texture,
            self.metallic_roughness_texture,
            self.normal_texture,
            self.occlusion_texture,
            self.emissive_texture,
        ]
    }
}
