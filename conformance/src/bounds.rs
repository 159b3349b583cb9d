//! Arguments that a kernel wrote, held to bounds before they are used: what lies outside does nothing, or less.

use purlin_graph::{ArgumentBounds, Graph, GraphArena, IndirectBounds, TransientBuffer, bind};
use purlin_rhi::backend::Backend;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BufferDesc, Device, Features, Owned, kind};

use crate::draws::{Grid, expect_cells};
use crate::kit::{Checked, Program, all_of, buffer_use, equal, finish, numbers, wrong};
use crate::shaders::compute;
use crate::{Answer, Outcome};

/// Bytes from one counter to the next: an offset that every device binds at.
const APART: u64 = 256;

/// Has a kernel write `words`, holds them to bounds, and dispatches by each `(offset, ...)` of arguments: the words as they
/// were held, and how many workgroups each dispatch was. The buffer of arguments is answered too, for draws.
fn hold<B: Backend>(
    device: &mut Device<B>,
    words: &[u32],
    bounds: ArgumentBounds,
    dispatches: &[u64],
) -> Checked<(Owned<kind::Buffer>, Vec<u32>, Vec<u32>)> {
    let size = words.len() as u64 * 4;
    let service = IndirectBounds::new(device)?;
    let copy = Program::new(device, &compute::SHADER, &[compute::entries::COPY_WORDS])?;
    let copy_words = copy.compute(device, compute::entries::COPY_WORDS)?;
    let count = Program::new(device, &compute::SHADER, &[compute::entries::COUNT_GROUPS])?;
    let count_groups = count.compute(device, compute::entries::COUNT_GROUPS)?;
    let source = device.create_buffer_with("source", BufferUsages::STORAGE, bytemuck::cast_slice(words))?;
    let usage = BufferUsages::STORAGE | BufferUsages::INDIRECT | BufferUsages::COPY_SRC;
    let buffer = device.create_buffer(&BufferDesc::new("arguments", size, usage))?;
    let limits = service.limits(device, bounds)?;

    let mut arena = GraphArena::new();
    let mut graph = Graph::new("bounds", &mut arena);
    let mut arguments = graph.import_buffer("arguments", *buffer);
    let mut counts = graph.buffer("counts", TransientBuffer::new(APART * dispatches.len().max(1) as u64));
    graph.clear_buffer("no counts", &mut counts);
    graph
        .compute("write")
        .bind(0, *copy.groups[0], [bind::storage(&mut arguments), bind::uploaded(all_of(*source, size))])
        .dispatch(*copy_words, [1, 1, 1]);
    service.hold(&mut graph, "hold", limits, &mut arguments);
    for (index, &offset) in dispatches.iter().enumerate() {
        let begin = index as u64 * APART;
        graph
            .compute("count")
            .bind(0, *count.groups[0], [bind::storage(&mut counts.range_mut(begin..begin + 4))])
            .dispatch_indirect(*count_groups, &arguments, offset);
    }
    let (held, counted) = (graph.read_buffer(&arguments), graph.read_buffer(&counts));
    let mut submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
    finish(device, submitted.token)?;
    let mut read = |id| -> Checked<Vec<u32>> {
        let ticket = submitted.take_read(id).ok_or_else(|| wrong("readback", "a ticket", "none"))?;
        Ok(numbers(&device.read_vec(&ticket)?))
    };
    let (held, counted) = (read(held)?, read(counted)?);
    let counted = counted.chunks(APART as usize / 4).map(|chunk| chunk[0]).take(dispatches.len()).collect();
    Ok((buffer, held, counted))
}

pub(crate) fn c039_dispatches_over_the_limit_do_nothing<B: Backend>(device: &mut Device<B>) -> Answer {
    // Four words before the first, and one after each that is nobody's.
    #[rustfmt::skip]
    let words = [5, 5, 5, 5, 65536, 1, 1, 9, 65535, 1, 1, 9, 0, 1, 1, 9, 2, 65536, 3, 9];
    let bounds = ArgumentBounds::dispatch(65535).at(16).many(4, 16);
    let (_, held, counted) = hold(device, &words, bounds, &[16, 32, 48, 64])?;
    #[rustfmt::skip]
    let expected = [5, 5, 5, 5, 0, 0, 0, 9, 65535, 1, 1, 9, 0, 1, 1, 9, 0, 0, 0, 9];
    equal("words", &held, &expected)?;
    equal("workgroups", &counted, &[0, 65535, 0, 0])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c039_dispatches_are_lowered_to_the_limit<B: Backend>(device: &mut Device<B>) -> Answer {
    let words = [9, 3, 2, 8, 8, 8, 0, 9, 1, 2, u32::MAX, 3];
    let bounds = ArgumentBounds::dispatch(8).many(4, 12).clamped();
    let (_, held, counted) = hold(device, &words, bounds, &[0, 12, 24, 36])?;
    equal("words", &held, &[8, 3, 2, 8, 8, 8, 0, 0, 0, 2, 8, 3])?;
    equal("workgroups", &counted, &[48, 512, 0, 48])?;
    Ok(Outcome::Passed)
}

/// More arguments than a workgroup has invocations, every third of them too many; what lies after the last is left alone.
pub(crate) fn c039_many_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    const COUNT: usize = 150;
    let asked = |i: usize| if i.is_multiple_of(3) { [1, 2, 3000] } else { [1, 2, 3] };
    let words: Vec<u32> = (0..COUNT + 3).flat_map(asked).collect();
    let bounds = ArgumentBounds::dispatch(100).many(COUNT as u32, 12);
    let (_, held, _) = hold(device, &words, bounds, &[])?;
    let expected: Vec<u32> = (0..COUNT + 3)
        .flat_map(|i| if i < COUNT && i.is_multiple_of(3) { [0; 3] } else { asked(i) })
        .collect();
    equal("words", &held, &expected)?;
    Ok(Outcome::Passed)
}

fn any_first_instance<B: Backend>(device: &Device<B>) -> bool {
    device.capabilities().features.contains(Features::INDIRECT_FIRST_INSTANCE)
}

/// The grid has 16 vertices and 16 instances. Without `INDIRECT_FIRST_INSTANCE` a first instance is out of bounds too.
pub(crate) fn c039_draws_outside_draw_nothing<B: Backend>(device: &mut Device<B>) -> Answer {
    let any = any_first_instance(device);
    // All inside; vertices that end outside; vertices that begin there, at the end of what 32 bits count; instances that
    // end outside; a first instance; the last vertices.
    #[rustfmt::skip]
    let words = [
        4, 1, 0, 0,  4, 1, 14, 0,  4, 1, u32::MAX - 1, 0,  4, 17, 4, 0,  4, 1, 8, 6,  4, 1, 12, 0,
    ];
    let bounds = ArgumentBounds::draw(16, 16).many(6, 16);
    let (buffer, held, _) = hold(device, &words, bounds, &[])?;
    let mut expected = [0; 24];
    expected[..4].copy_from_slice(&[4, 1, 0, 0]);
    expected[20..].copy_from_slice(&[4, 1, 12, 0]);
    if any {
        expected[16..20].copy_from_slice(&[4, 1, 8, 6]);
    }
    equal("words", &held, &expected)?;
    let grid = Grid::new(device)?;
    let uses = [buffer_use(*buffer, 96, BufferUse::Indirect)];
    // Without the last one, which paints the first one's cell.
    let image = grid.draw(device, &uses, |pass| {
        pass.set_pipeline(*grid.strip);
        pass.multi_draw_indirect(*buffer, 0, 5, 16);
    })?;
    let cells: &[_] = if any { &[(0, 0), (6, 2)] } else { &[(0, 0)] };
    expect_cells("what is inside", &image, cells)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c039_draws_are_lowered_to_what_is_inside<B: Backend>(device: &mut Device<B>) -> Answer {
    let any = any_first_instance(device);
    // Vertices and instances that end outside, both, those that begin there, and instances from a first one on.
    #[rustfmt::skip]
    let words = [
        9, 2, 12, 0,  4, 99, 0, 0,  u32::MAX, u32::MAX, 1, 0,  4, 1, 16, 0,  4, 9, 8, 14,  4, 9, 8, 16,
    ];
    let bounds = ArgumentBounds::draw(16, 16).many(6, 16).clamped();
    let (buffer, held, _) = hold(device, &words, bounds, &[])?;
    #[rustfmt::skip]
    let mut expected = [
        4, 2, 12, 0,  4, 16, 0, 0,  15, 16, 1, 0,  0, 0, 0, 0,  4, 2, 8, 14,  0, 0, 0, 0,
    ];
    if !any {
        expected[16..20].fill(0);
    }
    equal("words", &held, &expected)?;
    let grid = Grid::new(device)?;
    let uses = [buffer_use(*buffer, 96, BufferUse::Indirect)];
    let image = grid.draw(device, &uses, |pass| {
        pass.set_pipeline(*grid.strip);
        pass.draw_indirect(*buffer, 0);
        pass.multi_draw_indirect(*buffer, 48, 3, 16);
    })?;
    let cells: &[_] = if any { &[(0, 3), (1, 3), (14, 2), (15, 2)] } else { &[(0, 3), (1, 3)] };
    expect_cells("what is inside", &image, cells)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c039_indexed_draws_are_held_to_their_indices<B: Backend>(device: &mut Device<B>) -> Answer {
    let any = any_first_instance(device);
    let base = (-4i32) as u32;
    // All inside, with a base vertex; indices that end outside; instances that end outside; a first instance.
    #[rustfmt::skip]
    let words = [6, 2, 6, base, 0,  6, 1, 8, 0, 0,  6, 20, 0, 4, 0,  6, 20, 0, 4, 13];
    for clamped in [false, true] {
        let bounds = ArgumentBounds::draw_indexed(12, 16).many(4, 20);
        let bounds = if clamped { bounds.clamped() } else { bounds };
        let (buffer, held, _) = hold(device, &words, bounds, &[])?;
        let mut expected = [0; 20];
        expected[..5].copy_from_slice(&[6, 2, 6, base, 0]);
        if clamped {
            expected[5..15].copy_from_slice(&[4, 1, 8, 0, 0, 6, 16, 0, 4, 0]);
        }
        if clamped && any {
            expected[15..].copy_from_slice(&[6, 3, 0, 4, 13]);
        }
        equal(format!("words, clamped: {clamped}"), &held, &expected)?;
        let grid = Grid::new(device)?;
        let uses = [buffer_use(*buffer, 80, BufferUse::Indirect)];
        let image = grid.draw(device, &uses, |pass| {
            pass.set_pipeline(*grid.list);
            pass.draw_indexed_indirect(*buffer, 0);
            pass.draw_indexed_indirect(*buffer, 60);
        })?;
        let all = [(0, 1), (1, 1), (13, 1), (14, 1), (15, 1)];
        expect_cells("what is inside", &image, &all[..if clamped && any { 5 } else { 2 }])?;
    }
    Ok(Outcome::Passed)
}
