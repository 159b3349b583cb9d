//! As many objects, passes and draws as real programs have (D9).

use purlin_graph::{Graph, GraphArena};
use purlin_rhi::backend::Backend;
use purlin_rhi::types::{BufferUsages, QueryType, TextureFormat, TextureUsages};
use purlin_rhi::{
    BindGroupEntry, BufferDesc, ClearValue, ColorTarget, CommandBatchDesc, Device, Error, HeapDesc, LoadOp,
    QuerySetDesc, ResourceKind, SamplerDesc, TextureDesc, TexturePlace, TextureViewDesc,
};

use crate::kit::{
    Canvas, Checked, Paint, Painter, Program, Raster, clear, equal, extent, finish, one_color, perform, rows,
    wrong,
};
use crate::shaders::{compute, paint};
use crate::{Answer, Outcome};

const RGBA8: TextureFormat = TextureFormat::Rgba8Unorm;
/// Of every kind.
const OBJECTS: u32 = 80;

/// What is made, unless the device cannot.
fn unless_unsupported<T>(result: Result<T, crate::Failure>) -> Checked<Option<T>> {
    match result {
        Ok(made) => Ok(Some(made)),
        Err(failure) if failure.missing_capability().is_some() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Eighty of every kind at once, and nothing of them afterwards.
pub(crate) fn eighty_objects_of_every_kind<B: Backend>(device: &mut Device<B>) -> Answer {
    let before = ResourceKind::ALL.map(|kind| device.objects(kind).live);
    let logical = device.memory().logical;
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut lacking = Vec::new();
    let probe = TextureDesc::d2("small", 4, 4, RGBA8, TextureUsages::RENDER_ATTACHMENT);
    let needs = device.texture_memory(&probe)?;
    for _ in 0..OBJECTS {
        let buffer = device.create_buffer(&BufferDesc::new("small", 256, BufferUsages::UNIFORM))?;
        let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        let texture = device.create_texture(&TextureDesc::d2("small", 4, 4, RGBA8, usage))?;
        let view = device.create_texture_view(*texture, &TextureViewDesc::default())?;
        let sampler = device.create_sampler(&SamplerDesc::linear("sampler"))?;
        // A module, a group layout and a pipeline layout.
        let program =
            Program::new(device, &paint::SHADER, &[paint::entries::RECTANGLE, paint::entries::COLOR])?;
        let group = program.group(device, 0, &[BindGroupEntry::buffer(0, *buffer)])?;
        let targets = [Some(ColorTarget::from(RGBA8))];
        let raster = Raster { targets: &targets, ..Default::default() };
        let raster =
            program.raster(device, paint::entries::RECTANGLE, Some(paint::entries::COLOR), &raster)?;
        kept.push(Box::new((buffer, texture, view, sampler, program, group, raster)));
        let counts = [compute::entries::COUNT_GROUPS];
        match unless_unsupported(Program::new(device, &compute::SHADER, &counts).and_then(|program| {
            let pipeline = program.compute(device, compute::entries::COUNT_GROUPS)?;
            Ok((program, pipeline))
        }))? {
            Some(made) => kept.push(Box::new(made)),
            None => lacking.push(ResourceKind::ComputePipeline),
        }
        let set = QuerySetDesc { label: "queries", ty: QueryType::Occlusion, count: 4 };
        match unless_unsupported(device.create_query_set(&set).map_err(Into::into))? {
            Some(set) => kept.push(Box::new(set)),
            None => lacking.push(ResourceKind::QuerySet),
        }
        match needs {
            Some(needs) => {
                let heap = HeapDesc {
                    label: "heap",
                    size: needs.size,
                    alignment: needs.alignment,
                    class: needs.class,
                };
                kept.push(Box::new(device.create_heap(&heap)?));
            }
            None => lacking.push(ResourceKind::Heap),
        }
        let batch = CommandBatchDesc { label: "batch", colors: &[Some(RGBA8)], ..Default::default() };
        kept.push(Box::new(device.create_batch(&batch)?));
    }
    for (kind, before) in ResourceKind::ALL.into_iter().zip(before) {
        let objects = device.objects(kind);
        let made = objects.live - before;
        if made < OBJECTS && !lacking.contains(&kind) {
            return Err(wrong(format!("objects of kind {kind}"), format!("at least {OBJECTS}"), made));
        }
        if objects.peak < objects.live || objects.ceiling < objects.peak {
            return Err(wrong(kind, "live, peak and ceiling in order", format!("{objects:?}")));
        }
    }
    let memory = device.memory();
    let least = u64::from(OBJECTS) * (256 + 64);
    if memory.logical - logical < least || memory.logical_peak < memory.logical {
        return Err(wrong("bytes", format!("{least} more, and a peak"), format!("{memory:?}")));
    }
    if let Some(native) = memory.native
        && (native.blocks < native.allocated || native.allocated_peak < native.allocated)
    {
        return Err(wrong("native bytes", "allocated in blocks, and a peak", format!("{native:?}")));
    }
    drop(kept);
    device.maintain()?;
    let after = ResourceKind::ALL.map(|kind| device.objects(kind).live);
    equal("objects left", &after, &before)?;
    equal("bytes left", &[device.memory().logical, device.memory().retiring], &[logical, 0])?;
    // What is too large is refused, and costs nothing.
    let large = device.limits().max_buffer_size.saturating_add(4);
    match device.create_buffer(&BufferDesc::new("large", large, BufferUsages::VERTEX)) {
        Err(Error::Unsupported { .. }) => {}
        other => return Err(wrong("a buffer beyond the limit", "Unsupported", format!("{other:?}"))),
    }
    equal("bytes of what was refused", &[device.memory().logical], &[logical])?;
    Ok(Outcome::Passed)
}

/// Each keeps its own contents.
pub(crate) fn seventy_two_small_textures<B: Backend>(device: &mut Device<B>) -> Answer {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
    let mut textures = Vec::new();
    for value in 0..72u8 {
        let texture = device.create_texture(&TextureDesc::d2("small", 4, 4, RGBA8, usage))?;
        let place = TexturePlace::mip(*texture, 0);
        device.write_texture(&place, extent([4, 4, 1]), &rows(16, 4), &[value; 64])?;
        textures.push(texture);
    }
    let mut recorder = device.record("read back")?;
    let mut tickets = Vec::new();
    for texture in &textures {
        tickets.push(recorder.read_texture(&TexturePlace::mip(**texture, 0), extent([4, 4, 1]))?);
    }
    let token = recorder.submit()?;
    finish(device, token)?;
    for (value, ticket) in (0..).zip(&tickets) {
        equal(format!("texture {value}"), &device.read_vec(ticket)?, &[value; 64])?;
    }
    Ok(Outcome::Passed)
}

/// A texel of a grid with this many in a row, and its color.
fn cell(index: u32, side: u32) -> Paint {
    let at = |number: u32| number as f32 / side as f32 * 2.0 - 1.0;
    let (x, y) = (index % side, side - 1 - index / side);
    Paint::new([at(x), at(y), at(x + 1), at(y + 1)], shade(index).map(|c| f32::from(c) / 255.0), 0.5, 0.0)
}

fn shade(index: u32) -> [u8; 4] {
    [(index % 251) as u8, (index / 251) as u8, 7, 255]
}

/// The texel of a grid of which the first `count` are painted.
fn painted(count: u32, side: u32) -> impl Fn(u32, u32) -> [u8; 4] {
    move |x, y| {
        let index = y * side + x;
        if index < count { shade(index) } else { [0; 4] }
    }
}

/// 405 draws over 40 passes of a graph, recorded apart and merged.
pub(crate) fn draws_over_forty_passes<B: Backend>(device: &mut Device<B>) -> Answer {
    const DRAWS: u32 = 405;
    const PASSES: u32 = 40;
    const SIDE: u32 = 21;
    let paints: Vec<_> = (0..DRAWS).map(|index| cell(index, SIDE)).collect();
    let painter = Painter::new(device, &paints)?;
    let targets = [Some(ColorTarget::from(RGBA8))];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let pipeline = *pipeline;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let mut arena = GraphArena::new();
    for merge in [false, true] {
        arena.options().merge = merge;
        let mut graph = Graph::new("frame", &mut arena);
        let mut color = graph.import_texture("canvas", *canvas.texture);
        for index in 0..PASSES {
            let black = LoadOp::Clear(ClearValue::Float([0.0; 4]));
            let load = if index == 0 { black } else { LoadOp::Load };
            // Ten in each, and the rest in the last.
            let draws = index * 10..if index == PASSES - 1 { DRAWS } else { index * 10 + 10 };
            let painter = &painter;
            graph.render("pass").color(0, &mut color, load).record(move |pass| {
                draws.clone().for_each(|draw| painter.paint(pass, pipeline, draw as usize));
            });
        }
        let submitted = graph.submit(device).map_err(|error| wrong("graph", "a submission", error))?;
        equal("passes", &[submitted.stats.passes, submitted.stats.culled], &[PASSES, 0])?;
        finish(device, submitted.token)?;
        canvas.image(device)?.expect(format!("merge {merge}"), 1, painted(DRAWS, SIDE))?;
    }
    Ok(Outcome::Passed)
}

/// 1,100 draws in one pass.
pub(crate) fn a_batch_of_eleven_hundred_draws<B: Backend>(device: &mut Device<B>) -> Answer {
    const DRAWS: u32 = 1100;
    const SIDE: u32 = 34;
    let paints: Vec<_> = (0..DRAWS).map(|index| cell(index, SIDE)).collect();
    let painter = Painter::new(device, &paints)?;
    let targets = [Some(ColorTarget::from(RGBA8))];
    let pipeline = painter.pipeline(device, &Raster { targets: &targets, ..Default::default() })?;
    let canvas = Canvas::new(device, SIDE, SIDE, RGBA8)?;
    let colors = [clear(*canvas.view, [0.0; 4])];
    perform(device, |recorder| {
        Ok(recorder.render_pass(&one_color("batch", &colors), |pass| {
            (0..DRAWS as usize).for_each(|draw| painter.paint(pass, *pipeline, draw));
        })?)
    })?;
    canvas.image(device)?.expect("batch", 1, painted(DRAWS, SIDE))?;
    Ok(Outcome::Passed)
}
