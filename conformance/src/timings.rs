//! GPU time of passes.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::ShaderStages;
use purlin_rhi::{BindGroupEntry, Capability, ComputePassDesc, Device, GpuTime, TimestampQuery, Timing};

use crate::kit::{Checked, Program, all_of, buffer_use, equal, perform, result_buffer, wrong};
use crate::shaders::compute::{SHADER, entries};
use crate::{Answer, Outcome};

/// A pass of this many workgroups for each label.
fn work<B: Backend>(device: &mut Device<B>, passes: &[(&str, u32)]) -> Checked {
    let program = Program::new(device, &SHADER, &[entries::COUNT_GROUPS])?;
    let pipeline = program.compute(device, entries::COUNT_GROUPS)?;
    let result = result_buffer(device, 4)?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *result)])?;
    let uses = [buffer_use(*result, 4, BufferUse::StorageWrite(ShaderStages::COMPUTE))];
    perform(device, |recorder| {
        for (label, groups) in passes {
            recorder.compute_pass(&ComputePassDesc { label, uses: &uses, ..Default::default() }, |pass| {
                pass.set_pipeline(*pipeline);
                pass.set_bind_group(0, *group, &[]);
                pass.dispatch([*groups, 1, 1]);
            })?;
        }
        recorder.clear_buffer(all_of(*result, 4))?;
        Ok(())
    })
}

pub(crate) fn passes_are_timed<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some(capability) = device.capability::<TimestampQuery>() else {
        return Ok(Outcome::Unsupported(TimestampQuery::NAME.into()));
    };
    device.enable_timings(capability, true);
    work(device, &[("small", 1), ("large", 60_000)])?;
    let times =
        device.pass_times()?.ok_or_else(|| wrong("times of a completed submission", "some", "none"))?;
    let labels: Vec<&str> = times.iter().map(|time| time.label.as_str()).collect();
    equal("labels in order", &labels, &["small", "large", "clear_buffer"])?;
    for time in &times {
        // A tick may be long, so zero is legal; a clock that runs backwards would be an enormous number.
        match time.time {
            GpuTime::Elapsed(nanoseconds) if (0.0..60e9).contains(&nanoseconds) => {}
            other => {
                return Err(wrong(
                    format!("time of {}", time.label),
                    "0 to 60 seconds",
                    format!("{other:?}"),
                ));
            }
        }
    }
    equal("times are taken once", &[device.pass_times()?.is_none()], &[true])?;
    // Sets are reused over many frames, and the newest times are the ones that come.
    for _ in 0..8 {
        work(device, &[("frame", 1)])?;
    }
    work(device, &[("last", 1)])?;
    let newest = device.pass_times()?.ok_or_else(|| wrong("times", "some", "none"))?;
    equal("the newest", &[newest[0].label.as_str()], &["last"])?;
    device.enable_timings(capability, false);
    work(device, &[("untimed", 1)])?;
    equal("off again", &[device.pass_times()?.is_none()], &[true])?;
    Ok(Outcome::Passed)
}

/// A frame takes no less than its passes, and says how far it is.
pub(crate) fn frames_are_timed<B: Backend>(device: &mut Device<B>) -> Answer {
    let Some(capability) = device.capability::<TimestampQuery>() else {
        return Ok(Outcome::Unsupported(TimestampQuery::NAME.into()));
    };
    equal("before anything", &[device.frame_time()?], &[Timing::Off])?;
    device.enable_timings(capability, true);
    equal("switched on", &[device.frame_time()?], &[Timing::NotSubmitted])?;
    work(device, &[("first", 1000), ("second", 1000)])?;
    let token = device.last_submission();
    let frame = match device.frame_time()? {
        Timing::Ready(frame) => frame,
        other => return Err(wrong("a completed frame", "its time", format!("{other:?}"))),
    };
    device.enable_timings(capability, false);
    equal("the submission", &[frame.token], &[token])?;
    equal("passes", &[frame.passes.len() as u32, frame.untimed], &[3, 0])?;
    equal("precision", &[Some(frame.precision)], &[device.timestamp_precision()])?;
    if frame.precision.tick <= 0.0
        || frame.precision.valid_bits.is_some_and(|bits| !(36..=64).contains(&bits))
    {
        return Err(wrong("precision", "a tick, and 36 to 64 bits", format!("{:?}", frame.precision)));
    }
    let sum: Option<f64> = frame.passes.iter().map(|pass| pass.time.nanoseconds()).sum();
    match (frame.time, sum) {
        // Each of the timestamps may be rounded by itself.
        (GpuTime::Elapsed(whole), Some(sum)) if sum <= whole + 8.0 * f64::from(frame.precision.tick) => {}
        other => {
            return Err(wrong("the frame and its passes", "no less than their sum", format!("{other:?}")));
        }
    }
    equal("taken once", &[device.frame_time()?], &[Timing::Off])?;
    Ok(Outcome::Passed)
}
