//! `groups`.

use std::time::Instant;

use purlin_rhi::backend::Backend;
use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BindGroupDesc, BindGroupEntry, ComputePassDesc, Owned, TextureView, kind};

use super::make::{Gpu, Image, Program, storage};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{SLICES, STRIDE, TEXTURES_PER_GROUP, Workload, array_groups};
use crate::{array_shaders, shaders};

/// What the groups show.
enum Contents {
    /// A slice of the buffer each.
    Slices(Owned<kind::Buffer>),
    /// One group, and the slice by offset.
    Dynamic(Owned<kind::Buffer>),
    /// So many textures each.
    Textures(Vec<Image>),
    /// One array of so many textures each.
    Arrays { views: Vec<Option<TextureView>>, each: usize, _images: Vec<Image> },
}

pub struct Groups<'g, B: Backend> {
    gpu: &'g mut Gpu<B>,
    contents: Contents,
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
    out: Owned<kind::Buffer>,
    out_group: Owned<kind::BindGroup>,
    made: Vec<Owned<kind::BindGroup>>,
}

impl<'g, B: Backend> Groups<'g, B> {
    pub fn new(gpu: &'g mut Gpu<B>, workload: Workload) -> Outcome<Self> {
        let textures = |gpu: &mut Gpu<B>, groups: u32, each: u32| {
            let texture = |texture| gpu.texture((1, 1), &data::group_texel(texture, each));
            (0..groups * each).map(texture).collect::<Outcome<Vec<_>>>()
        };
        let (contents, program) = if let Workload::Arrays { textures: each } = workload {
            let images = textures(gpu, array_groups(each), each)?;
            let views = images.iter().map(|image| Some(*image.view)).collect();
            let program =
                gpu.program(array_shaders::array(each), array_shaders::array_groups(each), false)?;
            (Contents::Arrays { views, each: each as usize, _images: images }, program)
        } else if workload == Workload::Sampled {
            let textures = textures(gpu, SLICES, TEXTURES_PER_GROUP)?;
            let program = gpu.program(&shaders::textures::SHADER, shaders::textures::GROUPS, false)?;
            (Contents::Textures(textures), program)
        } else {
            let dynamic = workload == Workload::Dynamic;
            let uniform = gpu.uploaded(BufferUsages::UNIFORM, &data::slices_uniforms(SLICES))?;
            let program = gpu.program(&shaders::groups::SHADER, shaders::groups::GROUPS, dynamic)?;
            let contents = if dynamic { Contents::Dynamic } else { Contents::Slices };
            (contents(uniform), program)
        };
        let out = gpu.tracked(BufferUsages::STORAGE, &[0; (SLICES * 16) as usize])?;
        let pipeline = gpu.compute(&program, "show")?;
        let out_group = gpu.group(&program, 1, &[BindGroupEntry::buffer(0, *out)])?;
        let made = Vec::with_capacity(SLICES as usize);
        Ok(Self { gpu, contents, program, pipeline, out, out_group, made })
    }

    fn create(&mut self) -> Outcome<()> {
        let Self { gpu, contents, program, made, .. } = self;
        let mut make = |entries: &[BindGroupEntry<'_>]| -> Outcome<()> {
            let desc = BindGroupDesc { label: "group", layout: *program.groups[0], entries };
            made.push(gpu.device.create_bind_group(&desc)?);
            Ok(())
        };
        match contents {
            Contents::Slices(uniform) => (0..SLICES).try_for_each(|slice| {
                make(&[BindGroupEntry::buffer_range(0, **uniform, u64::from(slice * STRIDE), 16)])
            }),
            Contents::Dynamic(uniform) => make(&[BindGroupEntry::buffer_range(0, **uniform, 0, 16)]),
            Contents::Textures(textures) => {
                textures.chunks_exact(TEXTURES_PER_GROUP as usize).try_for_each(|textures| {
                    let entries: [_; TEXTURES_PER_GROUP as usize] = std::array::from_fn(|index| {
                        BindGroupEntry::texture(index as u32, *textures[index].view)
                    });
                    make(&entries)
                })
            }
            Contents::Arrays { views, each, .. } => views
                .chunks_exact(*each)
                .try_for_each(|views| make(&[BindGroupEntry::texture_array(0, views)])),
        }
    }
}

impl<B: Backend> Case for Groups<'_, B> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.made.clear();
        // Owners leave notes; this is what destroys.
        self.gpu.device.maintain()?;
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        self.gpu.finish()
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.create()?;
        let uses = [storage(*self.out, u64::from(SLICES * 16), true)];
        let (pipeline, out_group, made) = (*self.pipeline, *self.out_group, &self.made);
        let dynamic = matches!(self.contents, Contents::Dynamic(_));
        let desc = ComputePassDesc { label: "show", uses: &uses, ..Default::default() };
        // All write the one buffer, so each is a pass of its own.
        self.gpu.frame(|recorder| {
            (0..if dynamic { SLICES } else { made.len() as u32 }).try_for_each(|slice| {
                recorder.compute_pass(&desc, |pass| {
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(1, out_group, &[]);
                    if dynamic {
                        pass.set_bind_group(0, *made[0], &[slice * STRIDE]);
                    } else {
                        pass.set_bind_group(0, *made[slice as usize], &[]);
                    }
                    pass.dispatch([1, 1, 1]);
                })
            })
        })?;
        let slices = if dynamic { SLICES } else { self.made.len() as u32 };
        self.made.clear();
        self.gpu.read_buffers(&[*self.out], slices * 16)
    }
}
