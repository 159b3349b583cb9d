//! Draws and dispatches whose arguments lie in buffers, written by the CPU or by the GPU itself.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::types::{BufferUsages, ShaderStages};
use purlin_rhi::{
    BindGroupEntry, Buffer, BufferDesc, ComputePassDesc, Device, Features, MultiDrawIndirectCount, Owned,
    RenderPass, kind,
};

use crate::draws::{Grid, expect_cells};
use crate::kit::{
    Checked, Program, all_of, buffer_use, equal, fetch, numbers, perform, refused, result_buffer, wrong,
};
use crate::shaders::compute;
use crate::{Answer, Outcome};

/// Arguments as the CPU wrote them, or as a kernel did.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    ByCpu,
    ByGpu,
}

/// A buffer of arguments with the uses that a pass must declare.
fn arguments<B: Backend>(
    device: &mut Device<B>,
    written: Written,
    words: &[u32],
) -> Checked<(Owned<kind::Buffer>, Vec<ResourceUse>)> {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    if written == Written::ByCpu {
        return Ok((device.create_buffer_with("arguments", BufferUsages::INDIRECT, bytes)?, Vec::new()));
    }
    let size = bytes.len() as u64;
    let entry = compute::entries::COPY_WORDS;
    let program = Program::new(device, &compute::SHADER, &[entry])?;
    let pipeline = program.compute(device, entry)?;
    let source = device.create_buffer_with("source", BufferUsages::STORAGE, bytes)?;
    let usage = BufferUsages::STORAGE | BufferUsages::INDIRECT;
    let target = device.create_buffer(&BufferDesc::new("arguments", size, usage))?;
    let group = program.group(
        device,
        0,
        &[BindGroupEntry::buffer(0, *target), BindGroupEntry::buffer(1, *source)],
    )?;
    let uses = [buffer_use(*target, size, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
    perform(device, |recorder| {
        recorder.compute_pass(
            &ComputePassDesc { label: "write arguments", uses: &uses, ..Default::default() },
            |pass| {
                pass.set_pipeline(*pipeline);
                pass.set_bind_group(0, *group, &[]);
                pass.dispatch([1, 1, 1]);
            },
        )?;
        Ok(())
    })?;
    let uses = vec![buffer_use(*target, size, BufferUse::Indirect)];
    Ok((target, uses))
}

/// Draws by arguments from the CPU and from the GPU; the cells that must be painted are the same.
fn draws<B: Backend>(
    device: &mut Device<B>,
    words: &[u32],
    body: impl Fn(&Grid, &mut RenderPass<'_, B>, Buffer),
    expected: &[(u32, usize)],
) -> Checked {
    for (written, what) in [(Written::ByCpu, "written by the CPU"), (Written::ByGpu, "written by the GPU")] {
        let grid = Grid::new(device)?;
        let (buffer, uses) = arguments(device, written, words)?;
        let image = grid.draw(device, &uses, |pass| body(&grid, pass, *buffer))?;
        expect_cells(what, &image, expected)?;
    }
    Ok(())
}

fn without_first_instance<B: Backend>(device: &Device<B>) -> Option<Outcome> {
    let has = device.capabilities().features.contains(Features::INDIRECT_FIRST_INSTANCE);
    (!has).then(|| Outcome::Unsupported("INDIRECT_FIRST_INSTANCE".into()))
}

pub(crate) fn direct_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    // Four words before the arguments, so that the offset matters.
    let words = [9, 9, 9, 9, 4, 3, 8, 0];
    draws(
        device,
        &words,
        |grid, pass, buffer| {
            pass.set_pipeline(*grid.strip);
            pass.draw_indirect(buffer, 16);
        },
        &[(0, 2), (1, 2), (2, 2)],
    )?;
    Ok(Outcome::Passed)
}

pub(crate) fn indexed_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    // Indices from the second half, eight further on, and a base vertex of minus four (as two's complement).
    let words = [6, 2, 6, (-4i32) as u32, 0];
    draws(
        device,
        &words,
        |grid, pass, buffer| {
            pass.set_pipeline(*grid.list);
            pass.draw_indexed_indirect(buffer, 0);
        },
        &[(0, 1), (1, 1)],
    )?;
    Ok(Outcome::Passed)
}

pub(crate) fn first_instance_in_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = without_first_instance(device) {
        return Ok(outcome);
    }
    draws(
        device,
        &[4, 2, 12, 13],
        |grid, pass, buffer| {
            pass.set_pipeline(*grid.strip);
            pass.draw_indirect(buffer, 0);
        },
        &[(13, 3), (14, 3)],
    )?;
    draws(
        device,
        &[6, 1, 0, 4, 6],
        |grid, pass, buffer| {
            pass.set_pipeline(*grid.list);
            pass.draw_indexed_indirect(buffer, 0);
        },
        &[(6, 1)],
    )?;
    Ok(Outcome::Passed)
}

pub(crate) fn zero_work_in_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    draws(
        device,
        &[0, 1, 0, 0, 4, 0, 0, 0],
        |grid, pass, buffer| {
            pass.set_pipeline(*grid.strip);
            pass.draw_indirect(buffer, 0);
            pass.draw_indirect(buffer, 16);
        },
        &[],
    )?;
    Ok(Outcome::Passed)
}

pub(crate) fn c037_multi_draw_counts<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = without_first_instance(device) {
        return Ok(outcome);
    }
    // Three draws 24 bytes apart, each another color in another cell.
    let direct = [4, 1, 0, 1, 0, 0, 4, 1, 4, 6, 0, 0, 4, 1, 8, 11, 0, 0];
    let indexed = [6, 1, 0, 0, 1, 0, 6, 1, 0, 4, 6, 0, 6, 1, 6, 0, 11, 0];
    let all = [(1, 0), (6, 1), (11, 2)];
    for count in 0..=3 {
        let expected = &all[..count as usize];
        draws(
            device,
            &direct,
            |grid, pass, buffer| {
                pass.set_pipeline(*grid.strip);
                pass.multi_draw_indirect(buffer, 0, count, 24);
            },
            expected,
        )?;
        draws(
            device,
            &indexed,
            |grid, pass, buffer| {
                pass.set_pipeline(*grid.list);
                pass.multi_draw_indexed_indirect(buffer, 0, count, 24);
            },
            expected,
        )?;
    }
    Ok(Outcome::Passed)
}

/// The GPU, or the CPU, says how many draws of those in the buffer there are: never more than the most.
pub(crate) fn counts_from_a_buffer<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some(token) = device.capability::<MultiDrawIndirectCount>() else {
        return Ok(Outcome::Unsupported("MULTI_DRAW_INDIRECT_COUNT".into()));
    };
    if let Some(outcome) = without_first_instance(device) {
        return Ok(outcome);
    }
    // The count, padding to eight words, then three draws close together.
    let direct = [4, 1, 0, 1, 4, 1, 4, 6, 4, 1, 8, 11];
    let indexed = [6, 1, 0, 0, 1, 6, 1, 0, 4, 6, 6, 1, 6, 0, 11];
    let all = [(1, 0), (6, 1), (11, 2)];
    for (count, most) in [(0, 3), (1, 3), (2, 3), (3, 3), (3, 2), (1_000_000, 3), (3, 0)] {
        let expected = &all[..count.min(most) as usize];
        let with_count = |rest: &[u32]| [&[count, 0, 0, 0, 0, 0, 0, 0], rest].concat();
        draws(
            device,
            &with_count(&direct),
            |grid, pass, buffer| {
                pass.set_pipeline(*grid.strip);
                pass.multi_draw_indirect_count(token, (buffer, 32), (buffer, 0), most, 16);
            },
            expected,
        )?;
        draws(
            device,
            &with_count(&indexed),
            |grid, pass, buffer| {
                pass.set_pipeline(*grid.list);
                pass.multi_draw_indexed_indirect_count(token, (buffer, 32), (buffer, 0), most, 20);
            },
            expected,
        )?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn arguments_outside_the_buffer_are_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let (buffer, _) = arguments(device, Written::ByCpu, &[4, 1, 0, 0, 4])?;
    let mut attempt = |offset: u64, count: u32, stride: u32| -> Checked {
        let drawn = grid.draw(device, &[], |pass| {
            pass.set_pipeline(*grid.strip);
            pass.multi_draw_indirect(*buffer, offset, count, stride);
        });
        match drawn {
            Err(crate::Failure::Device(error)) => refused::<()>("arguments", "invalid", Err(error)),
            _ => Err(wrong(format!("{count} arguments at {offset}, {stride} apart"), "an error", "success")),
        }
    };
    attempt(8, 1, 16)?;
    attempt(2, 1, 16)?;
    attempt(0, 2, 16)?;
    attempt(0, 2, 12)?;
    attempt(u64::MAX - 3, 1, 16)?;
    Ok(Outcome::Passed)
}

pub(crate) fn an_undeclared_tracked_buffer_is_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let (buffer, _) = arguments(device, Written::ByGpu, &[4, 1, 0, 0])?;
    match grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.strip);
        pass.draw_indirect(*buffer, 0);
    }) {
        Err(crate::Failure::Device(error)) => refused::<()>("arguments", "declared by the pass", Err(error))?,
        _ => return Err(wrong("a tracked buffer that the pass did not declare", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn dispatch_arguments<B: Backend>(device: &mut Device<B>) -> Answer {
    let entry = compute::entries::COUNT_GROUPS;
    for written in [Written::ByCpu, Written::ByGpu] {
        let (buffer, arguments) = arguments(device, written, &[7, 7, 2, 3, 5, 0, 4, 4])?;
        let program = Program::new(device, &compute::SHADER, &[entry])?;
        let pipeline = program.compute(device, entry)?;
        let result = result_buffer(device, 4)?;
        let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *result)])?;
        let mut uses = arguments;
        uses.push(buffer_use(*result, 4, BufferUse::StorageWrite(ShaderStages::COMPUTE)));
        let bytes = fetch(device, |recorder| {
            recorder.clear_buffer(all_of(*result, 4))?;
            recorder.compute_pass(
                &ComputePassDesc { label: entry, uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch_indirect(*buffer, 8);
                    // A zero among the arguments does nothing.
                    pass.dispatch_indirect(*buffer, 20);
                },
            )?;
            Ok(recorder.read_buffer(all_of(*result, 4))?)
        })?;
        equal("workgroups counted", &numbers::<u32>(&bytes), &[30])?;
    }
    Ok(Outcome::Passed)
}
