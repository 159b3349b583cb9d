//! Tests of the compiler on the null backend: shapes with known answers, errors by name, and lives of closures.

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/reference_frames/mod.rs"]
mod reference_frames;

mod aliasing;
mod bodies;
mod culling;
mod errors;
mod hazards;
mod merging;
mod pooling;
mod queries;
mod report;
mod reuse;
mod samples;
mod sinks;
mod windows;

use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::plan::{BarrierIndex, Hazard, Layout};
use purlin_rhi::types::ShaderStages;
use purlin_rhi::{ClearValue, LoadOp};

use crate::context::Context;
use crate::phase::part_words;
use crate::{Graph, GraphArena, GraphError, TransientBuffer, TransientTexture, bind};
use common::{COLOR, Fixture, Handles};

const BLACK: LoadOp<ClearValue> = LoadOp::Clear(ClearValue::Float([0.0; 4]));

/// An executing device, its handles, and an arena that keeps reasons.
fn setup() -> (Fixture, Handles, GraphArena<Null>) {
    let fixture = Fixture::new(NullConfig::executing());
    let handles = fixture.handles();
    let mut arena = GraphArena::new();
    arena.set_report(true);
    (fixture, handles, arena)
}

/// The live passes of the last graph in order, each with its barriers.
fn plan_words(context: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    for (position, &pass) in context.order.iter().enumerate() {
        let mut line = context.declared.pass_name(pass).to_string();
        let start = context.uses_of(pass).start;
        let Some(scope) = context.scope_at(position) else {
            lines.push(line + " | merged");
            continue;
        };
        let batch = context.plan.batch(scope);
        for reason in context.plan.reasons(scope) {
            let usage = &context.uses[start + reason.usage as usize];
            let resource = &context.resources[usage.resource as usize];
            let name = context.declared.resource_name(usage.resource);
            let hazard = match reason.hazard {
                Hazard::ReadAfterWrite => "RAW",
                Hazard::WriteAfterRead => "WAR",
                Hazard::WriteAfterWrite => "WAW",
                Hazard::Layout => "layout",
                Hazard::Init => "init",
            };
            let part = part_words(&resource.shape, &reason.part);
            let part = if part == "all" { String::new() } else { format!(" {part}") };
            let layouts = match reason.barrier {
                BarrierIndex::Texture(index) => {
                    let barrier = &batch.textures[index as usize];
                    format!(" {}>{}", short(barrier.old), short(barrier.new))
                }
                BarrierIndex::Memory(_) => String::new(),
            };
            line.push_str(&format!(" | {hazard} {name}{part}{layouts}"));
        }
        lines.push(line);
    }
    lines
}

fn short(layout: Layout) -> &'static str {
    match layout {
        Layout::Undefined => "none",
        Layout::General => "general",
        Layout::ColorAttachment => "color",
        Layout::DepthStencilAttachment => "depth",
        Layout::DepthStencilReadOnly => "depth-read",
        Layout::ShaderRead => "sampled",
        Layout::CopySrc => "src",
        Layout::CopyDst => "dst",
        Layout::Present => "present",
    }
}

/// Compares the live passes and their barriers with the expected lines.
macro_rules! assert_plan {
    ($arena:expr, $($line:literal),* $(,)?) => {
        let expected: &[&str] = &[$($line),*];
        assert_eq!($crate::tests::plan_words(&$arena.context), expected);
    };
}
use assert_plan;

/// The names of the live passes.
fn live(arena: &GraphArena<Null>) -> Vec<&str> {
    let context = &arena.context;
    context.order.iter().map(|&pass| context.declared.pass_name(pass)).collect()
}

/// The edges as `from>to why resource`.
fn edges(arena: &GraphArena<Null>) -> Vec<String> {
    let context = &arena.context;
    let words = |edge: &crate::context::Edge| {
        let hazard = match edge.hazard {
            Hazard::ReadAfterWrite => "RAW",
            Hazard::WriteAfterRead => "WAR",
            _ => "WAW",
        };
        let name = |pass| context.declared.pass_name(pass);
        format!("{}>{} {hazard}", name(edge.from), name(edge.to))
    };
    context.edges.iter().map(words).collect()
}

fn target(graph: &mut Graph<'_, Null>, label: &'static str) -> crate::TextureVersion {
    graph.texture(label, TransientTexture::d2(COLOR, 8, 8))
}

const FRAGMENT: ShaderStages = ShaderStages::FRAGMENT;
