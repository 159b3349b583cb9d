//! Opening a device for a canvas: one attempt for each API, in order, at startup and never again.
//!
//! A canvas belongs to the first kind of context that it was asked for. So WebGPU is asked for its adapter and its device
//! before it touches the canvas, and a canvas that an attempt touched in vain is replaced by a clone in its place: same
//! attributes, same style, no context, and none of the listeners that were added to it.

use js_sys::{Function, Promise, Reflect};
use purlin_rhi::error::Error;
use purlin_rhi::request::DeviceRequest;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlCanvasElement;

use crate::device::{Wgpu, WgpuOptions};

/// A device that can present to a canvas.
#[derive(Debug)]
pub struct OnCanvas {
    /// The device.
    pub device: Wgpu,
    /// Which of the names it was.
    pub name: &'static str,
    /// The canvas that is in the page now: the given one, or the clone that replaced it.
    pub canvas: HtmlCanvasElement,
    /// The canvas's surface, not configured yet.
    pub surface: wgpu::Surface<'static>,
    /// The names that were tried before, with what kept each from opening.
    pub refused: Vec<(&'static str, Error)>,
}

/// How an attempt failed.
struct Refused {
    why: Error,
    /// Whether the canvas was asked for a context.
    touched: bool,
}

impl Wgpu {
    /// Opens the first of these APIs (`webgpu`, `webgl`) that gives a device for the request and a context of the canvas.
    ///
    /// # Errors
    /// A malformed request; with one name, what kept it from opening; with several, [`Error::NoAdapter`] with the reason of
    /// each.
    pub async fn open_on_canvas(
        request: &DeviceRequest<'_>,
        names: &[&'static str],
        mut canvas: HtmlCanvasElement,
    ) -> Result<OnCanvas, Error> {
        request.check()?;
        let mut refused = Vec::new();
        for &name in names {
            match attempt(request, name, &canvas).await {
                Ok((device, surface)) => return Ok(OnCanvas { device, name, canvas, surface, refused }),
                Err(failure) => {
                    if failure.touched {
                        canvas = replace(canvas)?;
                    }
                    if names.len() == 1 {
                        return Err(failure.why);
                    }
                    refused.push((name, failure.why));
                }
            }
        }
        let reasons: Vec<String> = refused.iter().map(|(name, error)| format!("{name}: {error}")).collect();
        let detail = if reasons.is_empty() { "no API is named".into() } else { reasons.join("; ") };
        Err(Error::NoAdapter { detail })
    }
}

async fn attempt(
    request: &DeviceRequest<'_>,
    name: &str,
    canvas: &HtmlCanvasElement,
) -> Result<(Wgpu, wgpu::Surface<'static>), Refused> {
    let untouched = |why| Refused { why, touched: false };
    let touched = |why| Refused { why, touched: true };
    let compiled = wgpu::Instance::enabled_backend_features();
    let Some(backends) = WgpuOptions::named(name).and_then(|options| options.backends) else {
        return Err(untouched(Error::NoAdapter { detail: format!("\"{name}\" names no API of a browser") }));
    };
    if !compiled.contains(backends) {
        let detail = format!("{name} is not compiled; compiled are {compiled:?}");
        return Err(untouched(Error::NoAdapter { detail }));
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let options = WgpuOptions { backends: Some(backends), instance: Some(&instance), surface: None };
    let surface = || {
        instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas.clone())).map_err(|error| {
            touched(Error::NoAdapter { detail: format!("the canvas gives no context for {name}: {error}") })
        })
    };
    if backends == wgpu::Backends::BROWSER_WEBGPU {
        let detail = |why| untouched(Error::NoAdapter { detail: why });
        probe().await.map_err(detail)?;
        let device = Wgpu::open(request, &options).await.map_err(untouched)?;
        Ok((device, surface()?))
    } else {
        // WebGL 2 has no adapter but a canvas's context.
        let surface = surface()?;
        let options = WgpuOptions { surface: Some(&surface), ..options };
        let device = Wgpu::open(request, &options).await.map_err(touched)?;
        Ok((device, surface))
    }
}

/// Asks the browser for an adapter as wgpu will, and says what is wrong when there is none: wgpu takes a missing object and a
/// null for the same, and does not survive an exception.
async fn probe() -> Result<(), String> {
    let get = |from: &JsValue, name: &str| Reflect::get(from, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let navigator = get(&js_sys::global(), "navigator");
    let gpu = get(&navigator, "gpu");
    if gpu.is_undefined() || gpu.is_null() {
        return Err(
            "this page has no navigator.gpu: the browser has no WebGPU, or the page no secure context".into(),
        );
    }
    let threw = |what: JsValue| {
        let text = what.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
        format!("requestAdapter failed: {}", text.unwrap_or_else(|| format!("{what:?}")))
    };
    let request: Function =
        get(&gpu, "requestAdapter").dyn_into().map_err(|_| "navigator.gpu has no requestAdapter")?;
    let promise = request.call0(&gpu).map_err(threw)?;
    let adapter = JsFuture::from(Promise::resolve(&promise)).await.map_err(threw)?;
    match adapter.is_null() || adapter.is_undefined() {
        true => Err("requestAdapter gives no adapter".into()),
        false => Ok(()),
    }
}

/// A clone in the canvas's place.
fn replace(canvas: HtmlCanvasElement) -> Result<HtmlCanvasElement, Error> {
    let failed = |what: &str| Error::NoAdapter { detail: format!("the canvas cannot be replaced: {what}") };
    let clone = canvas.clone_node().map_err(|_| failed("it cannot be cloned"))?;
    let clone: HtmlCanvasElement = clone.dyn_into().map_err(|_| failed("its clone is no canvas"))?;
    // Outside of a document there is nobody to notice.
    canvas.replace_with_with_node_1(&clone).map_err(|_| failed("its parent refuses the clone"))?;
    Ok(clone)
}
