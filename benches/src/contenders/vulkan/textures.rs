//! `groups/5-textures`.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Stage};
use super::transfer::{STORAGE, barrier};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{SLICES, TEXTURES_PER_GROUP};

type Sets = [vk::DescriptorSet; SLICES as usize];

pub struct Groups<'g> {
    stage: Stage<'g>,
    out: vk::Buffer,
    pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    out_set: vk::DescriptorSet,
    /// Kept from round to round: layouts of a full allocation, and what the sets will show, one after the other.
    layouts: Vec<vk::DescriptorSetLayout>,
    infos: Vec<vk::DescriptorImageInfo>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g mut Gpu) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let (mut texels, mut infos) = (Vec::new(), Vec::new());
        for texture in 0..SLICES * TEXTURES_PER_GROUP {
            let usage = vk::ImageUsageFlags::SAMPLED;
            let (image, view) = stage.image(vk::Format::R8G8B8A8_UNORM, (1, 1), usage)?;
            texels.push((image, data::group_texel(texture).to_vec()));
            infos.push(vk::DescriptorImageInfo::default().image_view(view).image_layout(image_layout));
        }
        stage.gpu.upload_images((1, 1), image_layout, &texels)?;
        let out = stage.buffer(u64::from(SLICES * 16), vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let types = [vk::DescriptorType::SAMPLED_IMAGE; TEXTURES_PER_GROUP as usize];
        let set_layout = stage.set_layout(&types, vk::ShaderStageFlags::COMPUTE)?;
        let out_layout =
            stage.set_layout(&[vk::DescriptorType::STORAGE_BUFFER], vk::ShaderStageFlags::COMPUTE)?;
        let layout = stage.pipeline_layout(&[set_layout, out_layout])?;
        let out_set = stage.sets(out_layout, &[vec![Bind::Storage(out)]])?[0];
        let module = stage.module(&shaders::textures::SHADER)?;
        let pipeline = stage.compute(module, c"show", layout)?;
        let pool = stage.pool(SLICES, &types)?;
        let layouts = vec![set_layout; SLICES as usize];
        Ok(Self { stage, out, pool, layout, pipeline, out_set, layouts, infos })
    }

    fn create(&self, sets: &mut Sets) -> Outcome<()> {
        let device = &self.stage.gpu.device;
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&self.layouts);
        // SAFETY: the pool has room for exactly these, and was reset before. Called directly: `ash` would allocate
        // a vector for what has a known size.
        unsafe { (device.fp_v1_0().allocate_descriptor_sets)(device.handle(), &info, sets.as_mut_ptr()) }
            .result()?;
        let mut writes = [vk::WriteDescriptorSet::default(); SLICES as usize];
        let groups = self.infos.chunks_exact(TEXTURES_PER_GROUP as usize);
        for ((write, set), infos) in writes.iter_mut().zip(&*sets).zip(groups) {
            // The bindings are consecutive and alike, so one write covers them all.
            *write = vk::WriteDescriptorSet::default()
                .dst_set(*set)
                .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                .image_info(infos);
        }
        // SAFETY: the sets are used by no submission, and the views are live.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok(())
    }

    fn drop_all(&self) -> Outcome<()> {
        // SAFETY: no submission uses the sets.
        Ok(unsafe {
            self.stage.gpu.device.reset_descriptor_pool(self.pool, vk::DescriptorPoolResetFlags::empty())
        }?)
    }
}

impl Case for Groups<'_> {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let mut sets: Sets = [vk::DescriptorSet::null(); SLICES as usize];
        let begin = Instant::now();
        self.create(&mut sets)?;
        let created = Instant::now();
        self.drop_all()?;
        Ok(FrameTimes::lived(begin, created, Instant::now()))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        let mut sets: Sets = [vk::DescriptorSet::null(); SLICES as usize];
        self.create(&mut sets)?;
        let (layout, pipeline, out_set) = (self.layout, self.pipeline, self.out_set);
        self.stage.gpu.run(|device, commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is recording; sets and pipeline are live and fit the layout.
            unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline);
                for set in sets {
                    // They write different parts, but a validation layer sees one buffer; and this is not timed.
                    barrier(device, commands, STORAGE, STORAGE);
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set, out_set], &[]);
                    device.cmd_dispatch(commands, 1, 1, 1);
                }
            }
        })?;
        self.drop_all()?;
        let out = self.out;
        self.stage.gpu.read_buffers(&[out], SLICES * 16)
    }
}
