//! Arrays of textures and samplers in one binding: indices, holes, and what is out of range.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, TextureFormat, TextureUsages};
use purlin_rhi::{
    BindGroupDesc, BindGroupEntry, Device, Features, Owned, SamplerDesc, TextureDesc, TexturePlace,
    TextureView, TextureViewDesc, kind,
};

use crate::array_shaders::arrays::{SHADER, entries};
use crate::kit::{
    Canvas, Checked, Kernel, Program, Raster, clear, close, equal, extent, finish, numbers, one_color,
    perform, refused, rows, wrong,
};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
/// What the shader's arrays have.
const IMAGES: usize = 8;
const SAMPLERS: usize = 2;

/// The device's own word for what it lacks of these features.
fn lacks<B: Backend>(device: &Device<B>, needed: Features) -> Option<Outcome> {
    let missing = needed - device.capabilities().features;
    (!missing.is_empty()).then(|| Outcome::Unsupported(missing.names()))
}

/// The color of an image: no two share a channel's value.
fn color(image: usize) -> [u8; 4] {
    let step = image as u8;
    [10 + step, 100 + 2 * step, 200 - step, 255]
}

fn image<B: Backend>(device: &mut Device<B>, texels: &[u8]) -> Checked<Owned<kind::TextureView>> {
    let width = texels.len() as u32 / 4;
    let texture = device.create_texture(&TextureDesc::uploaded("image", width, 1, 1, RGBA8))?;
    device.write_texture(
        &TexturePlace::mip(*texture, 0),
        extent([width, 1, 1]),
        &rows(width * 4, 1),
        texels,
    )?;
    Ok(device.create_texture_view(*texture, &TextureViewDesc::default())?)
}

/// Images of one texel, with no image where there is a hole.
fn images<B: Backend>(
    device: &mut Device<B>,
    there: &[bool],
) -> Checked<Vec<Option<Owned<kind::TextureView>>>> {
    let one = |(index, there): (usize, &bool)| there.then(|| image(device, &color(index))).transpose();
    there.iter().enumerate().map(one).collect()
}

fn handles(owned: &[Option<Owned<kind::TextureView>>]) -> Vec<Option<TextureView>> {
    owned.iter().map(|view| view.as_ref().map(Owned::handle)).collect()
}

/// Samples one image with one sampler at eighths along x.
fn choose<B: Backend>(
    device: &mut Device<B>,
    views: &[Option<TextureView>],
    samplers: &[Option<purlin_rhi::Sampler>],
    which: [u32; 3],
) -> Checked<Vec<f32>> {
    let words = [which[0], which[1], which[2], 0];
    let words = device.create_buffer_with("which", BufferUsages::STORAGE, bytemuck::cast_slice(&words))?;
    let inputs = [
        BindGroupEntry::texture_array(1, views),
        BindGroupEntry::sampler_array(2, samplers),
        BindGroupEntry::buffer(3, *words),
    ];
    let kernel = Kernel {
        source: &SHADER,
        entry: entries::CHOOSE,
        bytes: 16,
        groups: [1; 3],
        inputs: &inputs,
        uses: &[],
    };
    Ok(numbers(&kernel.run(device)?))
}

fn expected(image: usize) -> [f32; 4] {
    color(image).map(|channel| f32::from(channel) / 255.0)
}

/// A group of these images and one sampler.
fn table<B: Backend>(
    device: &mut Device<B>,
    program: &Program,
    views: &[Option<TextureView>],
    sampler: purlin_rhi::Sampler,
) -> Checked<Owned<kind::BindGroup>> {
    let samplers = [Some(sampler)];
    let entries = [BindGroupEntry::texture_array(1, views), BindGroupEntry::sampler_array(2, &samplers)];
    program.group(device, 0, &entries)
}

/// Two draws of one pass, each with its own index.
pub(crate) fn c108_draws_choose_an_element_each<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::BINDING_ARRAYS) {
        return Ok(lacks);
    }
    let owned = images(device, &[true; IMAGES])?;
    let (views, nearest) = (handles(&owned), device.create_sampler(&SamplerDesc::nearest("nearest"))?);
    let program = Program::with_dynamic(device, &SHADER, &[entries::FULLSCREEN, entries::ONE], &[(1, 0)])?;
    let mut words = vec![0u32; 2 * 64];
    (words[0], words[64]) = (1, 6);
    let uniform = device.create_buffer_with("which", BufferUsages::UNIFORM, bytemuck::cast_slice(&words))?;
    let group = table(device, &program, &views, *nearest)?;
    let chosen = program.group(device, 1, &[BindGroupEntry::buffer_range(0, *uniform, 0, 16)])?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, entries::FULLSCREEN, Some(entries::ONE), &raster)?;
    let canvas = Canvas::new(device, 2, 1, RGBA8)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0; 4])];
        recorder.render_pass(&one_color("elements", &colors), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *group, &[]);
            for x in 0..2 {
                pass.set_bind_group(1, *chosen, &[x * 256]);
                pass.set_scissor(x, 0, 1, 1);
                pass.draw(0..3, 0..1);
            }
        })?;
        Ok(())
    })?;
    canvas.image(device)?.expect("two elements", 0, |x, _| color([1, 6][x as usize]))?;
    Ok(Outcome::Passed)
}

/// Holes, and what lies past the end of what was given, show the first element, which stays alive without its owner.
pub(crate) fn holes_show_the_first_element<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::BINDING_ARRAYS) {
        return Ok(lacks);
    }
    let there = [true, false, true, false, false, true];
    let owned = images(device, &there)?;
    let views = handles(&owned);
    let nearest = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    for index in 0..IMAGES {
        let found = choose(device, &views, &[Some(*nearest)], [index as u32, 1, 4])?;
        let shown = if there.get(index) == Some(&true) { index } else { 0 };
        close(format!("element {index}"), &found, &expected(shown), 1e-3)?;
    }
    Ok(Outcome::Passed)
}

/// A row of a black and a white texel, sampled between them: one sampler takes one of them, the other mixes both.
pub(crate) fn samplers_are_chosen_by_index<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::BINDING_ARRAYS) {
        return Ok(lacks);
    }
    let row = image(device, &[0, 0, 0, 255, 255, 255, 255, 255])?;
    let nearest = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    let linear = device.create_sampler(&SamplerDesc::linear("linear"))?;
    let samplers = [Some(*nearest), Some(*linear)];
    for (sampler, value) in [(0, 0.0), (1, 0.25)] {
        let found = choose(device, &[Some(*row)], &samplers, [0, sampler, 3])?;
        close(format!("sampler {sampler}"), &found[..1], &[value], 0.01)?;
    }
    Ok(Outcome::Passed)
}

/// An index past the array that the shader declares is that of the last element: nothing beyond it is ever reached.
pub(crate) fn an_index_out_of_range_is_the_last<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::BINDING_ARRAYS) {
        return Ok(lacks);
    }
    if device.adapter().backend.starts_with("wgpu") {
        // A driver may crash on what it finds there, so this is not even tried.
        let lacks = "checks of indices into arrays of bindings, which wgpu compiles none of";
        return Ok(Outcome::Unsupported(lacks.into()));
    }
    let owned = images(device, &[true; IMAGES])?;
    let views = handles(&owned);
    let nearest = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    for index in [IMAGES as u32, 1_000_000, u32::MAX] {
        let found = choose(device, &views, &[Some(*nearest)], [index, SAMPLERS as u32, 4])?;
        close(format!("index {index}"), &found, &expected(IMAGES - 1), 1e-3)?;
    }
    Ok(Outcome::Passed)
}

/// Invocations of one workgroup, each with its own index.
pub(crate) fn invocations_choose_an_element_each<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::NON_UNIFORM_INDEXING) {
        return Ok(lacks);
    }
    let owned = images(device, &[true, true, true, false, true, true, true, true])?;
    let views = handles(&owned);
    let nearest = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    let samplers = [Some(*nearest); SAMPLERS];
    let inputs = [BindGroupEntry::texture_array(1, &views), BindGroupEntry::sampler_array(2, &samplers)];
    let kernel = Kernel {
        source: &SHADER,
        entry: entries::EACH,
        bytes: 256,
        groups: [1; 3],
        inputs: &inputs,
        uses: &[],
    };
    let found: Vec<f32> = numbers(&kernel.run(device)?);
    let shown = |index: usize| if index % IMAGES == 3 { 0 } else { index % IMAGES };
    let wanted: Vec<f32> = (0..16).flat_map(|index| expected(shown(index))).collect();
    close("elements", &found, &wanted, 1e-3)?;
    Ok(Outcome::Passed)
}

/// A table is replaced by another group. Work that was submitted with the old one goes on with it, owners or not.
pub(crate) fn a_table_is_replaced_while_the_old_is_in_flight<B: Backend>(device: &mut Device<B>) -> Answer {
    if let Some(lacks) = lacks(device, Features::BINDING_ARRAYS) {
        return Ok(lacks);
    }
    let program = Program::new(device, &SHADER, &[entries::FULLSCREEN, entries::ONE])?;
    let targets = [Some(RGBA8.into())];
    let raster = Raster { targets: &targets, ..Default::default() };
    let pipeline = program.raster(device, entries::FULLSCREEN, Some(entries::ONE), &raster)?;
    let nearest = device.create_sampler(&SamplerDesc::nearest("nearest"))?;
    let uniform =
        device.create_buffer_with("which", BufferUsages::UNIFORM, bytemuck::bytes_of(&[1u32, 0, 0, 0]))?;
    let chosen = program.group(device, 1, &[BindGroupEntry::buffer(0, *uniform)])?;
    let mut canvases = Vec::new();
    let mut last = None;
    let mut retired = None;
    for round in 0..4 {
        let owned = [image(device, &color(0))?, image(device, &color(round))?];
        let views = [Some(*owned[0]), Some(*owned[1])];
        let group = table(device, &program, &views, *nearest)?;
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let canvas = Canvas::with_usage(device, 1, 1, RGBA8, usage)?;
        let mut recorder = device.record("table")?;
        recorder.render_pass(&one_color("table", &[clear(*canvas.view, [0.0; 4])]), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, *group, &[]);
            pass.set_bind_group(1, *chosen, &[]);
            pass.draw(0..3, 0..1);
        })?;
        last = Some(recorder.submit()?);
        canvases.push(canvas);
        // The group and its images lose their owners here, perhaps before the GPU has begun.
        retired = Some((group.handle(), views));
    }
    let Some(token) = last else { return Err(wrong("rounds", "some", "none")) };
    finish(device, token)?;
    for (round, canvas) in canvases.iter().enumerate() {
        equal(format!("round {round}"), &canvas.bytes(device)?, &color(round))?;
    }
    // What named the old table names nothing now.
    if let Some((group, views)) = retired {
        let samplers = [Some(*nearest)];
        let entries = [BindGroupEntry::texture_array(1, &views), BindGroupEntry::sampler_array(2, &samplers)];
        let desc = BindGroupDesc { label: "stale", layout: *program.groups[0], entries: &entries };
        refused("an image of a dropped table", "stale", device.create_bind_group(&desc))?;
        let canvas = Canvas::new(device, 1, 1, RGBA8)?;
        let mut recorder = device.record("stale")?;
        let result = recorder.render_pass(&one_color("stale", &[clear(*canvas.view, [0.0; 4])]), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.set_bind_group(1, *chosen, &[]);
            pass.draw(0..3, 0..1);
        });
        refused("a dropped table", "stale", result)?;
    }
    Ok(Outcome::Passed)
}
