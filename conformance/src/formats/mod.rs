//! Every use of every uncompressed format that the device claims, one fixture a use.
//!
//! A claimed use that cannot be tested is a failure, since nobody could use it either. Unclaimed uses are skipped
//! one by one, except those that every WebGPU device has.

mod codec;
mod colors;
mod depths;
mod samples;
mod storage;
mod table;

use purlin_rhi::Device;
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{TextureFormat, TextureUsages};
use purlin_rhi::{Features, FormatUses};

use crate::kit::wrong;
use crate::{Answer, Outcome};
use codec::{COLORS, Codec, DEPTH_STENCILS, Kind};

pub(crate) use colors::*;
pub(crate) use depths::*;
pub(crate) use samples::*;
pub(crate) use storage::*;
pub(crate) use table::*;

/// The color formats with these uses.
fn colors_with<B: Backend>(device: &Device<B>, uses: FormatUses) -> Vec<(TextureFormat, Codec)> {
    COLORS
        .iter()
        .filter(|format| device.format_uses(**format).contains(uses))
        .filter_map(|format| Some((*format, Codec::of(*format)?)))
        .collect()
}

/// Four channels are the expected ones, as exactly as the format can store them.
fn expect_texel(what: &str, codec: &Codec, found: [f64; 4], expected: [f64; 4]) -> crate::kit::Checked {
    let far = |channel: usize| {
        let distance = (found[channel] - expected[channel]).abs();
        distance.is_nan() || distance > codec.tolerance(channel, expected[channel])
    };
    match (0..4).find(|channel| far(*channel)) {
        None => Ok(()),
        Some(channel) => {
            let most = codec.tolerance(channel, expected[channel]);
            Err(wrong(
                format!("{what}, channel {channel}"),
                format!("{expected:?} within {most}"),
                format!("{found:?}"),
            ))
        }
    }
}

pub(crate) fn what_every_device_has<B: Backend>(device: &mut Device<B>) -> Answer {
    let missing = Features::CORE - device.capabilities().features;
    if !missing.is_empty() {
        // Below WebGPU's level nothing is promised of formats.
        return Ok(Outcome::Unsupported(format!("features of the core tier: {}", missing.names())));
    }
    for format in COLORS.iter().chain(&DEPTH_STENCILS) {
        if !format.required_features().is_empty() {
            continue;
        }
        let guaranteed = format.guaranteed_format_features(wgpu_types::Features::empty());
        let attached =
            if format.is_depth_stencil_format() { FormatUses::DEPTH_STENCIL } else { FormatUses::COLOR };
        let mut needed = FormatUses::empty();
        for (usage, of) in [
            (TextureUsages::TEXTURE_BINDING, FormatUses::SAMPLED),
            (TextureUsages::RENDER_ATTACHMENT, attached),
            (TextureUsages::STORAGE_BINDING, FormatUses::STORAGE),
            (TextureUsages::COPY_SRC, FormatUses::COPY_SRC),
            (TextureUsages::COPY_DST, FormatUses::COPY_DST),
        ] {
            needed.set(of, guaranteed.allowed_usages.contains(usage));
        }
        for (flag, of) in [
            (wgpu_types::TextureFormatFeatureFlags::FILTERABLE, FormatUses::FILTERABLE),
            (wgpu_types::TextureFormatFeatureFlags::BLENDABLE, FormatUses::BLENDABLE),
        ] {
            // Filtering of depth is by comparison only, and what is no attachment is not blended.
            let applies = of != FormatUses::BLENDABLE || needed.contains(FormatUses::COLOR);
            needed.set(of, guaranteed.flags.contains(flag) && applies && !format.is_depth_stencil_format());
        }
        if *format == TextureFormat::Depth24Plus {
            // Its texels have no layout that a program could know.
            needed -= FormatUses::COPY_SRC | FormatUses::COPY_DST;
        }
        let found = device.format_uses(*format);
        if !found.contains(needed) {
            return Err(wrong(format!("uses of {format:?}"), needed.names(), found.names()));
        }
    }
    Ok(Outcome::Passed)
}
