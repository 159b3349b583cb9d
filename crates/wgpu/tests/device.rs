//! Opening, adopting, errors and loss on a native adapter.
//!
//! `PURLIN_REQUIRE_GPU=1` fails where there is no adapter; otherwise the tests say so and pass.

use std::num::NonZeroU32;
use std::time::Duration;

use purlin_rhi::types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, ShaderStages, TextureSampleType,
    TextureViewDimension,
};
use purlin_rhi::{BindGroupLayoutDesc, BufferDesc, BufferSlice, Device, DeviceRequest, Error, Features};
use purlin_wgpu::{Wgpu, WgpuOptions, wgpu};

const SECOND: Duration = Duration::from_secs(20);

fn required() -> bool {
    std::env::var_os("PURLIN_REQUIRE_GPU").is_some_and(|value| value == "1")
}

fn open(request: &DeviceRequest<'_>) -> Option<Device<Wgpu>> {
    match pollster::block_on(Device::<Wgpu>::request(request)) {
        Ok(device) => Some(device),
        Err(error @ Error::NoAdapter { .. }) if !required() => {
            println!("not run: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A device of wgpu's own, as a host program would have it.
fn host() -> Option<(wgpu::Adapter, wgpu::Device, wgpu::Queue)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = match pollster::block_on(instance.request_adapter(&Default::default())) {
        Ok(adapter) => adapter,
        Err(error) if !required() => {
            println!("not run: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
    Some((adapter, device, queue))
}

/// Bytes there and back.
fn round_trip(device: &mut Device<Wgpu>) {
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let buffer = device.create_buffer(&BufferDesc::new("bytes", 16, usage)).unwrap();
    device.write_buffer(*buffer, 0, &[7; 16]).unwrap();
    let mut recorder = device.record("there and back").unwrap();
    let ticket = recorder.read_buffer(BufferSlice { buffer: *buffer, offset: 0, size: 16 }).unwrap();
    let token = recorder.submit().unwrap();
    assert!(device.wait(token, SECOND).unwrap());
    assert_eq!(device.read_vec(&ticket).unwrap(), [7; 16]);
}

#[test]
fn the_catalog_names_the_api_below() {
    match Device::<Wgpu>::adapters(&DeviceRequest::default()) {
        Ok(list) => assert!(list.iter().all(|adapter| adapter.backend.starts_with("wgpu-")), "{list:?}"),
        Err(error) => assert!(!required() && matches!(error, Error::NoAdapter { .. }), "{error}"),
    }
    let options = WgpuOptions { backends: Some(wgpu::Backends::empty()) };
    let error = pollster::block_on(Wgpu::catalog(&DeviceRequest::default(), &options)).unwrap_err();
    assert!(error.to_string().contains("compiled are"), "{error}");
    assert!(WgpuOptions::named("wgpu-glide").is_none());
}

#[test]
fn what_is_missing_is_refused_before_a_device_is_made() {
    let Some(device) = open(&DeviceRequest::default()) else { return };
    let mut request = DeviceRequest::default();
    request.required_limits.max_texture_dimension_2d = device.limits().max_texture_dimension_2d;
    assert!(open(&request).is_some(), "the exact limit is accepted");
    request.required_limits.max_texture_dimension_2d += 1;
    let error = pollster::block_on(Device::<Wgpu>::request(&request)).unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported { capability, .. } if capability == "limit max_texture_dimension_2d"),
        "{error}"
    );
}

/// A group with an array is updatable after binding for wgpu, which uniform buffers and dynamic offsets are not.
#[test]
fn arrays_have_no_uniform_buffer_beside_them() {
    let request = DeviceRequest { preferred_features: Features::BINDING_ARRAYS, ..Default::default() };
    let Some(mut device) = open(&request) else { return };
    if !device.capabilities().features.contains(Features::BINDING_ARRAYS) {
        println!("not run: the adapter has no arrays of bindings");
        return;
    }
    let image = BindingType::Texture {
        sample_type: TextureSampleType::Float { filterable: true },
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    };
    let entry = |binding, ty, count| {
        let visibility = ShaderStages::FRAGMENT;
        BindGroupLayoutEntry { binding, visibility, ty, count: NonZeroU32::new(count) }
    };
    let buffer =
        |ty, has_dynamic_offset| BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None };
    let read = BufferBindingType::Storage { read_only: true };
    let mut layout = |beside| {
        let entries = [entry(0, image, 4), entry(1, beside, 0)];
        device.create_bind_group_layout(&BindGroupLayoutDesc { label: "table", entries: &entries })
    };
    assert!(layout(buffer(read, false)).is_ok());
    for beside in [buffer(BufferBindingType::Uniform, false), buffer(read, true)] {
        let error = layout(beside).unwrap_err();
        let named = "uniform buffers and dynamic offsets in one group with an array";
        assert!(matches!(&error, Error::Unsupported { capability, .. } if capability == named), "{error}");
    }
}

#[test]
fn an_adopted_device_outlives_its_guest() {
    let Some((adapter, device, queue)) = host() else { return };
    let mut guest = Device::from_backend(
        Wgpu::adopt(device.clone(), queue.clone(), Some(adapter)),
        &DeviceRequest::default(),
    )
    .unwrap();
    round_trip(&mut guest);
    assert!(!guest.capabilities().features.contains(Features::POLYGON_MODE_LINE), "the host enabled nothing");
    drop(guest);
    // The host goes on.
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, &[1; 4]);
    queue.submit([]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

#[test]
fn errors_of_an_adopted_device_belong_to_the_call() {
    use purlin_rhi::backend::Backend;
    use purlin_rhi::error::BackendError;
    use purlin_rhi::types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

    let Some((_, device, queue)) = host() else { return };
    // Above the boundary this would be refused; the backend itself passes it on.
    let desc = purlin_rhi::TextureDesc {
        size: Extent3d { width: 1 << 20, height: 1, depth_or_array_layers: 1 },
        dimension: TextureDimension::D2,
        ..purlin_rhi::TextureDesc::d2("too wide", 1, 1, TextureFormat::Rgba8Unorm, TextureUsages::COPY_DST)
    };
    let mut guest = Wgpu::adopt(device, queue, None);
    match guest.create_texture(0, &desc) {
        Err(BackendError::Failed { call: "create_texture", detail }) => {
            assert!(detail.contains("too wide") && !detail.contains('\n'), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    let mut own = match pollster::block_on(Wgpu::open(&DeviceRequest::default(), &Default::default())) {
        Ok(own) => own,
        Err(error) => panic!("{error}"),
    };
    match own.create_texture(0, &desc) {
        Err(BackendError::Failed { call: "create_texture", detail }) => {
            // Nobody validates, so wgpu was told no name; the RHI puts its own before what comes from here.
            assert!(detail.contains("1048576") && !detail.contains("too wide"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    // A failed creation leaves nothing: the slot is free, and the device works.
    let fits = purlin_rhi::TextureDesc::d2("fits", 4, 4, TextureFormat::Rgba8Unorm, TextureUsages::COPY_DST);
    own.create_texture(0, &fits).unwrap();
}

#[test]
fn a_lost_device_fails_every_call_and_another_works() {
    let Some((_, device, queue)) = host() else { return };
    let backend = Wgpu::adopt(device, queue, None);
    let loss = backend.loss();
    let mut guest = Device::from_backend(backend, &DeviceRequest::default()).unwrap();
    round_trip(&mut guest);
    loss.report("the host says so");
    let usage = BufferUsages::COPY_DST;
    let error = guest.create_buffer(&BufferDesc::new("late", 16, usage)).unwrap_err();
    assert!(matches!(&error, Error::DeviceLost { detail, .. } if detail == "the host says so"), "{error}");
    assert!(matches!(guest.maintain(), Err(Error::DeviceLost { .. })));
    // Late reports change nothing.
    loss.report("again");
    assert_eq!(guest.lost(), Some("the host says so"));
    drop(guest);
    if let Some(mut other) = open(&DeviceRequest::default()) {
        round_trip(&mut other);
    }
}

#[test]
fn a_destroyed_device_is_lost() {
    let Some(mut device) = open(&DeviceRequest::default()) else { return };
    round_trip(&mut device);
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let buffer = device.create_buffer(&BufferDesc::new("bytes", 16, usage)).unwrap();
    device.backend().device().destroy();
    // wgpu tells with the work that comes after; until then calls may succeed.
    let frame = |device: &mut Device<Wgpu>| -> purlin_rhi::Result<()> {
        device.write_buffer(*buffer, 0, &[7; 16])?;
        device.flush_uploads()?;
        device.maintain()
    };
    let lost = (0..100).any(|_| matches!(frame(&mut device), Err(Error::DeviceLost { .. })));
    assert!(lost, "no call noticed");
    assert!(device.lost().is_some());
}
