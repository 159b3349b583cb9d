//! Devices, one way to draw, and folders that go away.

use std::path::{Path, PathBuf};
use std::time::Duration;

use purlin::reload::{Package, ShaderReload};
use purlin::rhi::backend::Backend;
use purlin::rhi::null::{Null, NullConfig};
use purlin::rhi::shader::ShaderSource;
use purlin::rhi::{
    ColorAttachment, Device, MultisampleDesc, PipelineLayout, PipelineTicket, RenderPassDesc, ShaderModule,
    TexturePlace,
};
use purlin::types::{Extent3d, TextureFormat, TextureUsages};
use purlin::vulkan::{ValidationMessages, Vulkan};
use purlin::{
    ClearValue, DeviceRequest, Error, LoadOp, Owned, PipelineLayoutDesc, PrimitiveDesc, RenderPipeline,
    RenderPipelineDesc, Result, ShaderStageDesc, StoreOp, TextureDesc, TextureViewDesc, Validation, kind,
};

/// Long enough for a loaded machine.
pub const LONG: Duration = Duration::from_secs(120);
pub const COLOR: TextureFormat = TextureFormat::Rgba8Unorm;

/// A null device, which compiles requests on its own thread or on a worker.
pub fn null(pipeline_jobs: bool) -> Device<Null> {
    let config = NullConfig { pipeline_jobs, pipeline_cache: true, ..NullConfig::executing() };
    Device::from_backend(Null::new(config), &DeviceRequest::default()).unwrap()
}

/// A Vulkan device under the validation layer where there is one, and its messages. `None`, with what is missing printed, on
/// a machine without a driver; with `PURLIN_REQUIRE_GPU` that fails.
pub fn vulkan(test: &str) -> Option<(Device<Vulkan>, ValidationMessages)> {
    let required = std::env::var_os("PURLIN_REQUIRE_GPU").is_some();
    let mut request =
        DeviceRequest { label: test, validation: Validation::Synchronization, ..DeviceRequest::default() };
    let mut opened = pollster::block_on(Device::<Vulkan>::request(&request));
    if let Err(Error::Unsupported { capability, detail, .. }) = &opened
        && capability.starts_with("VK_LAYER")
    {
        assert!(!required, "{test}: {capability}: {detail}");
        request.validation = Validation::Off;
        opened = pollster::block_on(Device::<Vulkan>::request(&request));
    }
    match opened {
        Ok(device) => {
            let messages = device.backend().messages();
            Some((device, messages))
        }
        Err(error @ Error::NoAdapter { .. }) if !required => {
            println!("{test}: skipped: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

/// Fails if validation had anything to say, teardown included.
#[track_caller]
pub fn close(device: Device<Vulkan>, messages: &ValidationMessages) {
    drop(device);
    let texts = messages.take();
    assert_eq!(messages.count(), 0, "validation said:\n{}", texts.join("\n"));
}

/// A folder of its own, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub fn files(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A triangle over everything, in one color.
pub fn paint(color: &str) -> String {
    format!(
        "@vertex
fn vs(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {{
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}}
@fragment
fn fs() -> @location(0) vec4<f32> {{
    return vec4<f32>({color});
}}
@compute @workgroup_size(1)
fn cs() {{}}
"
    )
}

/// Compiles WGSL as a build script would.
pub fn shader(wgsl: &str) -> ShaderSource {
    let mut reload = ShaderReload::new(Package::new("test").text("paint.wgsl", wgsl));
    *reload.poll().unwrap().unwrap().shader("paint").unwrap()
}

/// An empty layout and a module.
pub struct Parts {
    pub layout: Owned<kind::PipelineLayout>,
    pub module: Owned<kind::ShaderModule>,
}

impl Parts {
    pub fn new<B: Backend>(device: &mut Device<B>, source: &ShaderSource) -> Self {
        let layout = PipelineLayoutDesc { label: "layout", groups: &[], immediate_size: 0 };
        Self {
            layout: device.create_pipeline_layout(&layout).unwrap(),
            module: device.create_shader_module(source).unwrap(),
        }
    }

    /// A request that differs from others by its front face and culling, of which there are six.
    pub fn request<B: Backend>(
        &self,
        device: &mut Device<B>,
        variant: u32,
    ) -> Result<PipelineTicket<kind::RenderPipeline>> {
        request(device, *self.layout, *self.module, variant)
    }
}

pub fn request<B: Backend>(
    device: &mut Device<B>,
    layout: PipelineLayout,
    module: ShaderModule,
    variant: u32,
) -> Result<PipelineTicket<kind::RenderPipeline>> {
    use purlin::types::{ColorWrites, FrontFace};
    let mut target = purlin::ColorTarget::from(COLOR);
    target.write_mask = ColorWrites::from_bits_truncate(15 - (variant >> 1) % 15);
    let front_face = if variant.is_multiple_of(2) { FrontFace::Ccw } else { FrontFace::Cw };
    device.request_render_pipeline(&RenderPipelineDesc {
        label: "paint",
        layout,
        vertex: ShaderStageDesc { module, entry: "vs" },
        fragment: Some(ShaderStageDesc { module, entry: "fs" }),
        vertex_buffers: &[],
        primitive: PrimitiveDesc { front_face, ..PrimitiveDesc::default() },
        depth_stencil: None,
        targets: &[Some(target)],
        multisample: MultisampleDesc::default(),
    })
}

/// The texel that a pipeline paints.
pub fn painted<B: Backend>(device: &mut Device<B>, pipeline: RenderPipeline) -> [u8; 4] {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let target = device.create_texture(&TextureDesc::d2("target", 4, 4, COLOR, usage)).unwrap();
    let view = device.create_texture_view(*target, &TextureViewDesc::default()).unwrap();
    let mut recorder = device.record("paint").unwrap();
    let load = LoadOp::Clear(ClearValue::Float([0.0; 4]));
    let colors = [Some(ColorAttachment { view: *view, load, store: StoreOp::Store, resolve: None })];
    let pass = RenderPassDesc { label: "paint", colors: &colors, ..RenderPassDesc::default() };
    recorder
        .render_pass(&pass, |pass| {
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
        })
        .unwrap();
    let size = Extent3d { width: 4, height: 4, depth_or_array_layers: 1 };
    let ticket = recorder.read_texture(&TexturePlace::mip(*target, 0), size).unwrap();
    let token = recorder.submit().unwrap();
    assert!(device.wait(token, LONG).unwrap());
    let texels = device.read_vec(&ticket).unwrap();
    assert!(texels.chunks_exact(4).all(|texel| texel == &texels[..4]), "{texels:?}");
    texels[..4].try_into().unwrap()
}
