//! Random graphs against a serial model: the bytes are the same under every combination of switches, and nothing
//! panics. The null backend executes copies and clears and checks the layout of every texture it touches.

mod common;

use common::{COLOR, Fixture};
use proptest::prelude::*;
use purlin_graph::{Graph, GraphArena, GraphError, HazardMode, ReadId, TransientBuffer, TransientTexture};
use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::{Buffer, ClearValue, LoadOp, TexelLayout};

const BUFFERS: usize = 4;
const WORDS: u64 = 8;
const BYTES: u64 = WORDS * 4;
const TEXTURES: usize = 3;
/// Textures of 4x4 texels with two mips.
const SIDE: u32 = 4;

#[derive(Debug, Clone, Copy)]
enum Step {
    Clear { buffer: usize, start: u64, words: u64 },
    Copy { from: usize, start: u64, to: usize, at: u64, words: u64 },
    Seed { buffer: usize, start: u64, words: u64 },
    ClearTexture { texture: usize, mip: u32, shade: u8 },
    LoadTexture { texture: usize, mip: u32 },
    CopyTexture { from: usize, to: usize, mip: u32 },
    ReadBuffer { buffer: usize },
    ReadTexture { texture: usize, mip: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (0..WORDS).prop_flat_map(|start| (Just(start), 1..=WORDS - start));
    let buffer = 0..BUFFERS;
    let texture = 0..TEXTURES;
    prop_oneof![
        (buffer.clone(), range()).prop_map(|(buffer, (start, words))| Step::Clear { buffer, start, words }),
        (buffer.clone(), buffer.clone(), range(), 0..WORDS).prop_map(|(from, to, (start, words), at)| {
            Step::Copy { from, start, to, at: at.min(WORDS - words), words }
        }),
        (buffer.clone(), range()).prop_map(|(buffer, (start, words))| Step::Seed { buffer, start, words }),
        (texture.clone(), 0..2u32, any::<u8>()).prop_map(|(texture, mip, shade)| Step::ClearTexture {
            texture,
            mip,
            shade
        }),
        (texture.clone(), 0..2u32).prop_map(|(texture, mip)| Step::LoadTexture { texture, mip }),
        (texture.clone(), texture.clone(), 0..2u32).prop_map(|(from, to, mip)| Step::CopyTexture {
            from,
            to,
            mip
        }),
        buffer.prop_map(|buffer| Step::ReadBuffer { buffer }),
        (texture, 0..2u32).prop_map(|(texture, mip)| Step::ReadTexture { texture, mip }),
    ]
}

/// What the steps leave in memory, one after the other; undefined bytes are `None`.
struct Model {
    buffers: [[Option<u8>; BYTES as usize]; BUFFERS],
    textures: [[Option<u8>; 2]; TEXTURES],
}

enum Outcome {
    Done,
    /// The step reads what is undefined; the graph must refuse it.
    Undefined,
    Read(Vec<u8>),
    /// The step cannot be said in one pass, and is left out.
    Skipped,
}

impl Model {
    fn new() -> Self {
        // The last buffer is imported and uploaded.
        let mut buffers = [[None; BYTES as usize]; BUFFERS];
        buffers[BUFFERS - 1] = std::array::from_fn(|index| Some(seed(index)));
        Self { buffers, textures: [[None; 2]; TEXTURES] }
    }

    fn step(&mut self, step: Step) -> Outcome {
        let bytes = |start: u64, words: u64| (start * 4) as usize..((start + words) * 4) as usize;
        match step {
            Step::Clear { buffer, start, words } => self.buffers[buffer][bytes(start, words)].fill(Some(0)),
            Step::Seed { buffer, start, words } => {
                for index in bytes(start, words) {
                    self.buffers[buffer][index] = Some(seed(index));
                }
            }
            Step::Copy { from, to, .. } if from == to => return Outcome::Skipped,
            Step::Copy { from, start, to, at, words } => {
                let source = self.buffers[from][bytes(start, words)].to_vec();
                if source.contains(&None) {
                    return Outcome::Undefined;
                }
                self.buffers[to][bytes(at, words)].copy_from_slice(&source);
            }
            Step::ClearTexture { texture, mip, shade } => self.textures[texture][mip as usize] = Some(shade),
            Step::LoadTexture { texture, mip } => {
                if self.textures[texture][mip as usize].is_none() {
                    return Outcome::Undefined;
                }
            }
            Step::CopyTexture { from, to, .. } if from == to => return Outcome::Skipped,
            Step::CopyTexture { from, to, mip } => match self.textures[from][mip as usize] {
                None => return Outcome::Undefined,
                shade => self.textures[to][mip as usize] = shade,
            },
            Step::ReadBuffer { buffer } => {
                let bytes: Option<Vec<u8>> = self.buffers[buffer].iter().copied().collect();
                return bytes.map_or(Outcome::Undefined, Outcome::Read);
            }
            Step::ReadTexture { texture, mip } => {
                let texels = (SIDE >> mip) * (SIDE >> mip);
                let shade = self.textures[texture][mip as usize];
                return shade
                    .map_or(Outcome::Undefined, |shade| Outcome::Read(vec![shade; texels as usize * 4]));
            }
        }
        Outcome::Done
    }
}

fn seed(index: usize) -> u8 {
    index as u8 ^ 0xa5
}

/// Declares the steps and submits them. Returns what was read.
fn run(
    fixture: &mut Fixture,
    arena: &mut GraphArena<Null>,
    [source, import]: [Buffer; 2],
    steps: &[Step],
) -> Result<Vec<Vec<u8>>, GraphError> {
    let upload: Vec<u8> = (0..BYTES as usize).map(seed).collect();
    fixture.device.write_buffer(source, 0, &upload).unwrap();
    fixture.device.write_buffer(import, 0, &upload).unwrap();
    let mut graph = Graph::new("frame", arena);
    let source = graph.import_buffer("source", source);
    let mut buffers = [
        graph.buffer("b0", TransientBuffer::new(BYTES)),
        graph.buffer("b1", TransientBuffer::new(BYTES)),
        graph.buffer("b2", TransientBuffer::new(BYTES)),
        graph.import_buffer("b3", import),
    ];
    let mut textures: [_; TEXTURES] =
        std::array::from_fn(|_| graph.texture("t", TransientTexture::d2(COLOR, SIDE, SIDE).mips(2)));
    let mut reads: Vec<ReadId> = Vec::new();
    let span = |start: u64, words: u64| start * 4..(start + words) * 4;
    for &step in steps {
        match step {
            Step::Clear { buffer, start, words } => {
                graph.clear_buffer("clear", &mut buffers[buffer].range_mut(span(start, words)));
            }
            Step::Seed { buffer, start, words } => {
                let range = span(start, words);
                graph.copy_buffer(
                    "seed",
                    &source.range(range.clone()),
                    &mut buffers[buffer].range_mut(range),
                );
            }
            Step::Copy { from, start, to, at, words } => {
                if let Ok([from, to]) = buffers.get_disjoint_mut([from, to]) {
                    graph.copy_buffer(
                        "copy",
                        &from.range(span(start, words)),
                        &mut to.range_mut(span(at, words)),
                    );
                }
            }
            Step::ClearTexture { texture, mip, shade } => {
                let shade = f32::from(shade) / 255.0;
                let load = LoadOp::Clear(ClearValue::Float([shade; 4]));
                graph.render("clear texture").color(0, &mut textures[texture].mip_mut(mip), load).clear();
            }
            Step::LoadTexture { texture, mip } => {
                graph.render("load").color(0, &mut textures[texture].mip_mut(mip), LoadOp::Load).clear();
            }
            Step::CopyTexture { from, to, mip } => {
                if let Ok([from, to]) = textures.get_disjoint_mut([from, to]) {
                    graph.copy_texture("copy texture", &from.mip(mip), &mut to.mip_mut(mip));
                }
            }
            Step::ReadBuffer { buffer } => reads.push(graph.read_buffer(&buffers[buffer])),
            Step::ReadTexture { texture, mip } => reads.push(graph.read_texture(&textures[texture].mip(mip))),
        }
    }
    let mut submitted = graph.submit(&mut fixture.device)?;
    let tickets: Vec<_> = reads.iter().map(|read| submitted.take_read(*read).unwrap()).collect();
    Ok(tickets.iter().map(|ticket| fixture.device.read_vec(ticket).unwrap()).collect())
}

/// Every combination of switches.
fn switches() -> impl Iterator<Item = (bool, HazardMode, bool, bool)> {
    (0..16u8).map(|bits| {
        let hazards = if bits & 2 == 0 { HazardMode::Fine } else { HazardMode::Conservative };
        (bits & 1 == 0, hazards, bits & 4 == 0, bits & 8 != 0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn graphs_leave_what_the_steps_leave(steps in prop::collection::vec(step(), 1..24)) {
        let mut model = Model::new();
        let mut expected = Vec::new();
        let mut legal = Vec::new();
        let mut refused = None;
        for step in steps {
            match model.step(step) {
                Outcome::Skipped => {}
                Outcome::Undefined => refused = refused.or(Some([legal.clone(), vec![step]].concat())),
                Outcome::Done => legal.push(step),
                Outcome::Read(bytes) => {
                    legal.push(step);
                    expected.push(bytes);
                }
            }
        }
        let mut fixture = Fixture::new(NullConfig::executing());
        let buffers = ["source", "b3"].map(|label| fixture.buffer(label, BYTES));
        let handles = [*buffers[0], *buffers[1]];
        let mut arena = GraphArena::new();
        for (cull, hazards, reuse, merge) in switches() {
            let options = arena.options();
            (options.cull, options.hazards, options.transient_reuse) = (cull, hazards, reuse);
            options.merge = merge;
            options.alias = !reuse;
            if let Some(steps) = &refused {
                let refusal = run(&mut fixture, &mut arena, handles, steps);
                prop_assert!(matches!(refusal, Err(GraphError::Undefined { .. })), "{:?}", refusal);
            }
            // Twice, so that the second meets what the first left.
            for _ in 0..2 {
                let found = run(&mut fixture, &mut arena, handles, &legal);
                prop_assert_eq!(found.as_ref().ok(), Some(&expected), "{:?}", found);
                let left = fixture.control.buffer_bytes(handles[1].slot()).unwrap();
                let wanted: Vec<u8> = model.buffers[BUFFERS - 1].iter().map(|byte| byte.unwrap_or(0)).collect();
                prop_assert_eq!(&left, &wanted, "the import under {:?}", (cull, hazards, reuse, merge));
            }
        }
    }
}

#[test]
fn texels_travel_through_buffers() {
    let mut fixture = Fixture::new(NullConfig::executing());
    let mut arena = GraphArena::new();
    let mut graph = Graph::new("frame", &mut arena);
    let mut image = graph.texture("image", TransientTexture::d2(COLOR, 8, 8));
    let mut copy = graph.texture("copy", TransientTexture::d2(COLOR, 8, 8));
    let mut staging = graph.buffer("staging", TransientBuffer::new(64 + 7 * 256 + 32));
    let white = LoadOp::Clear(ClearValue::Float([1.0; 4]));
    let layout = TexelLayout { offset: 32, bytes_per_row: 256, rows_per_image: 8 };
    graph.render("white").color(0, &mut image, white).clear();
    graph.copy_texture_to_buffer("down", &image, &mut staging.range_mut(32..64 + 7 * 256 + 32), layout);
    graph.copy_buffer_to_texture(
        "up",
        &staging.range(64..64 + 7 * 256 + 32),
        TexelLayout { offset: 0, ..layout },
        &mut copy,
    );
    let read = graph.read_texture(&copy);
    let error = graph.submit(&mut fixture.device).map(|mut submitted| {
        let ticket = submitted.take_read(read).unwrap();
        assert_eq!(fixture.device.read_vec(&ticket).unwrap(), [255; 256]);
    });
    error.unwrap();
}
