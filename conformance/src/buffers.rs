//! Buffer contents: uploads of any length, copies, clears, readbacks, and their order.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BufferDesc, BufferSlice, Device, Owned, kind};

use crate::kit::{Checked, all_of, equal, fetch, finish, numbers, read_buffer, refused};
use crate::{Answer, Outcome};

const COPIES: BufferUsages = BufferUsages::COPY_SRC.union(BufferUsages::COPY_DST);

fn buffer<B: Backend>(device: &mut Device<B>, size: u64) -> Checked<Owned<kind::Buffer>> {
    Ok(device.create_buffer(&BufferDesc::new("copied", size, COPIES))?)
}

fn ramp(from: u8, count: usize) -> Vec<u8> {
    (0..count).map(|i| from.wrapping_add(i as u8)).collect()
}

pub(crate) fn uploads_of_any_length<B: Backend>(device: &mut Device<B>) -> Answer {
    for length in [1usize, 2, 3, 4, 5, 255, 256, 257, 65_537] {
        let target = buffer(device, length as u64)?;
        let data = ramp(length as u8, length);
        device.write_buffer(*target, 0, &data)?;
        let padded = length.next_multiple_of(4);
        // Copies are of whole words; what pads the last one is zero.
        let mut expected = data;
        expected.resize(padded, 0);
        let found = read_buffer(device, *target, padded as u64)?;
        equal(format!("{length} bytes"), &found, &expected)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn uploads_into_the_middle<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = buffer(device, 64)?;
    device.write_buffer(*target, 0, &[0xAA; 64])?;
    device.write_buffer(*target, 20, &ramp(1, 7))?;
    let mut expected = vec![0xAA; 64];
    expected[20..27].copy_from_slice(&ramp(1, 7));
    equal("7 bytes at 20", &read_buffer(device, *target, 64)?, &expected)?;
    for (offset, length, says) in
        [(2, 4, "a multiple of 4"), (60, 8, "within 64 bytes"), (u64::MAX - 3, 4, "within 64 bytes")]
    {
        let data = vec![0; length];
        refused(format!("{length} bytes at {offset}"), says, device.write_buffer(*target, offset, &data))?;
    }
    equal("after refused writes", &read_buffer(device, *target, 64)?, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c016_written_then_read_with_no_work_between<B: Backend>(device: &mut Device<B>) -> Answer {
    for with_empty_submission in [false, true] {
        let target = buffer(device, 12)?;
        device.write_buffer(*target, 0, &ramp(0, 12))?;
        if with_empty_submission {
            device.record("empty")?.submit()?;
        }
        let what = format!("empty submission between: {with_empty_submission}");
        equal(what, &read_buffer(device, *target, 12)?, &ramp(0, 12))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c017_two_readbacks_at_once<B: Backend>(device: &mut Device<B>) -> Answer {
    let small = buffer(device, 4)?;
    let large = buffer(device, 40)?;
    let digits: Vec<u32> = (0..10).collect();
    device.write_buffer(*small, 0, &7u32.to_le_bytes())?;
    device.write_buffer(*large, 0, bytemuck::cast_slice(&digits))?;
    for small_first in [true, false] {
        let mut recorder = device.record("two readbacks")?;
        let (a, b) = if small_first { ((*small, 4), (*large, 40)) } else { ((*large, 40), (*small, 4)) };
        let first = recorder.read_buffer(all_of(a.0, a.1))?;
        let second = recorder.read_buffer(all_of(b.0, b.1))?;
        let token = recorder.submit()?;
        finish(device, token)?;
        // Delivered in the other order than asked for.
        let (second, first) = (device.read_vec(&second)?, device.read_vec(&first)?);
        let (found_small, found_large) = if small_first { (first, second) } else { (second, first) };
        equal("four bytes", &numbers::<u32>(&found_small), &[7])?;
        equal("forty bytes", &numbers::<u32>(&found_large), &digits)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn a_readback_is_delivered_once<B: Backend>(device: &mut Device<B>) -> Answer {
    let source = buffer(device, 8)?;
    device.write_buffer(*source, 0, &ramp(3, 8))?;
    let mut recorder = device.record("readback")?;
    let ticket = recorder.read_buffer(all_of(*source, 8))?;
    let forgotten = recorder.read_buffer(all_of(*source, 8))?;
    let token = recorder.submit()?;
    drop(forgotten);
    finish(device, token)?;
    equal("delivered", &device.read_vec(&ticket)?, &ramp(3, 8))?;
    refused("delivered twice", "delivered already", device.read_vec(&ticket))?;
    let discarded = {
        let mut recorder = device.record("discarded")?;
        recorder.read_buffer(all_of(*source, 8))?
    };
    refused("of a discarded recording", "discarded", device.read_vec(&discarded))?;
    Ok(Outcome::Passed)
}

pub(crate) fn c018_copies_within_one_buffer<B: Backend>(device: &mut Device<B>) -> Answer {
    let one = buffer(device, 256)?;
    let copy = |device: &mut Device<B>, pairs: &[(u64, u64)]| -> Checked<Vec<u8>> {
        device.write_buffer(*one, 0, &ramp(0, 256))?;
        fetch(device, |recorder| {
            for (from, to) in pairs {
                recorder.copy_buffer(BufferSlice { buffer: *one, offset: *from, size: 32 }, *one, *to)?;
            }
            Ok(recorder.read_buffer(all_of(*one, 256))?)
        })
    };
    for (from, to) in [(0, 0), (0, 16)] {
        match copy(device, &[(from, to)]) {
            Err(crate::Failure::Device(error)) => refused::<()>("an overlapping copy", "", Err(error))?,
            _ => {
                return Err(crate::kit::wrong(
                    format!("32 bytes from {from} to {to}"),
                    "an error",
                    "success",
                ));
            }
        }
    }
    let mut expected = ramp(0, 256);
    expected.copy_within(0..32, 32);
    equal("touching ranges", &copy(device, &[(0, 32)])?, &expected)?;
    expected.copy_within(64..96, 96);
    equal("interleaved ranges", &copy(device, &[(0, 32), (64, 96)])?, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn clears<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = buffer(device, 64)?;
    device.write_buffer(*target, 0, &ramp(1, 64))?;
    let found = fetch(device, |recorder| {
        recorder.clear_buffer(BufferSlice { buffer: *target, offset: 8, size: 12 })?;
        recorder.clear_buffer(BufferSlice { buffer: *target, offset: 64, size: 0 })?;
        Ok(recorder.read_buffer(all_of(*target, 64))?)
    })?;
    let mut expected = ramp(1, 64);
    expected[8..20].fill(0);
    equal("12 bytes at 8", &found, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c090_copy_over_copy<B: Backend>(device: &mut Device<B>) -> Answer {
    let (first, second, target) = (buffer(device, 32)?, buffer(device, 32)?, buffer(device, 32)?);
    device.write_buffer(*first, 0, &[1; 32])?;
    device.write_buffer(*second, 0, &[2; 32])?;
    let found = fetch(device, |recorder| {
        recorder.copy_buffer(all_of(*first, 32), *target, 0)?;
        recorder.copy_buffer(all_of(*second, 32), *target, 0)?;
        // A part of it once more, from the first.
        recorder.copy_buffer(BufferSlice { buffer: *first, offset: 0, size: 8 }, *target, 12)?;
        Ok(recorder.read_buffer(all_of(*target, 32))?)
    })?;
    let mut expected = [2; 32];
    expected[12..20].fill(1);
    equal("the last copy wins", &found, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c090_upload_over_upload<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = buffer(device, 32)?;
    for round in 0..10u8 {
        device.write_buffer(*target, 0, &[round; 32])?;
        device.write_buffer(*target, 8, &[round + 100; 8])?;
    }
    let mut expected = [9; 32];
    expected[8..16].fill(109);
    equal("the last upload wins", &read_buffer(device, *target, 32)?, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn undefined_contents_are_not_read<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = buffer(device, 32)?;
    device.write_buffer(*target, 0, &[5; 16])?;
    equal("the defined half", &read_buffer(device, *target, 16)?, &[5; 16])?;
    match read_buffer(device, *target, 32) {
        Err(crate::Failure::Device(error)) => refused::<()>("the undefined half", "undefined", Err(error))?,
        _ => return Err(crate::kit::wrong("a read of undefined bytes", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn many_copies_in_one_recording<B: Backend>(device: &mut Device<B>) -> Answer {
    // A chain through twenty buffers, each read right after it was written.
    let mut chain = Vec::new();
    for _ in 0..20 {
        chain.push(buffer(device, 16)?);
    }
    device.write_buffer(*chain[0], 0, &ramp(40, 16))?;
    let found = fetch(device, |recorder| {
        for pair in chain.windows(2) {
            recorder.copy_buffer(all_of(*pair[0], 16), *pair[1], 0)?;
        }
        Ok(recorder.read_buffer(all_of(*chain[19], 16))?)
    })?;
    equal("the end of the chain", &found, &ramp(40, 16))?;
    Ok(Outcome::Passed)
}

pub(crate) fn planned_copies_share_barriers<B: Backend>(device: &mut Device<B>) -> Answer {
    use purlin_rhi::plan::{PassList, Plan};
    let (source, a, b) = (buffer(device, 16)?, buffer(device, 16)?, buffer(device, 16)?);
    device.write_buffer(*source, 0, &ramp(9, 16))?;
    let use_of = |buffer: &Owned<kind::Buffer>, usage| crate::kit::buffer_use(**buffer, 16, usage);
    let first = [use_of(&source, BufferUse::CopySrc), use_of(&a, BufferUse::CopyDst)];
    let second = [use_of(&a, BufferUse::CopySrc), use_of(&b, BufferUse::CopyDst)];
    let mut list = PassList::default();
    list.begin();
    for uses in [&first, &second] {
        uses.iter().for_each(|usage| list.push_use(*usage));
        list.end_pass();
    }
    let mut plan = Plan::default();
    let found = fetch(device, |recorder| {
        recorder.plan(&list, &mut plan, |pass| format!("planned copy {pass}"))?;
        recorder.barriers(plan.batch(0));
        recorder
            .transfer_pass_planned("first", &first, |pass| pass.copy_buffer(all_of(*source, 16), *a, 0))?;
        recorder.barriers(plan.batch(1));
        recorder.transfer_pass_planned("second", &second, |pass| pass.copy_buffer(all_of(*a, 16), *b, 0))?;
        Ok(recorder.read_buffer(all_of(*b, 16))?)
    })?;
    equal("planned ahead", &found, &ramp(9, 16))?;
    Ok(Outcome::Passed)
}
