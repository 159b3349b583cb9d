//! glTF materials, textures and samplers to the scene's.

use std::collections::HashMap;

use gltf::texture::{MagFilter, MinFilter, WrappingMode};

use super::source::Source;
use crate::error::{DemoError, one_line};
use crate::scene::image::{self, ImageData, ImageKind};
use crate::scene::material::{AlphaMode, FLAT_NORMAL, Material, MipFilter, SamplerDesc, WHITE, Wrap};
use crate::scene::{Scene, SceneOptions};

/// Converts materials on demand, each image once for each kind of use.
pub(super) struct Surfaces<'a> {
    source: &'a Source,
    options: SceneOptions,
    materials: HashMap<Option<usize>, u32>,
    images: HashMap<(usize, ImageKind), u32>,
}

/// A use of a texture by a material, whatever its slot.
struct Use<'d> {
    texture: gltf::Texture<'d>,
    set: u32,
    /// How it maps texture coordinates; nothing where that is not known.
    transform: Option<[[f32; 3]; 2]>,
}

const IDENTITY: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

impl<'a> Surfaces<'a> {
    /// Nothing converted yet.
    pub fn new(source: &'a Source, options: SceneOptions) -> Self {
        Self { source, options, materials: HashMap::new(), images: HashMap::new() }
    }

    /// The scene's number of a material.
    pub fn material(&mut self, scene: &mut Scene, material: &gltf::Material<'_>) -> Result<u32, DemoError> {
        if let Some(number) = self.materials.get(&material.index()) {
            return Ok(*number);
        }
        let converted = self.convert(scene, material)?;
        let number = scene.add_material(converted);
        self.materials.insert(material.index(), number);
        Ok(number)
    }

    fn convert(&mut self, scene: &mut Scene, material: &gltf::Material<'_>) -> Result<Material, DemoError> {
        let name = match (material.name(), material.index()) {
            (Some(name), _) => one_line(name),
            (None, Some(index)) => format!("material {index}"),
            (None, None) => "default".to_owned(),
        };
        let pbr = material.pbr_metallic_roughness();
        // The crate does not give the texture transform of the normal and occlusion slots: they follow the
        // others.
        let base_color = pbr.base_color_texture().map(Use::of);
        let metallic_roughness = pbr.metallic_roughness_texture().map(Use::of);
        let normal = material.normal_texture().map(|t| Use::plain(t.texture(), t.tex_coord()));
        let occlusion = material.occlusion_texture().map(|t| Use::plain(t.texture(), t.tex_coord()));
        let emissive = material.emissive_texture().map(Use::of);

        let uses = [&base_color, &metallic_roughness, &normal, &occlusion, &emissive];
        let mut transforms = uses.iter().filter_map(|u| u.as_ref()?.transform);
        let uv_transform = transforms.next().unwrap_or(IDENTITY);
        if transforms.any(|t| t != uv_transform) {
            scene
                .warnings
                .push(format!("{name}: its textures have different transforms; the first is used for all"));
        }
        let mut samplers = uses.iter().filter_map(|u| u.as_ref().map(|u| sampler(&u.texture.sampler())));
        let sampler = samplers.next().unwrap_or_default();
        if samplers.any(|s| s != sampler) {
            scene
                .warnings
                .push(format!("{name}: its textures have different samplers; the first is used for all"));
        }

        let mut slot = |texture: &Option<Use<'_>>, kind, default| match texture {
            Some(texture) => self.texture(scene, &name, texture, kind, default),
            None => Ok(default),
        };
        let base_color_texture = slot(&base_color, ImageKind::Color, WHITE)?;
        let metallic_roughness_texture = slot(&metallic_roughness, ImageKind::Linear, WHITE)?;
        let normal_texture = slot(&normal, ImageKind::Normal, FLAT_NORMAL)?;
        let occlusion_texture = slot(&occlusion, ImageKind::Linear, WHITE)?;
        let emissive_texture = slot(&emissive, ImageKind::Color, WHITE)?;

        let strength = material.emissive_strength().unwrap_or(1.0);
        let alpha_mode = match material.alpha_mode() {
            gltf::material::AlphaMode::Opaque => AlphaMode::Opaque,
            gltf::material::AlphaMode::Mask => {
                AlphaMode::Mask { cutoff: material.alpha_cutoff().unwrap_or(0.5) }
            }
            gltf::material::AlphaMode::Blend => AlphaMode::Blend,
        };
        Ok(Material {
            name,
            base_color: pbr.base_color_factor(),
            base_color_texture,
            metallic: pbr.metallic_factor(),
            roughness: pbr.roughness_factor(),
            metallic_roughness_texture,
            normal_scale: material.normal_texture().map_or(1.0, |t| t.scale()),
            normal_texture,
            occlusion_strength: material.occlusion_texture().map_or(1.0, |t| t.strength()),
            occlusion_texture,
            emissive: material.emissive_factor().map(|e| e * strength),
            emissive_texture,
            alpha_mode,
            double_sided: material.double_sided(),
            unlit: material.unlit(),
            uv_transform,
            sampler,
        })
    }

    fn texture(
        &mut self,
        scene: &mut Scene,
        material: &str,
        texture: &Use<'_>,
        kind: ImageKind,
        default: u32,
    ) -> Result<u32, DemoError> {
        if texture.set != 0 {
            let set = texture.set;
            scene
                .warnings
                .push(format!("{material}: a texture uses TEXCOORD_{set}, which is not supported; left out"));
            return Ok(default);
        }
        let index = texture.texture.source().index();
        if let Some(number) = self.images.get(&(index, kind)) {
            return Ok(*number);
        }
        // The crate's own accessor panics on an image in a buffer view without a media type; the document
        // does not.
        let json = self.source.document.as_json().images.get(index);
        let json = json.ok_or_else(|| self.source.fault(format!("image {index} does not exist")))?;
        let what = match &json.uri {
            Some(uri) if !uri.starts_with("data:") => format!("image {index} ('{uri}')"),
            _ => format!("image {index}"),
        };
        let owned;
        let bytes: &[u8] = if let Some(uri) = &json.uri {
            owned = self.source.read_uri(uri, &format!("image {index}"))?;
            &owned
        } else {
            let view = json.buffer_view.and_then(|view| self.source.document.views().nth(view.value()));
            let view =
                view.ok_or_else(|| self.source.fault(format!("{what} has neither a URI nor a buffer view")))?;
            self.source.view_bytes(&view)?
        };
        let level = image::decode(bytes).map_err(|error| self.source.fault(format!("{what}: {error}")))?;
        let (width, height) = (level.width, level.height);
        let name = json.name.clone().or_else(|| json.uri.clone().filter(|uri| !uri.starts_with("data:")));
        let name = one_line(name.unwrap_or_else(|| format!("image {index}")));
        let converted = ImageData::new(name, kind, level, self.options.max_texture_side);
        if (converted.width(), converted.height()) != (width, height) {
            let (w, h) = (converted.width(), converted.height());
            scene.warnings.push(format!("{what} is {width}x{height} and was scaled down to {w}x{h}"));
        }
        let number = scene.add_texture(converted);
        self.images.insert((index, kind), number);
        Ok(number)
    }
}

impl<'d> Use<'d> {
    fn plain(texture: gltf::Texture<'d>, set: u32) -> Self {
        Self { texture, set, transform: None }
    }

    fn of(info: gltf::texture::Info<'d>) -> Self {
        let Some(transform) = info.texture_transform() else {
            return Self { texture: info.texture(), set: info.tex_coord(), transform: Some(IDENTITY) };
        };
        // Scale, then rotate clockwise in image space, then move: the extension's order.
        let ([sx, sy], [x, y]) = (transform.scale(), transform.offset());
        let (sin, cos) = transform.rotation().sin_cos();
        Self {
            texture: info.texture(),
            set: transform.tex_coord().unwrap_or(info.tex_coord()),
            transform: Some([[cos * sx, sin * sy, x], [-sin * sx, cos * sy, y]]),
        }
    }
}

fn sampler(sampler: &gltf::texture::Sampler<'_>) -> SamplerDesc {
    let wrap = |mode| match mode {
        WrappingMode::Repeat => Wrap::Repeat,
        WrappingMode::MirroredRepeat => Wrap::Mirror,
        WrappingMode::ClampToEdge => Wrap::Clamp,
    };
    let (linear_min, mip) = match sampler.min_filter() {
        None | Some(MinFilter::LinearMipmapLinear) => (true, MipFilter::Linear),
        Some(MinFilter::Linear) => (true, MipFilter::None),
        Some(MinFilter::LinearMipmapNearest) => (true, MipFilter::Nearest),
        Some(MinFilter::Nearest) => (false, MipFilter::None),
        Some(MinFilter::NearestMipmapNearest) => (false, MipFilter::Nearest),
        Some(MinFilter::NearestMipmapLinear) => (false, MipFilter::Linear),
    };
    SamplerDesc {
        wrap_u: wrap(sampler.wrap_s()),
        wrap_v: wrap(sampler.wrap_t()),
        linear_mag: sampler.mag_filter() != Some(MagFilter::Nearest),
        linear_min,
        mip,
    }
}
