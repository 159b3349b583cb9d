//! `groups`.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Stage};
use super::transfer::{STORAGE, barrier};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::shaders;
use crate::workloads::{SLICES, STRIDE};

pub struct Groups<'g> {
    stage: Stage<'g>,
    dynamic: bool,
    out: vk::Buffer,
    pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    out_set: vk::DescriptorSet,
    /// Kept from round to round: layouts of a full allocation, and what each set will show.
    layouts: Vec<vk::DescriptorSetLayout>,
    infos: Vec<vk::DescriptorBufferInfo>,
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g mut Gpu, dynamic: bool) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let uniforms = data::slices_uniforms(SLICES);
        let uniform = stage.buffer(uniforms.len() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        stage.gpu.upload_buffers(&[(uniform, uniforms)])?;
        let out = stage.buffer(u64::from(SLICES * 16), vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let ty =
            if dynamic { Bind::UniformDynamic(uniform, 16).ty() } else { Bind::Uniform(uniform, 0, 16).ty() };
        let set_layout = stage.set_layout(&[ty], vk::ShaderStageFlags::COMPUTE)?;
        let out_layout =
            stage.set_layout(&[vk::DescriptorType::STORAGE_BUFFER], vk::ShaderStageFlags::COMPUTE)?;
        let layout = stage.pipeline_layout(&[set_layout, out_layout])?;
        let out_set = stage.sets(out_layout, &[vec![Bind::Storage(out)]])?[0];
        let module = stage.module(&shaders::groups::SHADER)?;
        let pipeline = stage.compute(module, c"show", layout)?;
        let count = if dynamic { 1 } else { SLICES };
        let pool = stage.pool(count, &[ty])?;
        let infos = (0..count)
            .map(|slice| {
                let offset = u64::from(slice * STRIDE);
                vk::DescriptorBufferInfo::default().buffer(uniform).offset(offset).range(16)
            })
            .collect();
        let layouts = vec![set_layout; count as usize];
        Ok(Self { stage, dynamic, out, pool, layout, pipeline, out_set, layouts, infos })
    }

    fn create(&self, sets: &mut [vk::DescriptorSet; SLICES as usize]) -> Outcome<()> {
        let device = &self.stage.gpu.device;
        let ty = if self.dynamic {
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
        } else {
            vk::DescriptorType::UNIFORM_BUFFER
        };
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&self.layouts);
        // SAFETY: the pool has room for exactly these, and was reset before. Called directly: `ash` would allocate
        // a vector for what has a known size.
        unsafe { (device.fp_v1_0().allocate_descriptor_sets)(device.handle(), &info, sets.as_mut_ptr()) }
            .result()?;
        let mut writes = [vk::WriteDescriptorSet::default(); SLICES as usize];
        for ((write, set), info) in writes.iter_mut().zip(&*sets).zip(&self.infos) {
            *write = vk::WriteDescriptorSet::default()
                .dst_set(*set)
                .descriptor_type(ty)
                .buffer_info(std::slice::from_ref(info));
        }
        // SAFETY: the sets are used by no submission, and the buffer is live.
        unsafe { device.update_descriptor_sets(&writes[..self.infos.len()], &[]) };
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
        let mut sets = [vk::DescriptorSet::null(); SLICES as usize];
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
        let mut sets = [vk::DescriptorSet::null(); SLICES as usize];
        self.create(&mut sets)?;
        let (layout, pipeline, out_set, dynamic) = (self.layout, self.pipeline, self.out_set, self.dynamic);
        self.stage.gpu.run(|device, commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is recording; sets and pipeline are live and fit the layout.
            unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline);
                for slice in 0..SLICES {
                    // They write different parts, but a validation layer sees one buffer; and this is not timed.
                    barrier(device, commands, STORAGE, STORAGE);
                    let (set, offset) =
                        if dynamic { (sets[0], slice * STRIDE) } else { (sets[slice as usize], 0) };
                    let offsets: &[u32] = if dynamic { &[offset] } else { &[] };
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set, out_set], offsets);
                    device.cmd_dispatch(commands, 1, 1, 1);
                }
            }
        })?;
        self.drop_all()?;
        let out = self.out;
        self.stage.gpu.read_buffers(&[out], SLICES * 16)
    }
}
