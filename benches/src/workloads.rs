//! The workloads: their names, their sizes, and the data that all contenders work on.

use crate::data;

/// One workload with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Draws of small triangles into 1280x720.
    Draws {
        /// Whether every draw has its own uniform and every tenth its own material; otherwise nothing changes.
        switching: bool,
    },
    /// Draws into one target that several threads record. A draw moves only its first instance, so that no driver
    /// keeps memory for each; every tenth switches the material. They cover each cell several times in different
    /// colors, so the order of the parts shows.
    Threads {
        /// How many parts, each recorded by one thread; a machine with fewer runs them in turn.
        threads: u32,
    },
    /// The draws of wgpu's `renderpass` benchmark, spread over this many passes.
    RenderPass {
        /// How many.
        passes: u32,
    },
    /// The same draws in one pass, with one table of all textures, of which each draw takes its own by its instance.
    Bindless,
    /// The dispatches of wgpu's `computepass` benchmark in one pass.
    ComputePass,
    /// Passes of one dispatch that alternate two buffers, a barrier before each.
    Chain,
    /// The same, which Purlin declares as a graph; the others have none.
    ChainGraph,
    /// Passes of one dispatch that share nothing.
    Independent,
    /// A scene, this many overlay passes on it, and a composite.
    Overlays {
        /// How many.
        count: u32,
    },
    /// The same, which Purlin declares as a graph.
    OverlaysGraph {
        /// How many.
        count: u32,
        /// Whether the graph records the overlays into the scene's pass. The others draw them one by one.
        merge: bool,
    },
    /// The demo's frame, Purlin's alone.
    Demo,
    /// A graph of this many passes on the null backend, Purlin's alone.
    Compile {
        /// How many.
        passes: u32,
        /// Whether each frame takes over what the last one has found out.
        reuse: bool,
    },
    /// A graph whose textures lie over each other, Purlin's alone: what they take.
    Alias(Aliased),
    /// Creating and dropping groups of one slice of a uniform buffer each.
    Slices,
    /// Creating and dropping one group with a dynamic offset.
    Dynamic,
    /// Creating and dropping groups of five sampled textures each.
    Sampled,
    /// Creating and dropping groups of one array of this many sampled textures each.
    Arrays {
        /// How many.
        textures: u32,
    },
    /// Creating and dropping small buffers.
    Buffers,
    /// Creating and dropping small textures.
    Textures,
    /// Creating and dropping large buffers.
    LargeBuffers,
}

/// A frame whose textures are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aliased {
    /// A deferred frame at 1280x720.
    Deferred720,
    /// The same at 3840x2160.
    Deferred2160,
    /// Forty filters in a row.
    PostChain,
}

/// What counts are divided by: 1, or what `PURLIN_BENCH_SCALE` said when this was built. Figures of a scaled build say
/// so and compare with nothing; it exists to run every workload under the validation layer in bearable time.
pub const SCALE: u32 = match option_env!("PURLIN_BENCH_SCALE") {
    None => 1,
    Some(text) => match u32::from_str_radix(text, 10) {
        Ok(scale) if scale == 1 || scale == 10 || scale == 100 => scale,
        _ => panic!("PURLIN_BENCH_SCALE must be 1, 10 or 100"),
    },
};
/// Draws of `draws10k` and `renderpass`.
pub const DRAWS: u32 = 10_000 / SCALE;
/// Instances of a small triangle that fill the target of `draws10k`.
pub const THREADS_CELLS: u32 = (DRAWS_TARGET.0 / data::STEP) * (DRAWS_TARGET.1 / data::STEP);
/// Materials of `draws10k`.
pub const MATERIALS: u32 = 100;
/// Draws with one material in a row.
pub const DRAWS_PER_MATERIAL: u32 = 10;
/// The target of `draws10k`.
pub const DRAWS_TARGET: (u32, u32) = (1280, 720);
/// Textures of a draw of `renderpass`.
pub const TEXTURES_PER_DRAW: u32 = 7;
/// Dispatches of `computepass`.
pub const DISPATCHES: u32 = 10_000 / SCALE;
/// Every so many dispatches, one is part of the result of `computepass`.
pub const DISPATCH_SAMPLE: u32 = 199;
/// Passes of `compute_chain`.
pub const CHAIN: u32 = 1_000 / SCALE;
/// Passes of `compute_chain/independent`.
pub const INDEPENDENT: u32 = 16;
/// Values of a buffer of `compute_chain`.
pub const CHAIN_VALUES: u32 = 64;
/// The target of `overlays`.
pub const OVERLAYS_TARGET: (u32, u32) = (96, 64);
/// Instances of the scene of `overlays`.
pub const SCENE_INSTANCES: u32 = 96;
/// Texels on a side of the scene's texture.
pub const SCENE_TEXTURE: u32 = 8;
/// Groups of `groups/32` and of `groups/5-textures`.
pub const SLICES: u32 = 32;
/// Textures of a group of `groups/5-textures`.
pub const TEXTURES_PER_GROUP: u32 = 5;
/// Bytes from one slice of a uniform buffer to the next: what every device accepts.
pub const STRIDE: u32 = 256;
/// Buffers and textures of `resources`.
pub const SMALL: u32 = 10_000 / SCALE;
/// Bytes of a small buffer.
pub const SMALL_BYTES: u32 = 256;
/// Texels on a side of a small texture.
pub const SMALL_SIDE: u32 = 4;
/// Large buffers of `resources`.
pub const LARGE: u32 = 8;
/// Bytes of a large buffer.
pub const LARGE_BYTES: u64 = 256 << 20;

const LIST: &[(&str, Workload)] = &[
    ("draws10k", Workload::Draws { switching: true }),
    ("draws10k/static", Workload::Draws { switching: false }),
    ("threads/1", Workload::Threads { threads: 1 }),
    ("threads/2", Workload::Threads { threads: 2 }),
    ("threads/4", Workload::Threads { threads: 4 }),
    ("threads/8", Workload::Threads { threads: 8 }),
    ("threads/16", Workload::Threads { threads: 16 }),
    ("renderpass/1", Workload::RenderPass { passes: 1 }),
    ("renderpass/2", Workload::RenderPass { passes: 2 }),
    ("renderpass/4", Workload::RenderPass { passes: 4 }),
    ("renderpass/8", Workload::RenderPass { passes: 8 }),
    ("renderpass/bindless", Workload::Bindless),
    ("computepass", Workload::ComputePass),
    ("compute_chain", Workload::Chain),
    ("compute_chain/graph", Workload::ChainGraph),
    ("compute_chain/independent", Workload::Independent),
    ("overlays/1", Workload::Overlays { count: 1 }),
    ("overlays/8", Workload::Overlays { count: 8 }),
    ("overlays/16", Workload::Overlays { count: 16 }),
    ("overlays/31", Workload::Overlays { count: 31 }),
    ("overlays/1-graph", Workload::OverlaysGraph { count: 1, merge: false }),
    ("overlays/1-merged", Workload::OverlaysGraph { count: 1, merge: true }),
    ("overlays/8-graph", Workload::OverlaysGraph { count: 8, merge: false }),
    ("overlays/8-merged", Workload::OverlaysGraph { count: 8, merge: true }),
    ("overlays/16-graph", Workload::OverlaysGraph { count: 16, merge: false }),
    ("overlays/16-merged", Workload::OverlaysGraph { count: 16, merge: true }),
    ("overlays/31-graph", Workload::OverlaysGraph { count: 31, merge: false }),
    ("overlays/31-merged", Workload::OverlaysGraph { count: 31, merge: true }),
    ("groups/32", Workload::Slices),
    ("groups/1-dynamic", Workload::Dynamic),
    ("groups/5-textures", Workload::Sampled),
    ("groups/50-textures", Workload::Arrays { textures: 50 }),
    ("groups/500-textures", Workload::Arrays { textures: 500 }),
    ("groups/5000-textures", Workload::Arrays { textures: 5_000 }),
    ("resources/buffers", Workload::Buffers),
    ("resources/textures", Workload::Textures),
    ("resources/large", Workload::LargeBuffers),
    ("demo", Workload::Demo),
    ("graph_compile_32", Workload::Compile { passes: 32, reuse: false }),
    ("graph_compile_1000", Workload::Compile { passes: 1_000, reuse: false }),
    ("graph_compile_10000", Workload::Compile { passes: 10_000, reuse: false }),
    ("alias_deferred_720p", Workload::Alias(Aliased::Deferred720)),
    ("alias_deferred_2160p", Workload::Alias(Aliased::Deferred2160)),
    ("alias_postchain", Workload::Alias(Aliased::PostChain)),
    ("graph_cached_32", Workload::Compile { passes: 32, reuse: true }),
];

impl Workload {
    /// Every workload that can run.
    pub fn all() -> impl Iterator<Item = Workload> {
        LIST.iter().map(|(_, workload)| *workload)
    }

    /// The name in reports: a family, and after a slash what varies in it.
    pub fn name(self) -> &'static str {
        LIST.iter().find(|(_, workload)| *workload == self).map_or("unlisted", |(name, _)| name)
    }

    /// The workloads that an argument names: one of them, or a family.
    ///
    /// # Errors
    /// One line that says why there is no such workload.
    pub fn named(argument: &str) -> Result<Vec<Workload>, String> {
        let belongs = |name: &str| {
            name == argument || name.strip_prefix(argument).is_some_and(|rest| rest.starts_with('/'))
        };
        let found: Vec<_> = LIST.iter().filter(|(name, _)| belongs(name)).map(|(_, w)| *w).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut families: Vec<_> = LIST.iter().map(|(name, _)| family(name)).collect();
        families.dedup();
        let close = closest(argument, LIST.iter().map(|(name, _)| *name).chain(families.iter().copied()));
        let meant = close.map_or(String::new(), |name| format!(", did you mean `{name}`?"));
        let separator = if meant.is_empty() { ";" } else { "" };
        Err(format!("no workload `{argument}`{meant}{separator} the workloads are {}", families.join(", ")))
    }

    /// Whether it needs arrays of bindings.
    pub fn has_arrays(self) -> bool {
        matches!(self, Workload::Bindless | Workload::Arrays { .. })
    }

    /// Whether a contender has something to run in it.
    pub fn has(self, contender: &str) -> bool {
        !matches!(self, Workload::Demo | Workload::Compile { .. } | Workload::Alias(_))
            || contender == "purlin"
    }

    /// The result, where it can be computed without a GPU.
    pub fn expected(self) -> Option<Vec<u8>> {
        match self {
            Workload::RenderPass { .. } | Workload::Bindless => Some(data::renderpass_expected()),
            Workload::ComputePass => Some(data::computepass_expected()),
            Workload::Chain | Workload::ChainGraph => Some(data::chain_expected(CHAIN)),
            Workload::Independent => Some(data::independent_expected()),
            Workload::Slices => Some(data::slices_bytes(SLICES)),
            Workload::Dynamic => Some(data::slices_bytes(SLICES)),
            Workload::Sampled => Some(data::group_sums(SLICES, TEXTURES_PER_GROUP)),
            Workload::Arrays { textures } => Some(data::group_sums(array_groups(textures), textures)),
            Workload::Buffers => Some(data::pattern(SMALL_BYTES as usize)),
            Workload::Textures => Some(data::pattern((SMALL_SIDE * SMALL_SIDE * 4) as usize)),
            Workload::LargeBuffers => Some(data::pattern(SMALL_BYTES as usize)),
            Workload::Draws { .. } | Workload::Threads { .. } | Workload::Demo => None,
            Workload::Compile { .. } | Workload::Alias(_) => None,
            Workload::Overlays { .. } | Workload::OverlaysGraph { .. } => None,
        }
    }

    /// What a single unit of the workload is, and how many a frame has: for figures per draw and per pass.
    pub fn units(self, software: bool) -> (&'static str, u32) {
        match self {
            Workload::Threads { .. } => ("draw", thread_draws(software)),
            Workload::Draws { .. } | Workload::RenderPass { .. } | Workload::Bindless => ("draw", DRAWS),
            Workload::ComputePass => ("dispatch", DISPATCHES),
            Workload::Chain | Workload::ChainGraph => ("pass", CHAIN),
            Workload::Independent => ("pass", INDEPENDENT),
            Workload::Overlays { count } | Workload::OverlaysGraph { count, .. } => ("pass", count + 2),
            Workload::Demo | Workload::Alias(_) => ("frame", 1),
            Workload::Compile { passes, .. } => ("pass", passes),
            Workload::Slices | Workload::Sampled => ("group", SLICES),
            Workload::Arrays { textures } => ("group", array_groups(textures)),
            Workload::Dynamic => ("group", 1),
            Workload::Buffers => ("buffer", SMALL),
            Workload::Textures => ("texture", SMALL),
            Workload::LargeBuffers => ("buffer", LARGE),
        }
    }
}

/// Groups of an array of this many textures each.
pub fn array_groups(textures: u32) -> u32 {
    (SLICES * 50 / textures).max(1)
}

/// Draws of `threads`: fewer where the processor draws them too.
pub fn thread_draws(software: bool) -> u32 {
    (if software { 40_000 } else { 100_000 }) / SCALE
}

/// The draws that one of several threads records.
pub fn thread_part(thread: u32, threads: u32, draws: u32) -> std::ops::Range<u32> {
    let each = draws.div_ceil(threads);
    (thread * each).min(draws)..((thread + 1) * each).min(draws)
}

/// The name with the fewest changes of a letter, if they are few enough for a slip.
fn closest<'n>(argument: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.map(|name| (distance(argument, name), name)).min_by_key(|(changes, _)| *changes)?;
    (near.0 <= near.1.len().div_ceil(3)).then_some(near.1)
}

/// Letters to add, drop or change to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (done, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], done + 1);
        for (index, b) in to.bytes().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[index + 1];
            row[index + 1] = change.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

fn family(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_names_all_of_it_and_a_variant_itself() {
        assert_eq!(Workload::named("overlays").map(|list| list.len()), Ok(12));
        assert_eq!(Workload::named("overlays/8"), Ok(vec![Workload::Overlays { count: 8 }]));
        assert_eq!(Workload::named("draws10k").map(|list| list.len()), Ok(2));
    }

    #[test]
    fn unknown_workloads_are_one_line() {
        for argument in ["draw", "", "threads/3", "renderpass/3", "groups/51-textures"] {
            let Err(line) = Workload::named(argument) else { panic!("`{argument}` was accepted") };
            assert!(!line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn threads_share_all_draws() {
        for threads in [1, 2, 3, 16] {
            let mut next = 0;
            for thread in 0..threads {
                let part = thread_part(thread, threads, 1000);
                assert_eq!(part.start, next);
                next = part.end;
            }
            assert_eq!(next, 1000);
        }
    }

    #[test]
    fn a_slip_is_answered_with_what_was_meant() {
        let meant = [
            ("draw10k", "draws10k"),
            ("overlay/31", "overlays/31"),
            ("computechain", "compute_chain"),
            ("rendrpass/2", "renderpass/2"),
        ];
        for (argument, name) in meant {
            let Err(line) = Workload::named(argument) else { panic!("`{argument}` was accepted") };
            assert!(line.contains(&format!("did you mean `{name}`?")), "{line}");
        }
        assert!(Workload::named("nonsense").is_err_and(|line| !line.contains("mean")));
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
    }

    #[test]
    fn every_workload_has_a_name_of_its_own() {
        for workload in Workload::all() {
            assert_eq!(Workload::named(workload.name()).map(|list| list[0]), Ok(workload));
        }
    }
}
