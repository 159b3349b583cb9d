//! Finding an adapter in a browser, which has one for an API, and WebGL 2 for a canvas only.

use js_sys::{Function, Promise, Reflect};
use purlin_rhi::error::Error;
use purlin_rhi::request::DeviceRequest;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::canvas::Canvas;
use crate::device::{Found, Wgpu, WgpuOptions, asked, new_instance, nothing_found};
use crate::surface;

/// The one adapter of the API that the page has: WebGPU where it may be used and is there, else WebGL 2.
///
/// WebGPU is asked before it touches the canvas, so the surface is not there yet.
pub(crate) async fn find(request: &DeviceRequest<'_>, allowed: wgpu::Backends) -> Result<Found, Error> {
    let webgpu = wgpu::Backends::BROWSER_WEBGPU;
    let backends = match allowed.contains(webgpu) && (allowed == webgpu || navigator_gpu().is_some()) {
        true => webgpu,
        false => allowed - webgpu,
    };
    let instance = new_instance(request, backends);
    let surface = if backends == webgpu {
        probe().await.map_err(|detail| Error::NoAdapter { detail })?;
        None
    } else if let Some(target) = request.surface {
        let what = asked(request);
        if let Some(canvas) = target.custom_as::<Canvas>() {
            canvas.claim_webgl(&what)?;
        }
        let raw = surface::make(&instance, target, &what)?;
        Some((target.clone(), raw))
    } else {
        return Err(nothing_found(
            backends,
            ": WebGL 2 has one for a canvas only, and the request names none",
        ));
    };
    let wanted = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        compatible_surface: surface.as_ref().map(|(_, raw)| raw),
        ..Default::default()
    };
    match instance.request_adapter(&wanted).await {
        Ok(adapter) => Ok(Found { instance, surface, adapters: vec![adapter] }),
        Err(error) => Err(nothing_found(backends, &format!(": {error}"))),
    }
}

impl Wgpu {
    /// Opens as [`Self::open`] says, and leaves a canvas that gives a context: before, for the next opening, and after a
    /// failure.
    pub(crate) async fn open_in_page(
        request: &DeviceRequest<'_>,
        options: &WgpuOptions,
    ) -> Result<Self, Error> {
        let renew = || canvas_of(request).map_or(Ok(()), Canvas::renew);
        renew()?;
        let opened = Self::open_once(request, options).await;
        if opened.is_err() {
            renew()?;
        }
        opened
    }

    /// The request's canvas, when its context is the device.
    pub(crate) fn device_canvas(&self, request: &DeviceRequest<'_>) -> Option<Canvas> {
        canvas_of(request).filter(|_| self.native == wgpu::Backend::Gl).cloned()
    }
}

fn canvas_of<'r>(request: &DeviceRequest<'r>) -> Option<&'r Canvas> {
    request.surface?.custom_as()
}

fn get(from: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(from, &name.into()).ok().filter(|value| !value.is_undefined() && !value.is_null())
}

fn navigator_gpu() -> Option<JsValue> {
    get(&get(&js_sys::global(), "navigator")?, "gpu")
}

/// Asks the browser for an adapter as wgpu will, and says what is wrong when there is none: wgpu takes a missing object and a
/// null for the same, and does not survive an exception.
async fn probe() -> Result<(), String> {
    let gpu = navigator_gpu()
        .ok_or("this page has no navigator.gpu: the browser has no WebGPU, or the page no secure context")?;
    let threw = |what: JsValue| {
        let text = what.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
        format!("requestAdapter failed: {}", text.unwrap_or_else(|| format!("{what:?}")))
    };
    let request: Option<Function> = get(&gpu, "requestAdapter").and_then(|found| found.dyn_into().ok());
    let promise = request.ok_or("navigator.gpu has no requestAdapter")?.call0(&gpu).map_err(threw)?;
    let adapter = JsFuture::from(Promise::resolve(&promise)).await.map_err(threw)?;
    match adapter.is_null() || adapter.is_undefined() {
        true => Err("requestAdapter gives no adapter".into()),
        false => Ok(()),
    }
}
