//! What a surface offers, what a program asks of it, and what that comes to.

use smallvec::SmallVec;

use crate::caps::Limits;
use crate::error::{Result, invalid, unsupported};
use crate::types::{CompositeAlphaMode, PresentMode, TextureFormat, TextureUsages};

/// The most frames in flight of a surface.
pub const MAX_FRAMES_IN_FLIGHT: u32 = 8;

/// What a surface offers on its device. It changes as the window does, so it is asked when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceCapabilities {
    /// Formats that are shown as sRGB, the system's favorite first.
    pub formats: Vec<TextureFormat>,
    /// Present modes, without the `Auto` ones; `Fifo` is always among them.
    pub present_modes: Vec<PresentMode>,
    /// How the window blends with what is behind it, without `Auto`.
    pub alpha_modes: Vec<CompositeAlphaMode>,
    /// What the images may be used for.
    pub usages: TextureUsages,
    /// Whether views may have the sRGB sibling of the format.
    pub view_formats: bool,
    /// The size of the window's content in pixels; `None` where the window takes the size of what is presented.
    pub current_extent: Option<(u32, u32)>,
    /// The least width and height of images. With a current extent, usually that.
    pub min_extent: (u32, u32),
    /// The greatest width and height; zero while nothing can be shown.
    pub max_extent: (u32, u32),
    /// The least number of images; zero where the system chooses by itself.
    pub min_images: u32,
    /// The greatest number of images: `u32::MAX` where there is no limit, zero where the system chooses by itself.
    pub max_images: u32,
}

/// How a surface is to present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceConfig<'a> {
    /// Pixels. Zero on either side pauses the surface: nothing is made, and frames are skipped.
    pub width: u32,
    /// Pixels, as above.
    pub height: u32,
    /// One of [`SurfaceCapabilities::formats`].
    pub format: TextureFormat,
    /// Other formats that views of the images have: the sRGB sibling.
    pub view_formats: &'a [TextureFormat],
    /// What the images are used for.
    pub usage: TextureUsages,
    /// When a frame reaches the screen. `AutoVsync` and `AutoNoVsync` take the best that is there.
    pub present_mode: PresentMode,
    /// How the window blends with what is behind it. `Auto` is opaque where that is there.
    pub alpha_mode: CompositeAlphaMode,
    /// How many frames the CPU may be ahead of the GPU, from one to [`MAX_FRAMES_IN_FLIGHT`].
    pub frames_in_flight: u32,
    /// The least number of images; zero for one more than the system's least, which keeps most systems from waiting.
    pub images: u32,
}

impl SurfaceConfig<'_> {
    /// Opaque and in step with the screen, to be drawn to, two frames in flight.
    pub const fn new(width: u32, height: u32, format: TextureFormat) -> Self {
        Self {
            width,
            height,
            format,
            view_formats: &[],
            usage: TextureUsages::RENDER_ATTACHMENT,
            present_mode: PresentMode::AutoVsync,
            alpha_mode: CompositeAlphaMode::Auto,
            frames_in_flight: 2,
            images: 0,
        }
    }
}

/// What a configuration came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    /// Pixels of the images. A window that dictates its size may differ from what was asked; zero while paused.
    pub extent: (u32, u32),
    /// The format of the images.
    pub format: TextureFormat,
    /// The mode in use, never an `Auto` one.
    pub present_mode: PresentMode,
    /// The mode in use, never `Auto`.
    pub alpha_mode: CompositeAlphaMode,
    /// Frames in flight.
    pub frames_in_flight: u32,
    /// How many images there are; zero while paused, or where the system does not say.
    pub images: u32,
}

/// A configuration with everything resolved.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub info: Configured,
    pub usage: TextureUsages,
    pub view_formats: SmallVec<[TextureFormat; 1]>,
}

impl Resolved {
    pub(crate) fn is_paused(&self) -> bool {
        self.info.extent.0 == 0 || self.info.extent.1 == 0
    }
}

/// Checks what needs no surface.
pub(super) fn check(config: &SurfaceConfig<'_>, what: impl Fn() -> String) -> Result<()> {
    if config.frames_in_flight == 0 || config.frames_in_flight > MAX_FRAMES_IN_FLIGHT {
        let expected = format!("1 to {MAX_FRAMES_IN_FLIGHT}");
        return Err(invalid(what(), "frames_in_flight", expected, config.frames_in_flight));
    }
    let known = TextureUsages::COPY_SRC
        | TextureUsages::COPY_DST
        | TextureUsages::TEXTURE_BINDING
        | TextureUsages::STORAGE_BINDING
        | TextureUsages::RENDER_ATTACHMENT;
    if config.usage.is_empty() || !known.contains(config.usage) {
        let found = format!("{:?}", config.usage);
        return Err(invalid(what(), "usage", "at least one usage, and only implemented ones", found));
    }
    for format in config.view_formats {
        if format.remove_srgb_suffix() != config.format.remove_srgb_suffix() {
            let expected = format!("{:?} or its sRGB sibling", config.format.remove_srgb_suffix());
            return Err(invalid(what(), "view_formats", expected, format!("{format:?}")));
        }
    }
    Ok(())
}

/// Compares a configuration with what the surface offers.
pub(super) fn resolve(
    config: &SurfaceConfig<'_>,
    caps: &SurfaceCapabilities,
    limits: &Limits,
    what: impl Fn() -> String,
) -> Result<Resolved> {
    if !caps.formats.contains(&config.format) {
        let detail = format!("{:?} requested, {:?} available", config.format, caps.formats);
        return Err(unsupported(what(), format!("presentation of {:?}", config.format), detail));
    }
    let missing = config.usage - caps.usages;
    if !missing.is_empty() {
        let detail = format!("{:?} requested, {:?} available", config.usage, caps.usages);
        return Err(unsupported(what(), format!("{missing:?} of presented images"), detail));
    }
    let others = config.view_formats.iter().any(|&format| format != config.format);
    if others && !caps.view_formats {
        let detail = format!("{:?} requested", config.view_formats);
        return Err(unsupported(what(), "views of presented images in other formats", detail));
    }
    let Some(present_mode) = present_mode(config.present_mode, &caps.present_modes) else {
        let detail = format!("{:?} requested, {:?} available", config.present_mode, caps.present_modes);
        return Err(unsupported(what(), format!("present mode {:?}", config.present_mode), detail));
    };
    let Some(alpha_mode) = alpha_mode(config.alpha_mode, &caps.alpha_modes) else {
        let detail = format!("{:?} requested, {:?} available", config.alpha_mode, caps.alpha_modes);
        return Err(unsupported(what(), format!("alpha mode {:?}", config.alpha_mode), detail));
    };
    let images = match config.images {
        0 => caps.min_images.saturating_add(1).min(caps.max_images),
        images if images < caps.min_images || images > caps.max_images => {
            let expected = format!("0, or {} to {}", caps.min_images, caps.max_images);
            return Err(invalid(what(), "images", expected, images));
        }
        images => images,
    };
    Ok(Resolved {
        info: Configured {
            extent: extent(config, caps, limits, what)?,
            format: config.format,
            present_mode,
            alpha_mode,
            frames_in_flight: config.frames_in_flight,
            images,
        },
        usage: config.usage,
        view_formats: config.view_formats.into(),
    })
}

/// The extent of the images. A window that dictates its size wins over the request, which may be older.
fn extent(
    config: &SurfaceConfig<'_>,
    caps: &SurfaceCapabilities,
    limits: &Limits,
    what: impl Fn() -> String,
) -> Result<(u32, u32)> {
    let (least, most) = (caps.min_extent, caps.max_extent);
    if most.0 == 0 || most.1 == 0 {
        return Ok((0, 0));
    }
    let side = limits.max_texture_dimension_2d;
    if config.width.max(config.height) > side {
        let detail = format!("{}x{} requested, {side} available", config.width, config.height);
        return Err(unsupported(what(), "limit max_texture_dimension_2d", detail));
    }
    let clamped = (config.width.clamp(least.0, most.0), config.height.clamp(least.1, most.1));
    if caps.current_extent.is_none() && clamped != (config.width, config.height) {
        let expected = format!("{}x{} to {}x{}", least.0, least.1, most.0, most.1);
        return Err(invalid(what(), "width", expected, format!("{}x{}", config.width, config.height)));
    }
    Ok(clamped)
}

fn present_mode(wanted: PresentMode, available: &[PresentMode]) -> Option<PresentMode> {
    let order: &[PresentMode] = match &wanted {
        PresentMode::AutoVsync => &[PresentMode::FifoRelaxed, PresentMode::Fifo],
        PresentMode::AutoNoVsync => &[PresentMode::Immediate, PresentMode::Mailbox, PresentMode::Fifo],
        other => std::slice::from_ref(other),
    };
    order.iter().copied().find(|mode| available.contains(mode))
}

fn alpha_mode(wanted: CompositeAlphaMode, available: &[CompositeAlphaMode]) -> Option<CompositeAlphaMode> {
    match wanted {
        CompositeAlphaMode::Auto => [CompositeAlphaMode::Opaque, CompositeAlphaMode::Inherit]
            .into_iter()
            .find(|mode| available.contains(mode))
            .or(available.first().copied()),
        other => available.contains(&other).then_some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_modes_take_the_best_that_is_there() {
        use PresentMode::*;
        assert_eq!(present_mode(AutoVsync, &[Fifo, FifoRelaxed]), Some(FifoRelaxed));
        assert_eq!(present_mode(AutoVsync, &[Fifo, Immediate]), Some(Fifo));
        assert_eq!(present_mode(AutoNoVsync, &[Fifo, Mailbox, Immediate]), Some(Immediate));
        assert_eq!(present_mode(AutoNoVsync, &[Fifo, Mailbox]), Some(Mailbox));
        assert_eq!(present_mode(AutoNoVsync, &[Fifo]), Some(Fifo));
        assert_eq!(present_mode(Mailbox, &[Fifo]), None);
        use CompositeAlphaMode as Alpha;
        assert_eq!(alpha_mode(Alpha::Auto, &[Alpha::PreMultiplied, Alpha::Opaque]), Some(Alpha::Opaque));
        assert_eq!(alpha_mode(Alpha::Auto, &[Alpha::PreMultiplied]), Some(Alpha::PreMultiplied));
        assert_eq!(alpha_mode(Alpha::PostMultiplied, &[Alpha::Opaque]), None);
    }
}
