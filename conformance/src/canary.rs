//! The smallest work that is wrong without a barrier, for tests that must see it reported.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::types::{BufferUsages, ShaderStages};
use purlin_rhi::{BindGroupEntry, BufferDesc, ComputePassDesc, Device};

use crate::Failure;
use crate::kit::{Program, all_of, buffer_use, numbers, perform, read_buffer};
use crate::shaders::canary::{SHADER, entries};

/// Numbers in the buffer.
const COUNT: u64 = 64;

/// Records two dispatches, the second of which reads what the first wrote. With `barriers` the passes are planned as
/// usual and the result is checked; without, they go through the calls that leave barriers to the caller, and none
/// is emitted.
///
/// # Errors
/// A call that was refused, or a wrong result with barriers.
pub fn write_then_read<B: Backend>(device: &mut Device<B>, barriers: bool) -> Result<(), Failure> {
    let size = COUNT * 4;
    let program = Program::new(device, &SHADER, &[entries::FILL, entries::DOUBLE])?;
    let pipelines = [program.compute(device, entries::FILL)?, program.compute(device, entries::DOUBLE)?];
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let buffer = device.create_buffer(&BufferDesc::new("canary", size, usage))?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *buffer)])?;
    let uses: [ResourceUse; 1] = [buffer_use(*buffer, size, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
    perform(device, |recorder| {
        for (pipeline, label) in pipelines.iter().zip(["canary write", "canary read"]) {
            if barriers {
                recorder.compute_pass(
                    &ComputePassDesc { label, uses: &uses, ..Default::default() },
                    |pass| {
                        pass.set_pipeline(**pipeline);
                        pass.set_bind_group(0, *group, &[]);
                        pass.dispatch([1, 1, 1]);
                    },
                )?;
            } else {
                let desc = ComputePassDesc { label, ..Default::default() };
                recorder.compute_pass_planned(&desc, &uses, |mut pass| {
                    pass.set_pipeline(**pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch([1, 1, 1]);
                    pass.end()
                })?;
            }
        }
        Ok(())
    })?;
    if barriers {
        let found: Vec<u32> = numbers(&read_buffer(device, all_of(*buffer, size).buffer, size)?);
        let expected: Vec<u32> = (0..COUNT as u32).map(|n| n * 2).collect();
        crate::kit::equal("the chain's result", &found, &expected)?;
    }
    Ok(())
}
