//! `groups`.

use std::time::Instant;

use ash::vk;

use super::gpu::Gpu;
use super::make::{Bind, Stage};
use super::transfer::{STORAGE, barrier};
use crate::case::{Case, FrameTimes, Outcome};
use crate::data;
use crate::workloads::{SLICES, STRIDE, TEXTURES_PER_GROUP, Workload, array_groups};
use crate::{array_shaders, shaders};

/// What the sets will show, one after the other, kept from round to round.
enum Infos {
    Slices(Vec<vk::DescriptorBufferInfo>),
    Dynamic([vk::DescriptorBufferInfo; 1]),
    /// So many of a set, one after the other.
    Textures(Vec<vk::DescriptorImageInfo>, usize),
}

type Sets = [vk::DescriptorSet; SLICES as usize];

pub struct Groups<'g> {
    stage: Stage<'g>,
    out: vk::Buffer,
    pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    out_set: vk::DescriptorSet,
    /// Of a full allocation, kept from round to round.
    layouts: Vec<vk::DescriptorSetLayout>,
    infos: Infos,
}

impl Infos {
    fn ty(&self) -> vk::DescriptorType {
        match self {
            Infos::Slices(_) => vk::DescriptorType::UNIFORM_BUFFER,
            Infos::Dynamic(_) => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            Infos::Textures(..) => vk::DescriptorType::SAMPLED_IMAGE,
        }
    }
}

/// The textures of all sets.
fn textures(stage: &mut Stage<'_>, sets: u32, each: u32) -> Outcome<Infos> {
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    let (mut texels, mut infos) = (Vec::new(), Vec::new());
    for texture in 0..sets * each {
        let (image, view) = stage.image(vk::Format::R8G8B8A8_UNORM, (1, 1), vk::ImageUsageFlags::SAMPLED)?;
        texels.push((image, data::group_texel(texture, each).to_vec()));
        infos.push(vk::DescriptorImageInfo::default().image_view(view).image_layout(layout));
    }
    stage.gpu.upload_images((1, 1), layout, &texels)?;
    Ok(Infos::Textures(infos, each as usize))
}

impl<'g> Groups<'g> {
    pub fn new(gpu: &'g mut Gpu, workload: Workload) -> Outcome<Self> {
        let mut stage = Stage::new(gpu);
        let (infos, shader, types) = match workload {
            Workload::Sampled => {
                let types = vec![vk::DescriptorType::SAMPLED_IMAGE; TEXTURES_PER_GROUP as usize];
                (textures(&mut stage, SLICES, TEXTURES_PER_GROUP)?, &shaders::textures::SHADER, types)
            }
            Workload::Arrays { textures: each } => {
                let types = vec![vk::DescriptorType::SAMPLED_IMAGE; each as usize];
                (textures(&mut stage, array_groups(each), each)?, array_shaders::array(each), types)
            }
            _ => {
                let uniforms = data::slices_uniforms(SLICES);
                let uniform = stage.buffer(uniforms.len() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
                stage.gpu.upload_buffers(&[(uniform, uniforms)])?;
                let info = |slice| {
                    let offset = u64::from(slice * STRIDE);
                    vk::DescriptorBufferInfo::default().buffer(uniform).offset(offset).range(16)
                };
                let infos = if workload == Workload::Dynamic {
                    Infos::Dynamic([info(0)])
                } else {
                    Infos::Slices((0..SLICES).map(info).collect())
                };
                let ty = vec![infos.ty()];
                (infos, &shaders::groups::SHADER, ty)
            }
        };
        let out = stage.buffer(u64::from(SLICES * 16), vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let set_layout = match workload {
            Workload::Arrays { textures } => stage.array_layout(textures, vk::ShaderStageFlags::COMPUTE)?,
            _ => stage.set_layout(&types, vk::ShaderStageFlags::COMPUTE)?,
        };
        let out_layout =
            stage.set_layout(&[vk::DescriptorType::STORAGE_BUFFER], vk::ShaderStageFlags::COMPUTE)?;
        let layout = stage.pipeline_layout(&[set_layout, out_layout])?;
        let out_set = stage.sets(out_layout, &[vec![Bind::Storage(out)]])?[0];
        let module = stage.module(shader)?;
        let pipeline = stage.compute(module, c"show", layout)?;
        let count = match &infos {
            Infos::Dynamic(_) => 1,
            Infos::Slices(_) => SLICES,
            Infos::Textures(infos, each) => (infos.len() / each) as u32,
        };
        let pool = stage.pool(count, &types)?;
        let layouts = vec![set_layout; count as usize];
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
        let ty = self.infos.ty();
        for (index, (write, set)) in writes[..self.layouts.len()].iter_mut().zip(&*sets).enumerate() {
            let to = vk::WriteDescriptorSet::default().dst_set(*set).descriptor_type(ty);
            *write = match &self.infos {
                Infos::Slices(infos) => to.buffer_info(&infos[index..index + 1]),
                Infos::Dynamic(info) => to.buffer_info(info),
                // The bindings are an array, or consecutive and alike: one write covers them all.
                Infos::Textures(infos, each) => to.image_info(&infos[index * each..][..*each]),
            };
        }
        // SAFETY: the sets are used by no submission, and what they show is live.
        unsafe { device.update_descriptor_sets(&writes[..self.layouts.len()], &[]) };
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
        let dynamic = matches!(self.infos, Infos::Dynamic(_));
        let slices = if dynamic { SLICES } else { self.layouts.len() as u32 };
        self.stage.gpu.run(|device, commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is recording; sets and pipeline are live and fit the layout.
            unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline);
                for slice in 0..slices {
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
        self.stage.gpu.read_buffers(&[out], slices * 16)
    }
}
