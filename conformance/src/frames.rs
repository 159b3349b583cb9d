//! Work over several submissions: per-frame data, updates of what is in use, destruction while in flight.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureAspect, TextureFormat, TextureUsages};
use purlin_rhi::{
    BindGroupEntry, BufferDesc, BufferSlice, ComputePassDesc, Device, Owned, ReadTicket, TextureDesc,
    TexturePlace, UploadState, kind,
};

use crate::kit::{
    Checked, Program, all_of, buffer_use, equal, extent, fetch, finish, numbers, read_buffer, read_mip,
    refused, result_buffer, rows, wrong,
};
use crate::shaders::compute::{SHADER, entries};
use crate::{Answer, Outcome};

const WRITE: BufferUse = BufferUse::StorageWrite(ShaderStages::COMPUTE);
const FRAMES: u32 = 12;

/// A kernel over one word: ten times what is there plus what the source says.
struct Digits {
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
    result: Owned<kind::Buffer>,
}

impl Digits {
    fn new<B: Backend>(device: &mut Device<B>) -> Checked<Self> {
        let program = Program::with_dynamic(device, &SHADER, &[entries::TIMES_TEN_PLUS], &[(0, 1)])?;
        let pipeline = program.compute(device, entries::TIMES_TEN_PLUS)?;
        let result = result_buffer(device, 4)?;
        device.write_buffer(*result, 0, &[0; 4])?;
        Ok(Self { program, pipeline, result })
    }

    fn group<B: Backend>(
        &self,
        device: &mut Device<B>,
        source: purlin_rhi::Buffer,
    ) -> Checked<Owned<kind::BindGroup>> {
        let entries =
            [BindGroupEntry::buffer(0, *self.result), BindGroupEntry::buffer_range(1, source, 0, 4)];
        self.program.group(device, 0, &entries)
    }

    /// Submits one step without waiting.
    fn step<B: Backend>(&self, device: &mut Device<B>, group: purlin_rhi::BindGroup, offset: u32) -> Checked {
        let uses = [buffer_use(*self.result, 4, WRITE)];
        let mut recorder = device.record("step")?;
        recorder.compute_pass(
            &ComputePassDesc { label: "step", uses: &uses, ..Default::default() },
            |pass| {
                pass.set_pipeline(*self.pipeline);
                pass.set_bind_group(0, group, &[offset]);
                pass.dispatch([1, 1, 1]);
            },
        )?;
        recorder.submit()?;
        Ok(())
    }

    fn read<B: Backend>(&self, device: &mut Device<B>) -> Checked<u32> {
        Ok(numbers::<u32>(&read_buffer(device, *self.result, 4)?)[0])
    }
}

pub(crate) fn t4_uploads_wait_for_earlier_submissions<B: Backend>(device: &mut Device<B>) -> Answer {
    let digits = Digits::new(device)?;
    // Uploaded contents: nobody declares the source, and each step must see its own digit.
    let source = device.create_buffer_with("digit", BufferUsages::STORAGE, &[0; 4])?;
    let group = digits.group(device, *source)?;
    for digit in 1..=9u32 {
        device.write_buffer(*source, 0, &digit.to_le_bytes())?;
        digits.step(device, *group, 0)?;
    }
    equal("nine digits in order", &[digits.read(device)?], &[123_456_789])?;
    Ok(Outcome::Passed)
}

pub(crate) fn t4_uploads_into_tracked_contents<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let source = device.create_buffer(&BufferDesc::new("tracked", 4, usage))?;
    let mut tickets = Vec::new();
    for frame in 0..FRAMES {
        device.write_buffer(*source, 0, &frame.to_le_bytes())?;
        let mut recorder = device.record("frame")?;
        tickets.push(recorder.read_buffer(all_of(*source, 4))?);
        recorder.submit()?;
    }
    delivered(device, &tickets, |frame| vec![frame])?;
    Ok(Outcome::Passed)
}

/// Waits, and compares each readback's words.
fn delivered<B: Backend>(
    device: &mut Device<B>,
    tickets: &[ReadTicket],
    words: impl Fn(u32) -> Vec<u32>,
) -> Checked {
    let last = device.last_submission();
    finish(device, last)?;
    for (frame, ticket) in (0..).zip(tickets) {
        let found = numbers::<u32>(&device.read_vec(ticket)?);
        equal(format!("frame {frame}"), &found, &words(frame))?;
    }
    Ok(())
}

pub(crate) fn frame_data_over_frames_in_flight<B: Backend>(device: &mut Device<B>) -> Answer {
    let digits = Digits::new(device)?;
    let mut groups: Vec<(purlin_rhi::Buffer, Owned<kind::BindGroup>)> = Vec::new();
    for digit in 1..=9u32 {
        // Some data before, so that offsets differ.
        device.push_frame_data(&vec![0xEE; digit as usize * 100], 4)?;
        let slice = device.push_frame_data(&digit.to_le_bytes(), 4)?;
        let alignment = u64::from(device.limits().min_storage_offset_alignment);
        equal("offset is aligned", &[slice.offset % alignment], &[0])?;
        let group = match groups.iter().find(|(buffer, _)| *buffer == slice.buffer) {
            Some((_, group)) => **group,
            None => {
                let group = digits.group(device, slice.buffer)?;
                let handle = *group;
                groups.push((slice.buffer, group));
                handle
            }
        };
        let offset = u32::try_from(slice.offset).map_err(|_| wrong("offset", "32 bits", slice.offset))?;
        digits.step(device, group, offset)?;
    }
    equal("nine digits in order", &[digits.read(device)?], &[123_456_789])?;
    let page = device.frame_arena().page_size();
    let over = device.push_frame_data(&vec![0; page as usize + 1], 4);
    refused("more than a page", "frame arena page", over)?;
    refused("an alignment of three", "a power of two", device.push_frame_data(&[0], 3))?;
    Ok(Outcome::Passed)
}

pub(crate) fn frame_data_as_copy_source<B: Backend>(device: &mut Device<B>) -> Answer {
    let target = result_buffer(device, 16)?;
    let mut tickets = Vec::new();
    for frame in 0..FRAMES {
        let mut recorder = device.record("frame")?;
        let slice =
            recorder.push_frame_data(bytemuck::cast_slice(&[frame, frame + 1, frame + 2, frame + 3]), 16)?;
        recorder.copy_buffer(slice, *target, 0)?;
        tickets.push(recorder.read_buffer(all_of(*target, 16))?);
        recorder.submit()?;
    }
    delivered(device, &tickets, |frame| vec![frame, frame + 1, frame + 2, frame + 3])?;
    Ok(Outcome::Passed)
}

pub(crate) fn destruction_while_in_flight<B: Backend>(device: &mut Device<B>) -> Answer {
    let result = result_buffer(device, 4)?;
    let mut tickets = Vec::new();
    // Everything of the frame is dropped right after its submission, first the program too. Then one program stays:
    // its next group must not take what an earlier group has in flight.
    let kept = Program::new(device, &SHADER, &[entries::COPY_WORDS])?;
    for frame in 0..2 * FRAMES {
        let own;
        let program = if frame < FRAMES {
            own = Program::new(device, &SHADER, &[entries::COPY_WORDS])?;
            &own
        } else {
            &kept
        };
        let pipeline = program.compute(device, entries::COPY_WORDS)?;
        let source = device.create_buffer_with("source", BufferUsages::STORAGE, &frame.to_le_bytes())?;
        let group = program.group(
            device,
            0,
            &[BindGroupEntry::buffer(0, *result), BindGroupEntry::buffer(1, *source)],
        )?;
        let uses = [buffer_use(*result, 4, WRITE)];
        let mut recorder = device.record("frame")?;
        recorder.compute_pass(
            &ComputePassDesc { label: "frame", uses: &uses, ..Default::default() },
            |pass| {
                pass.set_pipeline(*pipeline);
                pass.set_bind_group(0, *group, &[]);
                pass.dispatch([1, 1, 1]);
            },
        )?;
        tickets.push(recorder.read_buffer(all_of(*result, 4))?);
        recorder.submit()?;
    }
    delivered(device, &tickets, |frame| vec![frame])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c024_destroyed_between_record_and_submit<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let format = TextureFormat::Rgba8Unorm;
    let target = device.create_texture(&TextureDesc::d2("destroyed early", 2, 2, format, usage))?;
    device.write_texture(&TexturePlace::mip(*target, 0), extent([2, 2, 1]), &rows(8, 2), &[5; 16])?;
    let mut recorder = device.record("destroy")?;
    let ticket = recorder.read_texture(&TexturePlace::mip(*target, 0), extent([2, 2, 1]))?;
    // Owners drop at any time; the recording still holds.
    drop(target);
    let token = recorder.submit()?;
    finish(device, token)?;
    equal("texels", &device.read_vec(&ticket)?, &[5; 16])?;
    Ok(Outcome::Passed)
}

pub(crate) fn dropped_recordings_leave_nothing<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let target = device.create_buffer(&BufferDesc::new("target", 8, usage))?;
    device.write_buffer(*target, 0, &[1; 8])?;
    for _ in 0..3 {
        // The upload rides on a recording that never goes out, and then on the next one.
        let mut recorder = device.record("dropped")?;
        recorder.clear_buffer(all_of(*target, 8))?;
    }
    equal("after dropped recordings", &read_buffer(device, *target, 8)?, &[1; 8])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c013_the_upload_ring_full_and_wrapped<B: Backend>(device: &mut Device<B>) -> Answer {
    let capacity = device.uploads().capacity();
    let third = (capacity / 3 / 4096 * 4096) as usize;
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let mut targets = Vec::new();
    for mark in 0..5u8 {
        let target = device.create_buffer(&BufferDesc::new("a third", third as u64, usage))?;
        let data = vec![mark + 1; third];
        let mut attempts = 0;
        loop {
            match device.write_buffer(*target, 0, &data) {
                Ok(_) => break,
                Err(purlin_rhi::Error::Pending { .. }) => {
                    let token = device.flush_uploads()?;
                    finish(device, token)?;
                }
                Err(error) => return Err(error.into()),
            }
            attempts += 1;
            if attempts > 2 {
                return Err(wrong("a full ring after its uploads completed", "room", "still full"));
            }
        }
        targets.push(target);
    }
    for (mark, target) in (1u8..).zip(&targets) {
        // The ends of each, which a wrap would overwrite first.
        let found = fetch(device, |recorder| Ok(recorder.read_buffer(all_of(**target, 4096))?))?;
        equal(format!("first bytes of {mark}"), &found, &[mark; 4096])?;
        let end = BufferSlice { buffer: **target, offset: third as u64 - 4096, size: 4096 };
        let found = fetch(device, |recorder| Ok(recorder.read_buffer(end)?))?;
        equal(format!("last bytes of {mark}"), &found, &[mark; 4096])?;
    }
    let large = device.create_buffer(&BufferDesc::new("too large", capacity + 4, usage))?;
    let data = vec![0; capacity as usize + 4];
    refused("more than the ring has", "upload ring", device.write_buffer(*large, 0, &data))?;
    Ok(Outcome::Passed)
}

pub(crate) fn c015_upload_memory_stays_what_it_was<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let bytes: Vec<u8> = (0..128).collect();
    let other: Vec<u8> = (128..=255).collect();
    let kept = device.create_buffer(&BufferDesc::new("kept", 128, usage))?;
    device.write_buffer(*kept, 0, &bytes)?;
    for frame in 0..FRAMES {
        let temporary = device.create_buffer(&BufferDesc::new("temporary", 128, usage))?;
        device.write_buffer(*temporary, 0, &other)?;
        let target = device.create_buffer(&BufferDesc::new("target", 128, usage))?;
        let found = fetch(device, |recorder| {
            recorder.copy_buffer(all_of(*kept, 128), *target, 0)?;
            Ok(recorder.read_buffer(all_of(*target, 128))?)
        })?;
        equal(format!("frame {frame}"), &found, &bytes)?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn upload_tickets_advance<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let target = device.create_buffer(&BufferDesc::new("target", 4, usage))?;
    let ticket = device.write_buffer(*target, 0, &[1; 4])?;
    equal("after the call", &[device.upload_state(ticket)?], &[UploadState::Consumed])?;
    let token = device.flush_uploads()?;
    if device.upload_state(ticket)? == UploadState::Consumed {
        return Err(wrong("after the submission", "queued or usable", "consumed"));
    }
    finish(device, token)?;
    equal("after completion", &[device.upload_state(ticket)?], &[UploadState::Usable])?;
    Ok(Outcome::Passed)
}

pub(crate) fn textures_updated_while_in_use<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let target = device.create_texture(&TextureDesc::d2("updated", 4, 4, TextureFormat::R32Uint, usage))?;
    let place = TexturePlace::mip(*target, 0);
    let mut tickets = Vec::new();
    for frame in 0..FRAMES {
        let data = [frame; 16];
        device.write_texture(&place, extent([4, 4, 1]), &rows(16, 4), bytemuck::cast_slice(&data))?;
        let mut recorder = device.record("frame")?;
        tickets.push(recorder.read_texture(&place, extent([4, 4, 1]))?);
        recorder.submit()?;
    }
    delivered(device, &tickets, |frame| vec![frame; 16])?;
    let found = read_mip(device, *target, 0, TextureAspect::All, [4, 4, 1])?;
    equal("the last one stays", &numbers::<u32>(&found), &[FRAMES - 1; 16])?;
    Ok(Outcome::Passed)
}
