//! Bind groups: dynamic offsets, immutability, lifetime; immediates.

use purlin_rhi::backend::Backend;
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::types::{BufferUsages, ShaderStages, TextureFormat};
use purlin_rhi::{
    BindGroupEntry, Buffer, ComputePassDesc, Device, Owned, TextureDesc, TexturePlace, TextureViewDesc, kind,
};

use crate::kit::{
    Canvas, Checked, Program, Raster, all_of, buffer_use, clear, equal, extent, fetch, load, numbers,
    one_color, perform, read_buffer, refused, result_buffer, rows, wrong,
};
use crate::shaders::bindings::{Immediates, SHADER, entries};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
const WRITE: BufferUse = BufferUse::StorageWrite(ShaderStages::COMPUTE);

/// The most that a dynamic offset's alignment may be.
const STEP: u64 = 256;

pub(crate) fn c033_each_group_keeps_its_dynamic_offset<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [entries::FULLSCREEN, entries::TWO_GROUPS];
    let program = Program::with_dynamic(device, &SHADER, &names, &[(0, 0), (1, 0)])?;
    // Element i of the first is i fifths, and of the second 1 - i fifths.
    let mut values = [vec![0.0f32; 64 * 4], vec![0.0f32; 64 * 4]];
    for i in 0..4 {
        values[0][i * 64] = i as f32 / 5.0;
        values[1][i * 64] = 1.0 - i as f32 / 5.0;
    }
    let mut groups = Vec::new();
    for (index, values) in values.iter().enumerate() {
        let buffer =
            device.create_buffer_with("values", BufferUsages::UNIFORM, bytemuck::cast_slice(values))?;
        groups.push(program.group(device, index, &[BindGroupEntry::buffer_range(0, *buffer, 0, 16)])?);
    }
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    let canvas = Canvas::new(device, 3, 1, RGBA8)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("offsets", &colors), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *groups[0], &[0]);
            pass.set_bind_group(1, *groups[1], &[0]);
            pass.set_scissor(0, 0, 1, 1);
            pass.draw(0..3, 0..1);
            pass.set_bind_group(0, *groups[0], &[256]);
            pass.set_bind_group(1, *groups[1], &[512]);
            pass.set_scissor(1, 0, 1, 1);
            pass.draw(0..3, 0..1);
            // Only the second moves; the first keeps its offset.
            pass.set_bind_group(1, *groups[1], &[768]);
            pass.set_scissor(2, 0, 1, 1);
            pass.draw(0..3, 0..1);
        })?;
        Ok(())
    })?;
    let expected = [[0, 255, 0, 255], [51, 153, 0, 255], [51, 102, 0, 255]];
    canvas.image(device)?.expect("three draws", 0, |x, _| expected[x as usize])?;
    Ok(Outcome::Passed)
}

/// Two pipelines of one layout: the first uses only its second group, and what it was given the other one finds.
pub(crate) fn a_group_that_no_shader_uses_need_not_be_set<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [entries::FULLSCREEN, entries::SECOND_ALONE, entries::TWO_GROUPS];
    let program = Program::new(device, &SHADER, &names)?;
    let mut groups = Vec::new();
    for (index, value) in [0.2f32, 0.6].into_iter().enumerate() {
        let values = [value, 0.0, 0.0, 0.0];
        let buffer =
            device.create_buffer_with("value", BufferUsages::UNIFORM, bytemuck::cast_slice(&values))?;
        groups.push(program.group(device, index, &[BindGroupEntry::buffer(0, *buffer)])?);
    }
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let alone = program.raster(device, names[0], Some(names[1]), &raster)?;
    let both = program.raster(device, names[0], Some(names[2]), &raster)?;
    let canvas = Canvas::new(device, 2, 1, RGBA8)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("groups", &colors), |pass| {
            pass.set_pipeline(*alone);
            pass.set_bind_group(1, *groups[1], &[]);
            pass.set_scissor(0, 0, 1, 1);
            pass.draw(0..3, 0..1);
            pass.set_pipeline(*both);
            pass.set_bind_group(0, *groups[0], &[]);
            pass.set_scissor(1, 0, 1, 1);
            pass.draw(0..3, 0..1);
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect("groups", 0, |x, _| [[0, 153, 255, 255], [51, 153, 0, 255]][x as usize])?;
    Ok(Outcome::Passed)
}

/// Passes of one recording that set nearly the same, with passes of another layout in between: each draws what it set
/// itself, over all of the canvas but for its own scissor.
pub(crate) fn passes_start_with_nothing_bound<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [entries::FULLSCREEN, entries::TWO_GROUPS];
    let moving = Program::with_dynamic(device, &SHADER, &names, &[(0, 0), (1, 0)])?;
    let fixed = Program::with_dynamic(device, &SHADER, &names, &[(1, 0)])?;
    // Element i is i fifths.
    let mut values = vec![0.0f32; 64 * 6];
    for i in 0..6 {
        values[i * 64] = i as f32 / 5.0;
    }
    let buffer = device.create_buffer_with("values", BufferUsages::UNIFORM, bytemuck::cast_slice(&values))?;
    let entries = [BindGroupEntry::buffer_range(0, *buffer, 0, 16)];
    let mut group = |program: &Program, index| program.group(device, index, &entries);
    let groups = [group(&moving, 0)?, group(&moving, 1)?, group(&fixed, 0)?, group(&fixed, 1)?];
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipelines = [
        moving.raster(device, names[0], Some(names[1]), &raster)?,
        fixed.raster(device, names[0], Some(names[1]), &raster)?,
    ];
    // Which program, the two elements, and whether the viewport is the pass's one pixel alone.
    let passes: [(usize, u32, u32, bool); 8] = [
        (0, 1, 2, false),
        (0, 1, 2, false),
        (0, 1, 3, true),
        (0, 1, 3, false),
        (1, 0, 4, true),
        (0, 1, 3, false),
        (1, 0, 4, false),
        (0, 5, 3, false),
    ];
    let canvas = Canvas::new(device, 8, 1, RGBA8)?;
    perform(device, |recorder| {
        for (x, &(program, first, second, small)) in passes.iter().enumerate() {
            let colors = [if x == 0 { clear(*canvas.view, [0.0; 4]) } else { load(*canvas.view) }];
            recorder.render_pass(&one_color("pass", &colors), |pass| {
                pass.set_pipeline(*pipelines[program]);
                let offsets = [first * 256];
                pass.set_bind_group(0, *groups[program * 2], if program == 0 { &offsets } else { &[] });
                pass.set_bind_group(1, *groups[program * 2 + 1], &[second * 256]);
                if small {
                    pass.set_viewport(x as f32, 0.0, 1.0, 1.0, (0.0, 1.0));
                }
                pass.set_scissor(x as u32, 0, 1, 1);
                pass.draw(0..3, 0..1);
            })?;
        }
        Ok(())
    })?;
    let expected = passes.map(|(_, first, second, _)| [first as u8 * 51, second as u8 * 51, 0, 255]);
    canvas.image(device)?.expect("eight passes", 0, |x, _| expected[x as usize])?;
    Ok(Outcome::Passed)
}

/// A kernel that appends one word for each dispatch, over a storage buffer and a uniform buffer with offsets.
struct Append {
    group: Owned<kind::BindGroup>,
    pipeline: Owned<kind::ComputePipeline>,
    answer: Owned<kind::Buffer>,
}

/// Bytes of the answer: a count and up to 31 words.
const ANSWER: u64 = 128;

impl Append {
    /// `elements` slices of four words, 256 bytes apart: the first word is 1000 i and the last i.
    fn new<B: Backend>(device: &mut Device<B>, elements: u32) -> Checked<Self> {
        let program = Program::with_dynamic(device, &SHADER, &[entries::APPEND], &[(0, 1), (0, 2)])?;
        let mut words = vec![0u32; elements as usize * 64];
        for i in 0..elements {
            words[i as usize * 64] = 1000 * i;
            words[i as usize * 64 + 3] = i;
        }
        let usage = BufferUsages::STORAGE | BufferUsages::UNIFORM;
        let slices = device.create_buffer_with("slices", usage, bytemuck::cast_slice(&words))?;
        let answer = result_buffer(device, ANSWER)?;
        let entries = [
            BindGroupEntry::buffer(0, *answer),
            BindGroupEntry::buffer_range(1, *slices, 0, 16),
            BindGroupEntry::buffer_range(2, *slices, 0, 16),
        ];
        let group = program.group(device, 0, &entries)?;
        Ok(Self { group, pipeline: program.compute(device, entries::APPEND)?, answer })
    }

    /// Dispatches once for each pair of offsets, in order, and answers what was appended.
    fn run<B: Backend>(&self, device: &mut Device<B>, offsets: &[[u32; 2]]) -> Checked<Vec<u32>> {
        let uses = [buffer_use(*self.answer, ANSWER, WRITE)];
        let bytes = fetch(device, |recorder| {
            recorder.clear_buffer(all_of(*self.answer, ANSWER))?;
            recorder.compute_pass(
                &ComputePassDesc { label: "append", uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*self.pipeline);
                    for offsets in offsets {
                        pass.set_bind_group(0, *self.group, offsets);
                        pass.dispatch([1, 1, 1]);
                        pass.barrier();
                    }
                },
            )?;
            Ok(recorder.read_buffer(all_of(*self.answer, ANSWER))?)
        })?;
        let words: Vec<u32> = numbers(&bytes);
        Ok(words.get(1..=words[0] as usize).unwrap_or(&words).to_vec())
    }
}

pub(crate) fn dynamic_offsets_of_storage_and_uniform<B: Backend>(device: &mut Device<B>) -> Answer {
    let append = Append::new(device, 8)?;
    let offsets = [[0, 0], [256, 0], [0, 256], [1792, 512], [512, 1792]];
    // The storage slice's first and last word, and the uniform's first.
    let expected: Vec<u32> = offsets.iter().map(|[a, b]| 1001 * (a / 256) + 1000 * (b / 256)).collect();
    equal("appended", &append.run(device, &offsets)?, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn c032_dynamic_offsets_up_to_the_exact_end<B: Backend>(device: &mut Device<B>) -> Answer {
    let append = Append::new(device, 10)?;
    equal("at the last element", &append.run(device, &[[2304, 2304]])?, &[9009 + 9000])?;
    for (offsets, says) in [([2560, 0], "at most"), ([0, 2560], "at most"), ([2, 0], "a multiple of")] {
        match append.run(device, &[offsets]) {
            Err(crate::Failure::Device(error)) => {
                refused::<()>(format!("offsets {offsets:?}"), says, Err(error))?
            }
            _ => return Err(wrong(format!("offsets {offsets:?}"), "an error", "success")),
        }
    }
    // A binding to the end of its buffer can only be at offset 0, and the error says so.
    let program =
        Program::with_dynamic(device, &SHADER, &[entries::FULLSCREEN, entries::TWO_GROUPS], &[(0, 0)])?;
    let buffer = device.create_buffer_with("whole", BufferUsages::UNIFORM, &[0; 2560])?;
    let whole = program.group(device, 0, &[BindGroupEntry::buffer(0, *buffer)])?;
    let canvas = Canvas::new(device, 1, 1, RGBA8)?;
    let mut recorder = device.record("whole")?;
    let colors = [clear(*canvas.view, [0.0; 4])];
    let set = recorder
        .render_pass(&one_color("whole", &colors), |pass| pass.set_bind_group(0, *whole, &[STEP as u32]));
    refused("an offset over a whole buffer", "the 2560 bound bytes reach the buffer's end", set)?;
    drop(recorder);
    Ok(Outcome::Passed)
}

/// Reads the red and green of a texture's first texel by a group with a storage buffer.
struct Reader {
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
}

impl Reader {
    fn new<B: Backend>(device: &mut Device<B>) -> Checked<Self> {
        let program = Program::new(device, &SHADER, &[entries::TEXEL_TO_BUFFER])?;
        let pipeline = program.compute(device, entries::TEXEL_TO_BUFFER)?;
        Ok(Self { program, pipeline })
    }

    fn run<B: Backend>(
        &self,
        device: &mut Device<B>,
        group: &Owned<kind::BindGroup>,
        target: Buffer,
    ) -> Checked {
        let uses: [ResourceUse; 1] = [buffer_use(target, 4, WRITE)];
        perform(device, |recorder| {
            recorder.compute_pass(
                &ComputePassDesc { label: "read texel", uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*self.pipeline);
                    pass.set_bind_group(0, **group, &[]);
                    pass.dispatch([1, 1, 1]);
                },
            )?;
            Ok(())
        })
    }
}

/// A texture of one texel, with a view of it.
fn one_texel<B: Backend>(
    device: &mut Device<B>,
    color: [u8; 4],
) -> Checked<(Owned<kind::Texture>, Owned<kind::TextureView>)> {
    let texture = device.create_texture(&TextureDesc::uploaded("texel", 1, 1, 1, RGBA8))?;
    device.write_texture(&TexturePlace::mip(*texture, 0), extent([1, 1, 1]), &rows(4, 1), &color)?;
    let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
    Ok((texture, view))
}

pub(crate) fn c020_a_reused_slot_is_another_resource<B: Backend>(device: &mut Device<B>) -> Answer {
    let reader = Reader::new(device)?;
    let target = result_buffer(device, 4)?;
    let group_of = |device: &mut Device<B>, view: purlin_rhi::TextureView| {
        let entries = [BindGroupEntry::buffer(0, *target), BindGroupEntry::texture(1, view)];
        reader.program.group(device, 0, &entries)
    };
    let (red_texture, red) = one_texel(device, [255, 0, 0, 255])?;
    let red_group = group_of(device, *red)?;
    reader.run(device, &red_group, *target)?;
    equal("red", &numbers::<u32>(&read_buffer(device, *target, 4)?), &[255])?;
    let old = *red;
    drop((red_group, red, red_texture));
    device.maintain()?;
    let (_green_texture, green) = one_texel(device, [0, 255, 0, 255])?;
    equal("the slot is used again", &[green.slot()], &[old.slot()])?;
    let green_group = group_of(device, *green)?;
    reader.run(device, &green_group, *target)?;
    equal("green", &numbers::<u32>(&read_buffer(device, *target, 4)?), &[255 * 256])?;
    match group_of(device, old) {
        Err(crate::Failure::Device(error)) => refused::<()>("the old handle", "stale", Err(error))?,
        _ => return Err(wrong("a group of a stale view", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c022_a_repointed_buffer_is_another_group<B: Backend>(device: &mut Device<B>) -> Answer {
    let reader = Reader::new(device)?;
    let (p, q) = (result_buffer(device, 4)?, result_buffer(device, 4)?);
    device.write_buffer(*p, 0, &[0; 4])?;
    device.write_buffer(*q, 0, &[0; 4])?;
    let (_texture, view) = one_texel(device, [7, 0, 0, 255])?;
    let group = |device: &mut Device<B>, buffer: Buffer| {
        let entries = [BindGroupEntry::buffer(0, buffer), BindGroupEntry::texture(1, *view)];
        reader.program.group(device, 0, &entries)
    };
    let (group_p, group_q) = (group(device, *p)?, group(device, *q)?);
    reader.run(device, &group_p, *p)?;
    equal("Q before", &numbers::<u32>(&read_buffer(device, *q, 4)?), &[0])?;
    device.write_buffer(*p, 0, &[0; 4])?;
    reader.run(device, &group_q, *q)?;
    equal("P after", &numbers::<u32>(&read_buffer(device, *p, 4)?), &[0])?;
    equal("Q after", &numbers::<u32>(&read_buffer(device, *q, 4)?), &[7])?;
    // The control without a texture, both groups within one pass.
    let program = Program::new(device, &SHADER, &[entries::MARK])?;
    let pipeline = program.compute(device, entries::MARK)?;
    device.write_buffer(*q, 0, &[0; 4])?;
    let mark_p = program.group(device, 0, &[BindGroupEntry::buffer(0, *p)])?;
    let mark_q = program.group(device, 0, &[BindGroupEntry::buffer(0, *q)])?;
    let uses = [buffer_use(*p, 4, WRITE), buffer_use(*q, 4, WRITE)];
    perform(device, |recorder| {
        recorder.compute_pass(
            &ComputePassDesc { label: "mark", uses: &uses, ..Default::default() },
            |pass| {
                pass.set_pipeline(*pipeline);
                for group in [*mark_p, *mark_q, *mark_p] {
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch([1, 1, 1]);
                    pass.barrier();
                }
            },
        )?;
        Ok(())
    })?;
    equal("P is marked twice", &numbers::<u32>(&read_buffer(device, *p, 4)?), &[2])?;
    equal("Q is marked once", &numbers::<u32>(&read_buffer(device, *q, 4)?), &[1])?;
    Ok(Outcome::Passed)
}

pub(crate) fn groups_keep_what_they_bind<B: Backend>(device: &mut Device<B>) -> Answer {
    let reader = Reader::new(device)?;
    let target = result_buffer(device, 4)?;
    let group = {
        let (_texture, view) = one_texel(device, [33, 1, 0, 255])?;
        let entries = [BindGroupEntry::buffer(0, *target), BindGroupEntry::texture(1, *view)];
        reader.program.group(device, 0, &entries)?
    };
    // The owners of view and texture are gone; their upload is still pending.
    device.maintain()?;
    reader.run(device, &group, *target)?;
    equal("texel", &numbers::<u32>(&read_buffer(device, *target, 4)?), &[33 + 256])?;
    Ok(Outcome::Passed)
}

pub(crate) fn undeclared_writes_are_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let program = Program::new(device, &SHADER, &[entries::MARK])?;
    let target = result_buffer(device, 4)?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *target)])?;
    let reads = [buffer_use(*target, 4, BufferUse::StorageRead(ShaderStages::COMPUTE))];
    device.write_buffer(*target, 0, &[0; 4])?;
    for uses in [&[][..], &reads] {
        let mut recorder = device.record("undeclared")?;
        let desc = ComputePassDesc { label: "undeclared", uses, ..Default::default() };
        let set = recorder.compute_pass(&desc, |pass| pass.set_bind_group(0, *group, &[]));
        refused("a write that was not declared", "declared by the pass", set)?;
        refused("the recording after it", "declared by the pass", recorder.submit())?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn immediates_in_raster<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = immediates_missing(device) {
        return Ok(outcome);
    }
    let names = [entries::FULLSCREEN, entries::IMMEDIATE_COLOR];
    let program = Program::new(device, &SHADER, &names)?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    let canvas = Canvas::new(device, 3, 1, RGBA8)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("immediates", &colors), |pass| {
            pass.set_pipeline(*pipeline);
            let bytes = Immediates::new([1.0, 0.0, 0.0, 1.0], 0);
            pass.set_immediates(0, bytemuck::bytes_of(&bytes));
            for x in 0..3 {
                // Only a part changes from draw to draw.
                pass.set_immediates(4, bytemuck::bytes_of(&(x as f32 / 5.0)));
                pass.set_scissor(x, 0, 1, 1);
                pass.draw(0..3, 0..1);
            }
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect("colors", 0, |x, _| [255, x as u8 * 51, 0, 255])?;
    Ok(Outcome::Passed)
}

fn immediates_missing<B: Backend>(device: &Device<B>) -> Option<Outcome> {
    let needed = size_of::<Immediates>() as u32;
    (device.limits().max_immediate_size < needed)
        .then(|| Outcome::Unsupported("limit max_immediate_size".into()))
}

pub(crate) fn immediates_in_compute<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(outcome) = immediates_missing(device) {
        return Ok(outcome);
    }
    let program = Program::new(device, &SHADER, &[entries::IMMEDIATE_WORDS])?;
    let pipeline = program.compute(device, entries::IMMEDIATE_WORDS)?;
    let target = result_buffer(device, 12)?;
    let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *target)])?;
    let uses = [buffer_use(*target, 12, WRITE)];
    let bytes = fetch(device, |recorder| {
        recorder.compute_pass(
            &ComputePassDesc { label: "immediates", uses: &uses, ..Default::default() },
            |pass| {
                // Before the pipeline is known, in two parts.
                let immediates = Immediates::new([3.0, 0.0, 0.0, 5.0], 4_000_000_000);
                let bytes = bytemuck::bytes_of(&immediates);
                pass.set_immediates(16, &bytes[16..]);
                pass.set_immediates(0, &bytes[..16]);
                pass.set_pipeline(*pipeline);
                pass.set_bind_group(0, *group, &[]);
                pass.dispatch([1, 1, 1]);
            },
        )?;
        Ok(recorder.read_buffer(all_of(*target, 12))?)
    })?;
    equal("words", &numbers::<u32>(&bytes), &[4_000_000_000, 3, 5])?;
    let mut recorder = device.record("missing immediates")?;
    let pass = recorder.compute_pass(
        &ComputePassDesc { label: "missing", uses: &uses, ..Default::default() },
        |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *group, &[]);
            pass.dispatch([1, 1, 1]);
        },
    );
    refused("a dispatch without its immediates", "bytes of immediates", pass)?;
    drop(recorder);
    Ok(Outcome::Passed)
}
