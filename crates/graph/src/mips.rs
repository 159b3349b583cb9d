//! Mip chains from their finest mip, by one raster pass for each mip and layer.

use purlin_rhi::backend::Backend;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::TextureFormat;
use purlin_rhi::{
    BindGroupLayoutDesc, Device, LoadOp, MultisampleDesc, Owned, PipelineLayoutDesc, PrimitiveDesc,
    RenderPipeline, RenderPipelineDesc, Result, ShaderStageDesc, kind,
};

use crate::{Graph, TextureVersion, bind};

#[allow(missing_docs)]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

use shaders::mips::{GROUPS, SHADER, entries};

/// Makes coarser mips of finer ones. Each texel is the exact mean of what it covers: four texels, and up to nine in part
/// where a side is odd. Formats with an sRGB encoding are averaged as light. Needs no compute shaders and no filtering, so
/// it works on every backend.
///
/// ```no_run
/// # use purlin_graph::{Graph, GraphArena, ImportTexture, Mips};
/// # use purlin_rhi::{Device, Error, Texture, null::Null, types::TextureFormat};
/// # fn frame(device: &mut Device<Null>, arena: &mut GraphArena<Null>, albedo: Texture) -> Result<(), Box<dyn std::error::Error>> {
/// let mut mips = Mips::new(device)?; // kept
/// let pipeline = mips.pipeline(device, TextureFormat::Rgba8UnormSrgb)?; // compiles, once for each format
///
/// let mut graph = Graph::new("load", arena);
/// let mut texture = graph.import_texture_with("albedo", albedo, ImportTexture::new().mips(8));
/// mips.generate(&mut graph, "albedo mips", pipeline, &mut texture);
/// graph.submit(device)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Mips {
    group: Owned<kind::BindGroupLayout>,
    layout: Owned<kind::PipelineLayout>,
    module: Owned<kind::ShaderModule>,
    pipelines: Vec<(TextureFormat, Owned<kind::RenderPipeline>)>,
}

impl Mips {
    /// Makes what all formats share.
    ///
    /// # Errors
    /// Those of creating a module and layouts.
    pub fn new<B: Backend>(device: &mut Device<B>) -> Result<Self> {
        const SOURCE: &ShaderSource = &SHADER;
        let module = device.create_shader_module(SOURCE)?;
        let group =
            device.create_bind_group_layout(&BindGroupLayoutDesc { label: "mips", entries: GROUPS[0] })?;
        let groups = [*group];
        let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: "mips",
            groups: &groups,
            immediate_size: 0,
        })?;
        Ok(Self { group, layout, module, pipelines: Vec::new() })
    }

    /// The pipeline for a format; compiles the first time, so not for the frame path.
    ///
    /// # Errors
    /// A format that is no color attachment of floats on this device.
    pub fn pipeline<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        format: TextureFormat,
    ) -> Result<RenderPipeline> {
        if let Some((_, pipeline)) = self.pipelines.iter().find(|(known, _)| *known == format) {
            return Ok(**pipeline);
        }
        let stage = |entry| ShaderStageDesc { module: *self.module, entry };
        let made = device.create_render_pipeline(&RenderPipelineDesc {
            label: "mips",
            layout: *self.layout,
            vertex: stage(entries::FULLSCREEN),
            fragment: Some(stage(entries::MEAN)),
            vertex_buffers: &[],
            primitive: PrimitiveDesc::default(),
            depth_stencil: None,
            targets: &[Some(format.into())],
            multisample: MultisampleDesc::default(),
        })?;
        let pipeline = *made;
        self.pipelines.push((format, made));
        Ok(pipeline)
    }

    /// Declares the passes that make every mip after the first, layer by layer, of a texture in the pipeline's format. The
    /// texture needs the usages `TEXTURE_BINDING` and `RENDER_ATTACHMENT`; an import says how many mips and layers it has.
    /// Several layers need [`Features::LAYER_VIEWS`](purlin_rhi::Features::LAYER_VIEWS).
    pub fn generate<B: Backend>(
        &self,
        graph: &mut Graph<'_, B>,
        label: &str,
        pipeline: RenderPipeline,
        texture: &mut TextureVersion,
    ) {
        let mut mips = texture.split_mips();
        for mip in 1..mips.len() {
            let (finer, coarser) = mips.split_at_mut(mip);
            for (from, mut to) in finer[mip - 1].split_layers().zip(coarser[0].split_layers()) {
                graph
                    .render(label)
                    .color(0, &mut to, LoadOp::DontCare)
                    .bind(0, *self.group, [bind::texture(&from)])
                    .fullscreen(pipeline);
            }
        }
    }
}
