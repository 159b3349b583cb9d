//! What one draw, pass, group or buffer costs in instructions, counted by callgrind on the null backend.
//!
//! `cargo xtask bench --instructions` runs this program and compares. It does each unit's work in two sizes and names
//! each on a line of its own, `unit<TAB>count`; callgrind counts only inside [`counted_region`] and writes its totals
//! each time that function returns. The difference of the two totals over the difference of the counts is the cost of
//! one more unit: what a frame, a recorder or a pass costs once cancels out.
//!
//! The null backend has neither log nor execution here: a call of it is an addition, so the figures are the layers above.
#![forbid(unsafe_code)]

mod frames;
mod lifetimes;
mod passes;
mod world;

use std::process::ExitCode;

/// What can go wrong is refused by the device or by the graph.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// One frame or round of a unit's work; it owns everything that the work needs.
type Body = Box<dyn FnMut() -> Outcome<()>>;

/// A unit of work, and how to prepare some number of it.
struct Unit {
    name: &'static str,
    /// The smaller count; the larger is twice it.
    count: u32,
    /// Units in each that is counted: passes of a frame.
    each: u32,
    prepare: fn(u32) -> Outcome<Body>,
}

const fn unit(name: &'static str, count: u32, prepare: fn(u32) -> Outcome<Body>) -> Unit {
    Unit { name, count, each: 1, prepare }
}

const UNITS: &[Unit] = &[
    unit("draw", 1000, passes::plain),
    unit("draw, dynamic offset, group switch every 10", 1000, passes::dynamic),
    unit("draw, own group, 2 vertex buffers, index buffer", 1000, passes::own),
    unit("draw of a batch", 1000, passes::batched_plain),
    unit("dispatch, own group of 4 tracked writes", 500, passes::dispatches),
    unit("dispatch, own group declared as a whole", 500, passes::dispatches_by_group),
    unit("compute pass of a chain", 500, passes::chain),
    unit("raster pass that loads and stores", 500, passes::overlays),
    unit("group of a uniform, created and dropped", 500, lifetimes::uniform_groups),
    unit("group of 7 textures, created and dropped", 500, lifetimes::texture_groups),
    unit("buffer, created and dropped", 500, lifetimes::buffers),
    unit("texture with a view, created and dropped", 500, lifetimes::textures),
    unit("graph: compute pass of a chain", 500, frames::chain),
    unit("graph: raster pass that loads and stores", 200, frames::overlays),
    Unit { name: "graph: pass of a frame of 20", count: 20, each: frames::PASSES, prepare: frames::frames },
    unit("graph: compute pass of a chain, compiled anew", 500, frames::compiled_chain),
    unit("graph: raster pass that loads and stores, compiled anew", 200, frames::compiled_overlays),
    Unit {
        name: "graph: pass of a frame of 20, compiled anew",
        count: 20,
        each: frames::PASSES,
        prepare: frames::compiled_frames,
    },
];

/// Frames before the counted one: pools are filled, and the planner has seen a repeated frame.
const WARM_UP: u32 = 6;

fn main() -> ExitCode {
    for unit in UNITS {
        for count in [unit.count, unit.count * 2] {
            if let Err(error) = run(unit, count) {
                eprintln!("error: {}, {count} of them: {error}", unit.name);
                return ExitCode::FAILURE;
            }
            println!("{}\t{}", unit.name, count * unit.each);
        }
    }
    ExitCode::SUCCESS
}

fn run(unit: &Unit, count: u32) -> Outcome<()> {
    let mut body = (unit.prepare)(count)?;
    for _ in 0..WARM_UP {
        body()?;
    }
    counted_region(&mut *body)
}

/// Callgrind knows this function by its name, and notices that it returns: a jump into the body would hide that.
#[inline(never)]
fn counted_region(body: &mut dyn FnMut() -> Outcome<()>) -> Outcome<()> {
    std::hint::black_box(body())
}
