//! Frames of a known shape, for what a graph does with their textures: part of this crate's tests and of the benches.

use purlin_graph::{Graph, TextureVersion, TransientTexture};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{ShaderStages, TextureFormat};
use purlin_rhi::{ClearValue, LoadOp};

pub const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;
pub const HDR: TextureFormat = TextureFormat::Rgba16Float;
const ONE: TextureFormat = TextureFormat::R8Unorm;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

/// A pass that samples textures and fills another.
pub fn filter<B: Backend>(
    graph: &mut Graph<'_, B>,
    label: &str,
    from: &[&TextureVersion],
    to: &mut TextureVersion,
) {
    let mut pass = graph.render(label).color(0, to, LoadOp::DontCare);
    for from in from {
        pass = pass.sampled(*from, ShaderStages::FRAGMENT);
    }
    pass.clear();
}

/// Shadows, a G-buffer, ambient occlusion, lighting, temporal antialiasing with a history, depth of field, bloom, grading,
/// sharpening, and a screen. Imports are the history, the next one, and the screen.
pub fn deferred<B: Backend>(
    graph: &mut Graph<'_, B>,
    (width, height): (u32, u32),
    imports: &mut [TextureVersion; 3],
) {
    let mut make = |label: &str, format, shift: u32| {
        graph.texture(label, TransientTexture::d2(format, (width >> shift).max(1), (height >> shift).max(1)))
    };
    let [mut depth, mut albedo, mut normal, mut material, mut motion] = [
        ("depth", DEPTH),
        ("albedo", COLOR),
        ("normal", HDR),
        ("material", COLOR),
        ("motion", TextureFormat::Rg16Float),
    ]
    .map(|(label, format)| make(label, format, 0));
    let [mut occlusion, mut blurred] = ["occlusion", "occlusion blurred"].map(|label| make(label, ONE, 1));
    let [mut lit, mut resolved, mut focused, mut combined] =
        ["lit", "resolved", "focused", "combined"].map(|label| make(label, HDR, 0));
    let mut bloom: Vec<_> = (1..7).map(|shift| make("bloom", HDR, shift)).collect();
    let mut up: Vec<_> = (1..6).map(|shift| make("bloom up", HDR, shift)).collect();
    let [mut graded, mut sharpened] = ["graded", "sharpened"].map(|label| make(label, COLOR, 0));
    let mut shadow = graph.texture("shadow", TransientTexture::d2(DEPTH, width, width));
    let [history, next, screen] = imports;
    graph.render("shadow").depth(&mut shadow, LoadOp::Clear(1.0)).clear();
    graph
        .render("gbuffer")
        .color(0, &mut albedo, BLACK)
        .color(1, &mut normal, BLACK)
        .color(2, &mut material, BLACK)
        .color(3, &mut motion, BLACK)
        .depth(&mut depth, LoadOp::Clear(1.0))
        .clear();
    filter(graph, "occlusion", &[&depth, &normal], &mut occlusion);
    filter(graph, "occlusion blur", &[&occlusion], &mut blurred);
    filter(graph, "lighting", &[&albedo, &normal, &material, &depth, &blurred, &shadow], &mut lit);
    filter(graph, "resolve", &[&lit, history, &motion], &mut resolved);
    filter(graph, "keep", &[&resolved], next);
    filter(graph, "focus", &[&resolved, &depth], &mut focused);
    filter(graph, "bloom", &[&focused], &mut bloom[0]);
    for mip in 1..bloom.len() {
        let (larger, smaller) = bloom.split_at_mut(mip);
        filter(graph, "bloom down", &[&larger[mip - 1]], &mut smaller[0]);
    }
    for mip in (0..up.len()).rev() {
        let (larger, smaller) = up.split_at_mut(mip + 1);
        let below = smaller.first().unwrap_or(&bloom[mip + 1]);
        filter(graph, "bloom up", &[below, &bloom[mip]], &mut larger[mip]);
    }
    filter(graph, "combine", &[&focused, &up[0]], &mut combined);
    filter(graph, "grade", &[&combined], &mut graded);
    filter(graph, "sharpen", &[&graded], &mut sharpened);
    filter(graph, "present", &[&sharpened], screen);
}

/// Filters at changing sizes, each of the last one's picture.
pub fn post_chain<B: Backend>(
    graph: &mut Graph<'_, B>,
    (width, height): (u32, u32),
    screen: &mut TextureVersion,
) {
    let mut last = graph.texture("scene", TransientTexture::d2(HDR, width, height));
    graph.render("scene").color(0, &mut last, BLACK).clear();
    for step in 0..40 {
        let (format, shift) = [(HDR, 0), (COLOR, 0), (HDR, 1), (ONE, 0), (HDR, 2)][step % 5];
        let mut next = graph.texture("step", TransientTexture::d2(format, width >> shift, height >> shift));
        filter(graph, "step", &[&last], &mut next);
        last = next;
    }
    filter(graph, "present", &[&last], screen);
}
