//! D10: a device that is somebody else's. It is drawn with, left as it was, and goes on working.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use purlin_rhi::caps::Features;
use purlin_rhi::error::Error;
use purlin_rhi::types::{BufferUsages, Extent3d, TextureFormat, TextureUsages};
use purlin_rhi::{
    BufferDesc, ClearValue, ColorAttachment, Device, DeviceRequest, LoadOp, RenderPassDesc, StoreOp,
    TextureDesc, TexturePlace, TextureViewDesc,
};
use purlin_vulkan::ash::{self, ext, vk};
use purlin_vulkan::{AdoptedDevice, Vulkan};

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// What the validation layer said, in a place of its own for each instance.
type Said = Mutex<Vec<String>>;

unsafe extern "system" fn listen(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    said: *mut std::ffi::c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data, and the place that the messenger was made with, which outlives it.
    let (data, said) = unsafe { (&*data, &*said.cast::<Said>()) };
    // SAFETY: the message is a string that ends, or there is none.
    let text = unsafe { data.message_as_c_str() }.unwrap_or_default();
    said.lock().unwrap().push(text.to_string_lossy().into_owned());
    vk::FALSE
}

/// A device made by hand.
struct Native {
    entry: ash::Entry,
    instance: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    said: Box<Said>,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    family: u32,
    core: vk::PhysicalDeviceFeatures,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

impl Native {
    /// `None` where the machine has no Vulkan 1.3, unless one is required.
    fn open(test: &str) -> Option<Arc<Self>> {
        let found = Self::try_open();
        assert!(found.is_some() || std::env::var_os("PURLIN_REQUIRE_GPU").is_none(), "{test}: no Vulkan 1.3");
        if found.is_none() {
            println!("{test}: skipped: no Vulkan 1.3");
        }
        found.map(Arc::new)
    }

    fn try_open() -> Option<Self> {
        // SAFETY: the calls below are made with live handles and structures that outlive them, in the order that Vulkan
        // asks for; features are those that the adapter has, since software and hardware drivers of 1.3 have all of them.
        unsafe {
            let entry = ash::Entry::load().ok()?;
            let layers = entry.enumerate_instance_layer_properties().ok()?;
            let validated = layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER));
            let layers = if validated { vec![LAYER.as_ptr()] } else { Vec::new() };
            let extensions = if validated { vec![ext::debug_utils::NAME.as_ptr()] } else { Vec::new() };
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_layer_names(&layers)
                .enabled_extension_names(&extensions);
            let instance = entry.create_instance(&info, None).ok()?;
            let said = Box::new(Said::default());
            let messenger = validated.then(|| {
                let functions = ext::debug_utils::Instance::new(&entry, &instance);
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(
                        vk::DebugUtilsMessageSeverityFlagsEXT::ERROR
                            | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
                    )
                    .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                    .pfn_user_callback(Some(listen))
                    .user_data(std::ptr::from_ref::<Said>(&said).cast_mut().cast());
                let messenger = functions.create_debug_utils_messenger(&info, None).expect("messenger");
                (functions, messenger)
            });
            let modern = |physical: &vk::PhysicalDevice| {
                instance.get_physical_device_properties(*physical).api_version >= vk::API_VERSION_1_3
            };
            let physical = instance.enumerate_physical_devices().ok()?.into_iter().find(modern)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let family = families.iter().position(|family| family.queue_flags.contains(wanted))? as u32;
            // The baseline, and one feature beyond it.
            let core = vk::PhysicalDeviceFeatures::default()
                .fragment_stores_and_atomics(true)
                .full_draw_index_uint32(true)
                .image_cube_array(true)
                .depth_bias_clamp(true)
                .sample_rate_shading(true)
                .independent_blend(true);
            let v12 = vk::PhysicalDeviceVulkan12Features::default()
                .timeline_semaphore(true)
                .host_query_reset(true)
                .separate_depth_stencil_layouts(true);
            let v13 = vk::PhysicalDeviceVulkan13Features::default()
                .synchronization2(true)
                .dynamic_rendering(true)
                .maintenance4(true);
            let (mut chained12, mut chained13) = (v12, v13);
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&core)
                .push_next(&mut chained12)
                .push_next(&mut chained13);
            let device = instance.create_device(physical, &info, None).expect("device");
            let queue = device.get_device_queue(family, 0);
            Some(Self { entry, instance, messenger, said, physical, device, queue, family, core, v12, v13 })
        }
    }

    /// What its owner would say of it.
    fn describe(&self) -> AdoptedDevice<'static> {
        let named: &[&CStr] = if self.messenger.is_some() { &[ext::debug_utils::NAME] } else { &[] };
        AdoptedDevice {
            label: "test",
            entry: self.entry.clone(),
            instance: self.instance.clone(),
            api_version: vk::API_VERSION_1_3,
            instance_extensions: named,
            physical_device: self.physical,
            device: self.device.clone(),
            device_extensions: &[],
            features: self.core,
            features12: self.v12,
            features13: self.v13,
            queue: self.queue,
            queue_family: self.family,
            keep: None,
        }
    }

    /// Uses the device without Purlin: fills a buffer and waits.
    fn work(&self) {
        // SAFETY: as in `try_open`; nobody else uses the queue now.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
            let pool = self.device.create_command_pool(&info, None).expect("pool");
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let buffers = self.device.allocate_command_buffers(&info).expect("command buffer");
            self.device
                .begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default())
                .expect("begin");
            self.device.end_command_buffer(buffers[0]).expect("end");
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None).expect("fence");
            self.device.queue_submit(self.queue, &submit, fence).expect("submit");
            self.device.wait_for_fences(&[fence], true, u64::MAX).expect("wait");
            self.device.destroy_fence(fence, None);
            self.device.destroy_command_pool(pool, None);
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: the tests have dropped all that was made on the device. If they had not, the layer would say so.
        unsafe {
            self.device.destroy_device(None);
            if let Some((functions, messenger)) = self.messenger.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
        let said = self.said.lock().unwrap();
        assert!(said.is_empty() || std::thread::panicking(), "validation said:\n{}", said.join("\n"));
    }
}

/// Counts its drops.
struct Guard(Arc<AtomicU32>, #[allow(dead_code)] Arc<Native>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn guarded(native: &Arc<Native>) -> (AdoptedDevice<'static>, Arc<AtomicU32>) {
    let drops = Arc::new(AtomicU32::new(0));
    let keep = Guard(drops.clone(), native.clone());
    (AdoptedDevice { keep: Some(Box::new(keep)), ..native.describe() }, drops)
}

/// Clears a texture with a device and reads it.
fn draw(device: &mut Device<Vulkan>, color: [f32; 4]) -> Vec<u8> {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let desc = TextureDesc::d2("target", 4, 4, TextureFormat::Rgba8Unorm, usage);
    let target = device.create_texture(&desc).expect("texture");
    let view = device.create_texture_view(*target, &TextureViewDesc::default()).expect("view");
    let load = LoadOp::Clear(ClearValue::Float(color));
    let colors = [Some(ColorAttachment { view: *view, load, store: StoreOp::Store, resolve: None })];
    let mut recorder = device.record("frame").expect("recording");
    let pass = RenderPassDesc { label: "clear", colors: &colors, ..Default::default() };
    recorder.render_pass(&pass, |_| {}).expect("pass");
    let extent = Extent3d { width: 4, height: 4, depth_or_array_layers: 1 };
    let ticket = recorder.read_texture(&TexturePlace::mip(*target, 0), extent).expect("readback");
    let token = recorder.submit().expect("submission");
    assert_eq!(device.wait(token, Duration::from_secs(60)), Ok(true));
    device.read_vec(&ticket).expect("texels")
}

#[test]
fn an_adopted_device_draws_and_is_left_alive() {
    let Some(native) = Native::open("adopt") else { return };
    for round in 0..2u8 {
        let (adopted, drops) = guarded(&native);
        // SAFETY: the handles live as long as the guard; the queue is used by turns.
        let vulkan = unsafe { Vulkan::adopt(adopted) }.expect("adoption");
        let mut device = Device::from_backend(vulkan, &DeviceRequest::default()).expect("device");
        native.work();
        let color = [f32::from(round), 0.0, 1.0, 1.0];
        assert_eq!(draw(&mut device, color), [255 * round, 0, 255, 255].repeat(16));
        native.work();
        // Left to the end: memory, and a submission that nobody waits for.
        let usage = BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffer = device.create_buffer(&BufferDesc::new("late", 1 << 20, usage)).expect("buffer");
        device.write_buffer(*buffer, 0, &[7; 64]).expect("upload");
        device.flush_uploads().expect("submission");
        assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&native)), (0, 2));
        drop(device);
        assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&native)), (1, 1));
        native.work();
    }
}

#[test]
fn what_is_not_enabled_is_not_claimed() {
    let Some(native) = Native::open("features") else { return };
    // SAFETY: the handles outlive the device.
    let vulkan = unsafe { Vulkan::adopt(native.describe()) }.expect("adoption");
    let device = Device::from_backend(vulkan, &DeviceRequest::default()).expect("device");
    let features = device.capabilities().features;
    assert!(features.contains(Features::CORE | Features::INDEPENDENT_BLEND));
    let beyond = Features::ANISOTROPY
        | Features::POLYGON_MODE_LINE
        | Features::PIPELINE_STATISTICS_QUERY
        | Features::MULTI_DRAW_INDIRECT
        | Features::TEXTURE_COMPRESSION_BC;
    assert_eq!(features & beyond, Features::empty(), "the adapter may have them, the device has not");
}

#[test]
fn a_refused_adoption_gives_back_what_it_was_given_and_leaves_the_device() {
    let Some(native) = Native::open("refused") else { return };
    let refused = |spoil: fn(&mut AdoptedDevice<'static>), wanted: &str| {
        let (mut adopted, drops) = guarded(&native);
        spoil(&mut adopted);
        // SAFETY: what is said of the device is less than the truth, or refused before it is used.
        match unsafe { Vulkan::adopt(adopted) } {
            Err(Error::Unsupported { what, capability, .. }) => {
                assert_eq!((what.as_str(), capability.as_str()), ("adopted device \"test\"", wanted));
            }
            other => panic!("{wanted}: not unsupported: {other:?}"),
        }
        assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&native)), (1, 1), "{wanted}");
        native.work();
    };
    refused(|adopted| adopted.api_version = vk::API_VERSION_1_2, "Vulkan 1.3");
    refused(|adopted| adopted.features13.dynamic_rendering = vk::FALSE, "dynamicRendering");
    refused(|adopted| adopted.features12.timeline_semaphore = vk::FALSE, "timelineSemaphore");
    refused(|adopted| adopted.features.image_cube_array = vk::FALSE, "imageCubeArray");
    refused(|adopted| adopted.queue_family = 99, "queue family 99 with graphics and compute");
    // A device whose ceilings cannot be is refused above, and the adopted one given back all the same.
    let (adopted, drops) = guarded(&native);
    // SAFETY: the handles live as long as the guard.
    let vulkan = unsafe { Vulkan::adopt(adopted) }.expect("adoption");
    let mut request = DeviceRequest::default();
    request.storage.upload_ring = 0;
    assert!(Device::from_backend(vulkan, &request).is_err());
    assert_eq!((drops.load(Ordering::Relaxed), Arc::strong_count(&native)), (1, 1));
    native.work();
}
