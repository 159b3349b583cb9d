//! Attachments of a raster pass: checked against each other, declared to the planner, resolved for the backend.

use arrayvec::ArrayVec;

use crate::backend::{
    Backend, ClearValue, NativeAspect, NativeColor, NativeDepthStencil, NativeLoad, NativeQueries,
    NativeRenderPass, NativeTargets, StoreOp,
};
use crate::caps::FormatUses;
use crate::error::{Result, invalid, state, unsupported};
use crate::handle::{BindGroup, CommandBatch, QuerySet, Texture, TextureView};
use crate::plan::{Aspects, ResourceUse, TextureRange, TextureUse};
use crate::record::queries::PassTimestampWrites;
use crate::registry::{Registry, TextureViewRecord};
use crate::types::{ShaderStages, TextureFormat, TextureSampleType, TextureUsages};

/// What happens to one aspect of a depth-stencil attachment.
pub type AspectOps<T> = NativeAspect<T>;

impl<T> NativeAspect<T> {
    /// Cleared and kept.
    pub const fn clear(value: T) -> Self {
        Self { load: NativeLoad::Clear(value), store: StoreOp::Store, read_only: false }
    }

    /// Loaded and kept.
    pub const fn load() -> Self {
        Self { load: NativeLoad::Load, store: StoreOp::Store, read_only: false }
    }

    /// Tested but not written; the pass may sample it too.
    pub const fn read_only() -> Self {
        Self { load: NativeLoad::Load, store: StoreOp::Store, read_only: true }
    }

    /// The same, with the contents undefined after the pass.
    pub fn discarded(self) -> Self {
        Self { store: StoreOp::Discard, ..self }
    }
}

/// A color attachment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorAttachment {
    /// A view of one mip, with usage `RENDER_ATTACHMENT`.
    pub view: TextureView,
    /// At the beginning. A clear value must be of the format's class.
    pub load: NativeLoad<ClearValue>,
    /// At the end. Samples that are resolved need not be kept.
    pub store: StoreOp,
    /// Where the average of each texel's samples goes at the end: a view of one sample, and of the same format and size.
    pub resolve: Option<TextureView>,
}

/// A depth-stencil attachment. Exactly the aspects that the format has are given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthStencilAttachment {
    /// A view of one mip with all aspects, with usage `RENDER_ATTACHMENT`.
    pub view: TextureView,
    /// The depth aspect.
    pub depth: Option<AspectOps<f32>>,
    /// The stencil aspect.
    pub stencil: Option<AspectOps<u32>>,
}

/// Describes a raster pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderPassDesc<'a> {
    /// The name in errors, reports and captures.
    pub label: &'a str,
    /// Color attachments by index; `None` leaves a gap.
    pub colors: &'a [Option<ColorAttachment>],
    /// The depth-stencil attachment.
    pub depth_stencil: Option<DepthStencilAttachment>,
    /// Every other use of a tracked resource in the pass, unless it is of a group in `groups`. Attachments are declared
    /// by being attached.
    pub uses: &'a [ResourceUse],
    /// Groups that declare what they bind; see [`ComputePassDesc::groups`](crate::ComputePassDesc::groups).
    pub groups: &'a [BindGroup],
    /// Command batches that declare what they use. They may be executed without being here, if the pass declares it itself.
    pub batches: &'a [CommandBatch],
    /// The set of the pass's occlusion queries.
    pub occlusion_query_set: Option<QuerySet>,
    /// The set of its statistics queries.
    pub pipeline_statistics_query_set: Option<QuerySet>,
    /// Timestamps at its begin and end.
    pub timestamp_writes: Option<PassTimestampWrites>,
}

/// What a pass's attachments are, in words.
#[cold]
pub(super) fn show_targets(
    colors: &[Option<TextureFormat>],
    depth_stencil: Option<TextureFormat>,
    samples: u32,
) -> String {
    format!("colors {colors:?}, depth-stencil {depth_stencil:?}, {samples} samples")
}

impl NativeDepthStencil {
    /// The first aspect that is read-only, of those that are written: depth or stencil.
    pub(super) fn first_read_only(&self, (depth, stencil): (bool, bool)) -> Option<&'static str> {
        if depth && self.depth.is_some_and(|ops| ops.read_only) {
            return Some("depth");
        }
        (stencil && self.stencil.is_some_and(|ops| ops.read_only)).then_some("stencil")
    }
}

fn color_use(load: &NativeLoad<ClearValue>) -> TextureUse {
    TextureUse::Color { load: matches!(load, NativeLoad::Load) }
}

/// The uses of a depth-stencil attachment, aspect by aspect, with whether each is stored.
fn aspect_uses(attachment: &DepthStencilAttachment) -> ArrayVec<(Aspects, TextureUse, bool), 2> {
    fn one<T>(ops: &AspectOps<T>) -> (TextureUse, bool) {
        if ops.read_only {
            return (TextureUse::DepthStencilReadOnly(ShaderStages::NONE), true);
        }
        let load = matches!(ops.load, NativeLoad::Load);
        (TextureUse::DepthStencil { load }, ops.store == StoreOp::Store)
    }
    let depth = attachment.depth.as_ref().map(|ops| (Aspects::DEPTH, one(ops)));
    let stencil = attachment.stencil.as_ref().map(|ops| (Aspects::STENCIL, one(ops)));
    depth.into_iter().chain(stencil).map(|(aspect, (usage, stored))| (aspect, usage, stored)).collect()
}

/// What the attachments of a pass declare to the planner.
#[derive(Debug, Default)]
pub(crate) struct AttachmentUses {
    pub uses: ArrayVec<ResourceUse, 18>,
    pub discards: ArrayVec<(Texture, TextureRange), 10>,
}

impl AttachmentUses {
    #[inline]
    fn push(
        &mut self,
        registry: &Registry,
        view: &TextureViewRecord,
        aspects: Aspects,
        (usage, stored): (TextureUse, bool),
        label: &str,
    ) -> Result<()> {
        let Some(texture) = registry.textures.handle_at(view.texture) else {
            let found = format!("the texture of view \"{}\" was destroyed", view.label);
            return Err(state(format!("pass \"{label}\""), "attachments whose texture is alive", found));
        };
        let range = TextureRange { aspects, ..view.range };
        self.uses.push(ResourceUse::Texture { texture, range, usage });
        if !stored {
            self.discards.push((texture, range));
        }
        Ok(())
    }
}

fn view_record<'r>(registry: &'r Registry, view: TextureView, label: &str) -> Result<&'r TextureViewRecord> {
    registry.views.check(view, || format!("pass \"{label}\""))
}

/// A pass with everything checked and resolved.
#[derive(Debug, Default)]
pub(crate) struct ResolvedPass {
    pub colors: ArrayVec<Option<NativeColor>, 8>,
    pub formats: ArrayVec<Option<TextureFormat>, 8>,
    pub depth_stencil: Option<NativeDepthStencil>,
    pub depth_format: Option<TextureFormat>,
    pub extent: (u32, u32),
    pub layers: u32,
    pub samples: u32,
    pub limit: u32,
}

impl ResolvedPass {
    pub(crate) fn native<'a>(
        &'a self,
        label: &'a str,
        sections: bool,
        queries: Option<&'a NativeQueries>,
    ) -> NativeRenderPass<'a> {
        NativeRenderPass {
            label,
            extent: self.extent,
            layers: self.layers,
            colors: &self.colors,
            depth_stencil: self.depth_stencil,
            sections,
            queries,
        }
    }

    /// What the pass's sections know of it.
    pub(crate) fn targets(&self) -> NativeTargets<'_> {
        NativeTargets { colors: &self.formats, depth_stencil: self.depth_format, samples: self.samples }
    }

    #[inline]
    fn join(&mut self, view: &TextureViewRecord, first: &mut bool, what: &dyn Fn() -> String) -> Result<()> {
        if !view.usage.contains(TextureUsages::RENDER_ATTACHMENT) {
            let found = format!(
                "view \"{}\" with {:?}, {:?} and {} mips",
                view.label, view.usage, view.dimension, view.range.mips
            );
            return Err(invalid(what(), "attachments", "2D views of one mip with RENDER_ATTACHMENT", found));
        }
        let extent = (view.extent.width, view.extent.height);
        if std::mem::replace(first, false) {
            self.extent = extent;
            self.layers = view.range.layers;
            self.samples = view.samples;
        } else if self.extent != extent || self.layers != view.range.layers || self.samples != view.samples {
            let show = |extent: (u32, u32), layers, samples| {
                format!("{}x{}, {layers} layers, {samples} samples", extent.0, extent.1)
            };
            let expected = format!("attachments of {}", show(self.extent, self.layers, self.samples));
            let found =
                format!("{} of view \"{}\"", show(extent, view.range.layers, view.samples), view.label);
            return Err(invalid(what(), "attachments", expected, found));
        }
        Ok(())
    }
}

/// Checks the attachments of a pass and resolves them for the backend, where the pass lies: it is large, and moving it
/// costs. It comes empty. Notes what they declare, if it is not planned already.
#[inline(always)]
pub(crate) fn resolve<B: Backend>(
    registry: &Registry,
    backend: &B,
    desc: &RenderPassDesc<'_>,
    pass: &mut ResolvedPass,
    mut declared: Option<&mut AttachmentUses>,
) -> Result<()> {
    let what = || format!("pass \"{}\"", desc.label);
    let resolves = |format| backend.format_uses(format).contains(FormatUses::MULTISAMPLE_RESOLVE);
    let capabilities = backend.capabilities();
    let most = capabilities.limits.max_color_attachments.min(8);
    if desc.colors.len() > most as usize {
        let detail = format!("{} requested, {most} available", desc.colors.len());
        return Err(unsupported(what(), "limit max_color_attachments", detail));
    }
    pass.limit = capabilities.limits.max_texture_dimension_2d;
    let mut first = true;
    for color in desc.colors {
        let Some(color) = color else {
            pass.colors.push(None);
            pass.formats.push(None);
            continue;
        };
        let view = view_record(registry, color.view, desc.label)?;
        pass.join(view, &mut first, &what)?;
        if view.format.is_depth_stencil_format() {
            let found = format!("{:?} of view \"{}\"", view.format, view.label);
            return Err(invalid(what(), "colors", "a color format", found));
        }
        if let NativeLoad::Clear(value) = color.load {
            check_clear(value, view, what)?;
        }
        let resolve = color.resolve.map(TextureView::slot);
        let (load, store) = (color.load, color.store);
        pass.colors.push(Some(NativeColor { view: color.view.slot(), load, store, resolve }));
        pass.formats.push(Some(view.format));
        if let Some(declared) = &mut declared {
            let used = (color_use(&color.load), color.store == StoreOp::Store);
            declared.push(registry, view, view.range.aspects, used, desc.label)?;
        }
        if let Some(target) = color.resolve {
            let target = view_record(registry, target, desc.label)?;
            check_resolve(view, target, resolves(view.format), what)?;
            if let Some(declared) = &mut declared {
                let used = (TextureUse::Color { load: false }, true);
                declared.push(registry, target, target.range.aspects, used, desc.label)?;
            }
        }
    }
    if let Some(attachment) = &desc.depth_stencil {
        let view = view_record(registry, attachment.view, desc.label)?;
        pass.join(view, &mut first, &what)?;
        let mut given = Aspects::empty();
        given.set(Aspects::DEPTH, attachment.depth.is_some());
        given.set(Aspects::STENCIL, attachment.stencil.is_some());
        let all = Aspects::of(view.format, crate::types::TextureAspect::All);
        if view.range.aspects != all {
            let found = format!("{:?} of view \"{}\"", view.range.aspects, view.label);
            return Err(invalid(what(), "depth_stencil.view", format!("a view of {all:?}"), found));
        }
        if given != all || !view.format.is_depth_stencil_format() {
            let expected = format!("operations for exactly {all:?} of {:?}", view.format);
            return Err(invalid(what(), "depth_stencil", expected, format!("{given:?}")));
        }
        let contradicts = attachment.depth.is_some_and(|ops| read_only_writes(&ops))
            || attachment.stencil.is_some_and(|ops| read_only_writes(&ops));
        if contradicts {
            let expected = "a read-only aspect that is loaded and kept";
            return Err(invalid(what(), "depth_stencil", expected, "one that is cleared or discarded"));
        }
        if let Some(NativeLoad::Clear(depth)) = attachment.depth.map(|ops| ops.load)
            && !(0.0..=1.0).contains(&depth)
        {
            return Err(invalid(what(), "depth_stencil.depth.load", "a depth from 0 to 1", depth));
        }
        if let Some(NativeLoad::Clear(stencil)) = attachment.stencil.map(|ops| ops.load)
            && stencil > 255
        {
            return Err(invalid(what(), "depth_stencil.stencil.load", "a stencil from 0 to 255", stencil));
        }
        pass.depth_stencil = Some(NativeDepthStencil {
            view: attachment.view.slot(),
            depth: attachment.depth,
            stencil: attachment.stencil,
        });
        pass.depth_format = Some(view.format);
        if let Some(declared) = &mut declared {
            for (aspect, usage, stored) in aspect_uses(attachment) {
                declared.push(registry, view, aspect, (usage, stored), desc.label)?;
            }
        }
    }
    if first {
        return Err(invalid(what(), "attachments", "at least one attachment", "none"));
    }
    Ok(())
}

/// Whether the samples of one view may be averaged into the other.
#[inline(never)]
fn check_resolve(
    from: &TextureViewRecord,
    to: &TextureViewRecord,
    resolves: bool,
    what: impl Fn() -> String,
) -> Result<()> {
    let show = |view: &TextureViewRecord| {
        format!(
            "\"{}\" of {:?}, {}x{}, {} layers, {} samples and usage {:?}",
            view.label,
            view.format,
            view.extent.width,
            view.extent.height,
            view.range.layers,
            view.samples,
            view.usage
        )
    };
    let same = from.format == to.format
        && (from.extent.width, from.extent.height) == (to.extent.width, to.extent.height)
        && from.range.layers == to.range.layers;
    if from.samples == 1 {
        let found = format!("from {}", show(from));
        return Err(invalid(what(), "colors.resolve", "none without multisampling", found));
    }
    if !same || to.samples != 1 || !to.usage.contains(TextureUsages::RENDER_ATTACHMENT) {
        let expected = format!("a view of one sample with RENDER_ATTACHMENT, otherwise as {}", show(from));
        return Err(invalid(what(), "colors.resolve", expected, show(to)));
    }
    if !resolves {
        let detail = format!("of view \"{}\"", from.label);
        return Err(unsupported(what(), format!("MULTISAMPLE_RESOLVE use of {:?}", from.format), detail));
    }
    Ok(())
}

fn read_only_writes<T>(ops: &AspectOps<T>) -> bool {
    ops.read_only && (!matches!(ops.load, NativeLoad::Load) || ops.store == StoreOp::Discard)
}

/// Clear values are exact: the class must be the format's, and integers must fit its channels.
fn check_clear(value: ClearValue, view: &TextureViewRecord, what: impl Fn() -> String) -> Result<()> {
    let class = match view.format.sample_type(None, None) {
        Some(TextureSampleType::Uint) => "Uint",
        Some(TextureSampleType::Sint) => "Sint",
        _ => "Float",
    };
    let error = |expected: String| {
        invalid(
            what(),
            "colors.load",
            expected,
            format!("{value:?} for {:?} of view \"{}\"", view.format, view.label),
        )
    };
    let channels = u32::from(view.format.components()).max(1);
    let bits = view.format.block_copy_size(None).unwrap_or(4) * 8 / channels;
    match (value, class) {
        (ClearValue::Float(_), "Float") => Ok(()),
        (ClearValue::Uint(values), "Uint") => {
            let most = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
            let most = match view.format {
                TextureFormat::Rgb10a2Uint => [1023, 1023, 1023, 3],
                _ => [most; 4],
            };
            if values.iter().zip(most).take(channels as usize).any(|(value, most)| *value > most) {
                return Err(error(format!("values up to {:?}", &most[..channels.min(4) as usize])));
            }
            Ok(())
        }
        (ClearValue::Sint(values), "Sint") => {
            let most = if bits >= 32 { i32::MAX } else { (1 << (bits - 1)) - 1 };
            if values.iter().take(channels as usize).any(|v| *v > most || *v < -most - 1) {
                return Err(error(format!("values from {} to {most}", -most - 1)));
            }
            Ok(())
        }
        _ => Err(error(format!("a {class} clear value"))),
    }
}
