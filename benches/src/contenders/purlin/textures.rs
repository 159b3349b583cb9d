//! `groups/5-textures`.

use std::time::Instant;

use purlin_rhi::types::BufferUsages;
use purlin_rhi::{BindGroupDesc, BindGroupEntry, ComputePassDesc, Owned, kind};

use super::make::{Gpu, Image, Program, storage};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{SLICES, TEXTURES_PER_GROUP};

pub struct Groups<'g> {
    gpu: &'g mut Gpu,
    textures: Vec<Image>,
    program: Program,
    pipeline: Owned<kind::ComputePipeline>,
    out: Owned<kind::Buffer>,
    out_group: Owned<kind::BindGroup>,
    made: Vec<Owned<kind::BindGroup>>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        let textures = (0..SLICES * TEXTURES_PER_GROUP)
            .map(|texture| gpu.texture((1, 1), &data::group_texel(texture)))
            .collect::<Outcome<_>>()?;
        let out = gpu.tracked(BufferUsages::STORAGE, &[0; (SLICES * 16) as usize])?;
        let program = gpu.program(&shaders::textures::SHADER, shaders::textures::GROUPS, false)?;
        let pipeline = gpu.compute(&program, "show")?;
        let out_group = gpu.group(&program, 1, &[BindGroupEntry::buffer(0, *out)])?;
        let made = Vec::with_capacity(SLICES as usize);
        Ok(Self { gpu, textures, program, pipeline, out, out_group, made })
    }

    fn create(&mut self) -> Outcome<()> {
        for textures in self.textures.chunks_exact(TEXTURES_PER_GROUP as usize) {
            let entries: [_; TEXTURES_PER_GROUP as usize] =
                std::array::from_fn(|index| BindGroupEntry::texture(index as u32, *textures[index].view));
            let desc =
                BindGroupDesc { label: "material", layout: *self.program.groups[0], entries: &entries };
            self.made.push(self.gpu.device.create_bind_group(&desc)?);
        }
        Ok(())
    }
}

impl Case for Groups<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let begin = Instant::now();
        self.create()?;
        let created = Instant::now();
        self.made.clear();
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
        let desc = ComputePassDesc { label: "show", uses: &uses, groups: &[] };
        // All write the one buffer, so each is a pass of its own.
        self.gpu.frame(|recorder| {
            made.iter().try_for_each(|group| {
                recorder.compute_pass(&desc, |pass| {
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(1, out_group, &[]);
                    pass.set_bind_group(0, **group, &[]);
                    pass.dispatch([1, 1, 1]);
                })
            })
        })?;
        self.made.clear();
        self.gpu.read_buffers(&[*self.out], SLICES * 16)
    }
}
