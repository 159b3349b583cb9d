//! The fixtures, one call each, on a device that was opened before.

use std::cell::RefCell;

use purlin_conformance::{Fixtures, Verdict, run};
use purlin_rhi::surface::SurfaceTarget;
use purlin_rhi::{Device, DeviceRequest, Features, Limits};
use purlin_wgpu::{Canvas, Wgpu, WgpuOptions};
use serde_json::json;
use wasm_bindgen::prelude::*;

thread_local! {
    static DEVICE: RefCell<Option<Device<Wgpu>>> = const { RefCell::new(None) };
    static VERDICT: RefCell<Option<Verdict>> = const { RefCell::new(None) };
}

#[link(wasm_import_module = "../jspi.js")]
unsafe extern "C" {
    /// Suspends the module until the event loop has turned.
    safe fn pause();
}

/// The fixtures' names, in order.
#[wasm_bindgen]
pub fn fixture_names() -> Vec<String> {
    Fixtures::<Wgpu>::ALL.iter().map(|fixture| fixture.name.to_string()).collect()
}

/// Opens a device for the next fixtures and answers its adapter as JSON. WebGL 2 has none without a canvas.
#[wasm_bindgen]
pub async fn open_device(backend: String, canvas: web_sys::HtmlCanvasElement) -> Result<String, String> {
    DEVICE.with_borrow_mut(|device| device.take());
    let canvas = SurfaceTarget::custom(Canvas::new(canvas));
    let request = DeviceRequest {
        label: "conformance",
        surface: (backend == "webgl").then_some(&canvas),
        preferred_features: Features::all(),
        required_limits: if backend == "webgl" { Limits::webgl2() } else { Limits::default() },
        ..Default::default()
    };
    let options = WgpuOptions::named(&backend).ok_or(format!("{backend} is not compiled"))?;
    let mut opened = Wgpu::open(&request, &options).await.map_err(|error| error.to_string())?;
    opened.pause_with(|| pause());
    let device = Device::from_backend(opened, &request).map_err(|error| error.to_string())?;
    let adapter = device.adapter();
    let text =
        json!({ "backend": adapter.backend, "name": adapter.name, "driver": adapter.driver }).to_string();
    DEVICE.with_borrow_mut(|place| *place = Some(device));
    Ok(text)
}

/// Runs a fixture to its end; [`verdict`] has the answer. Only numbers go in and out, so that nothing but the module's
/// own frames lies between the page's promise and [`pause`].
#[unsafe(no_mangle)]
pub extern "C" fn run_fixture(index: u32) {
    let Some(mut device) = DEVICE.with_borrow_mut(Option::take) else { return };
    let fixture = &Fixtures::<Wgpu>::ALL[index as usize];
    let adapter = device.adapter().clone();
    let verdict = Verdict::of(fixture.name, &adapter, run(&mut device, fixture));
    DEVICE.with_borrow_mut(|place| *place = Some(device));
    VERDICT.with_borrow_mut(|place| *place = Some(verdict));
}

/// The last fixture's outcome and reason as JSON; nothing when it did not come to its end.
#[wasm_bindgen]
pub fn verdict() -> Option<String> {
    let verdict = VERDICT.with_borrow_mut(Option::take)?;
    Some(json!({ "outcome": verdict.name(), "reason": verdict.reason() }).to_string())
}
