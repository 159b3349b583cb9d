//! Tests of planning. A [`World`] is a ledger, a planner and the passes since the last plan; plans are compared as
//! text, a line for each barrier, in the abbreviations of the barrier oracle:
//!
//! - `M CS/SW -> CS/SR` is a memory barrier, `I t0 mip 1 : CS/SW -> FS/SS : G>RO` a texture barrier.
//! - Stages: `DI IDX VAI VS FS E L CAO CS X HOST`. Accesses: `SW SR` storage, `SS` sampled, `CW CR` color, `DW DR` depth
//!   and stencil, `UR VR IXR ICR` uniform, vertex, index, indirect, `TW TR` transfer, `HR` host; `0` is none.
//! - Layouts: `U G CA DA DRO RO TS TD PS`.

mod cases;
mod checker;
mod direct;
mod groups;
mod oracle;
mod properties;
mod shapes;

use super::*;
use crate::handle::{Buffer, DeviceTag, Texture};
use crate::types::ShaderStages;

const VS: ShaderStages = ShaderStages::VERTEX;
const FS: ShaderStages = ShaderStages::FRAGMENT;
const CS: ShaderStages = ShaderStages::COMPUTE;

/// The size of every buffer in these tests, unless a test says otherwise.
const SIZE: u64 = 256;

/// Plans the passes described since the last plan and compares the batches, one `index => [lines]` each; batches that
/// are not listed are empty.
macro_rules! assert_plan {
    ($world:expr $(, $pass:literal => [$($line:literal),* $(,)?])* $(,)?) => {{
        let found = $world.planned();
        #[allow(unused_mut)]
        let mut expected = vec![Vec::<String>::new(); found.len()];
        $(expected[$pass] = vec![$($line.to_string()),*];)*
        assert_eq!(found, expected);
    }};
}
use assert_plan;

struct World {
    ledger: Ledger,
    planner: Planner,
    passes: PassList,
    plan: Plan,
}

impl World {
    fn new(mode: HazardMode) -> Self {
        World {
            ledger: Ledger::new(),
            planner: Planner::new(mode),
            passes: PassList::new(),
            plan: Plan::with_reasons(),
        }
    }

    /// A world in fine mode with this many buffers, all written by the CPU.
    fn buffers(count: u32) -> Self {
        let mut world = World::new(HazardMode::Fine);
        for slot in 0..count {
            world.ledger.add_buffer(slot, SIZE);
            assert!(world.ledger.define_buffer(slot, 0, SIZE));
        }
        world
    }

    /// A world in fine mode with one fresh texture.
    fn texture(aspects: Aspects, mips: u32, layers: u32) -> Self {
        let mut world = World::new(HazardMode::Fine);
        world.ledger.add_texture(0, aspects, mips, layers);
        world
    }

    fn pass<const N: usize>(&mut self, uses: [ResourceUse; N]) -> &mut Self {
        for usage in uses {
            self.passes.push_use(usage);
        }
        self.passes.end_pass();
        self
    }

    fn try_plan(&mut self) -> Result<(), PlanError> {
        self.plan.clear();
        let result = self.planner.plan(&mut self.ledger, &self.passes, &mut self.plan);
        self.passes.begin();
        result
    }

    fn planned(&mut self) -> Vec<Vec<String>> {
        self.try_plan().unwrap();
        (0..self.plan.len()).map(|index| lines(self.plan.batch(index))).collect()
    }

    /// Plans and commits, whatever the barriers.
    fn run(&mut self) {
        self.try_plan().unwrap();
        self.commit(1);
    }

    fn commit(&mut self, ordinal: u64) {
        self.planner.commit(&mut self.ledger, ordinal);
    }
}

fn buffer(slot: u32) -> Buffer {
    Buffer::new(DeviceTag(1), slot, 1)
}

fn texture(slot: u32) -> Texture {
    Texture::new(DeviceTag(1), slot, 1)
}

/// A use of a whole buffer.
fn b(slot: u32, usage: BufferUse) -> ResourceUse {
    bytes(slot, 0, SIZE, usage)
}

fn bytes(slot: u32, offset: u64, size: u64, usage: BufferUse) -> ResourceUse {
    ResourceUse::Buffer { buffer: buffer(slot), offset, size, usage }
}

/// A use of a single-mip, single-layer color texture.
fn t(slot: u32, usage: TextureUse) -> ResourceUse {
    sub(slot, color(0..1, 0..1), usage)
}

/// A use of a single-mip, single-layer depth texture.
fn d(slot: u32, usage: TextureUse) -> ResourceUse {
    sub(slot, range(Aspects::DEPTH, 0..1, 0..1), usage)
}

fn sub(slot: u32, range: TextureRange, usage: TextureUse) -> ResourceUse {
    ResourceUse::Texture { texture: texture(slot), range, usage }
}

fn color(mips: std::ops::Range<u32>, layers: std::ops::Range<u32>) -> TextureRange {
    range(Aspects::COLOR, mips, layers)
}

fn range(aspects: Aspects, mips: std::ops::Range<u32>, layers: std::ops::Range<u32>) -> TextureRange {
    TextureRange {
        aspects,
        base_mip: mips.start,
        mips: mips.end - mips.start,
        base_layer: layers.start,
        layers: layers.end - layers.start,
    }
}

fn lines(batch: BarrierBatch<'_>) -> Vec<String> {
    let memory =
        batch.memory.iter().map(|barrier| format!("M {} -> {}", scope(barrier.src), scope(barrier.dst)));
    let textures = batch.textures.iter().map(|barrier| {
        let TextureRange { aspects, base_mip, mips, base_layer, layers } = barrier.range;
        let span = |name: &str, base: u32, count: u32| match (base, count) {
            (0, 1) => String::new(),
            (_, 1) => format!(" {name} {base}"),
            _ => format!(" {name} {base}..{}", base + count),
        };
        let aspects = match aspects.bits() {
            1 => "",
            2 => " depth",
            4 => " stencil",
            _ => " both",
        };
        format!(
            "I t{}{aspects}{}{} : {} -> {} : {}>{}",
            barrier.texture,
            span("mip", base_mip, mips),
            span("layer", base_layer, layers),
            scope(barrier.src),
            scope(barrier.dst),
            layout(barrier.old),
            layout(barrier.new)
        )
    });
    memory.chain(textures).collect()
}

fn scope(scope: Scope) -> String {
    const STAGES: [&str; 11] = ["DI", "IDX", "VAI", "VS", "FS", "E", "L", "CAO", "CS", "X", "HOST"];
    const ACCESS: [&str; 14] =
        ["ICR", "IXR", "VR", "UR", "SS", "SR", "SW", "CR", "CW", "DR", "DW", "TR", "TW", "HR"];
    fn names(bits: u16, names: &[&str]) -> String {
        let set: Vec<&str> =
            names.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name).collect();
        if set.is_empty() { "0".into() } else { set.join(",") }
    }
    format!("{}/{}", names(scope.stages.bits(), &STAGES), names(scope.access.bits(), &ACCESS))
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Undefined => "U",
        Layout::General => "G",
        Layout::ColorAttachment => "CA",
        Layout::DepthStencilAttachment => "DA",
        Layout::DepthStencilReadOnly => "DRO",
        Layout::ShaderRead => "RO",
        Layout::CopySrc => "TS",
        Layout::CopyDst => "TD",
        Layout::Present => "PS",
    }
}
