//! A canvas of the page: the context that it gives, and the clone that takes its place.
//!
//! A canvas belongs to the first kind of context that it was asked for, and gives one context of the kind for as long as it
//! lives, lost or not. So an opening that fails after it has asked, and one that finds a canvas on which another has opened
//! before, puts a clone in the canvas's place: same attributes, same style, no context.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Object, Reflect};
use purlin_rhi::error::Error;
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{HtmlCanvasElement, WebGl2RenderingContext};

/// A canvas of the page, for [`SurfaceTarget::custom`](purlin_rhi::surface::SurfaceTarget::custom). Clones are one canvas.
///
/// A configuration of its surface sets the element's `width` and `height`; where the page sets them, frames are skipped as
/// outdated. A target of a window crate, `winit`'s in a browser, goes to
/// [`SurfaceTarget::new`](purlin_rhi::surface::SurfaceTarget::new) instead.
#[derive(Debug, Clone)]
pub struct Canvas(SendWrapper<Rc<Place>>);

#[derive(Debug)]
struct Place {
    element: RefCell<HtmlCanvasElement>,
    /// Whether it was asked for a context.
    claimed: Cell<bool>,
    /// The context, when it is WebGL 2's.
    context: RefCell<Option<WebGl2RenderingContext>>,
}

impl Canvas {
    /// A canvas that nobody else asks for a context.
    pub fn new(element: HtmlCanvasElement) -> Self {
        let (element, claimed) = (RefCell::new(element), Cell::new(false));
        let place = Place { element, claimed, context: RefCell::new(None) };
        Self(SendWrapper::new(Rc::new(place)))
    }

    /// The element that is in the page now: the given one, or the clone that an opening has put in its place. Listeners
    /// belong on an element around it, for a clone has none.
    pub fn element(&self) -> HtmlCanvasElement {
        self.0.element.borrow().clone()
    }

    /// Whether both are clones of one canvas.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Pixels of the element.
    pub(crate) fn extent(&self) -> (u32, u32) {
        let element = self.0.element.borrow();
        (element.width(), element.height())
    }

    /// Whether the browser has taken the WebGL 2 context away.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.context.borrow().as_ref().is_some_and(WebGl2RenderingContext::is_context_lost)
    }

    /// Takes the element's WebGL 2 context: opaque, as surfaces say that it is, and without what they do not use.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when it gives none.
    pub(crate) fn claim_webgl(&self, what: &str) -> Result<(), Error> {
        self.0.claimed.set(true);
        let options = Object::new();
        for unused in ["alpha", "antialias", "depth"] {
            // A plain object takes every property.
            let _ = Reflect::set(&options, &unused.into(), &JsValue::FALSE);
        }
        let given = self.element().get_context_with_context_options("webgl2", &options);
        let Ok(Some(context)) = given else {
            return Err(no_context(what, "webgl", "there is no WebGL 2, or the canvas is in use"));
        };
        self.0.context.replace(Some(context.unchecked_into()));
        Ok(())
    }

    /// The surface of the element's context, which is WebGPU's unless WebGL 2's was taken.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when it gives none.
    pub(crate) fn surface(
        &self,
        instance: &wgpu::Instance,
        what: &str,
    ) -> Result<wgpu::Surface<'static>, Error> {
        self.0.claimed.set(true);
        let made = instance.create_surface(wgpu::SurfaceTarget::Canvas(self.element()));
        let name = if self.0.context.borrow().is_some() { "webgl" } else { "webgpu" };
        made.map_err(|error| no_context(what, name, &error.to_string()))
    }

    /// Puts a clone in the element's place when it was asked for a context.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] when the page does not let it.
    pub(crate) fn renew(&self) -> Result<(), Error> {
        if !self.0.claimed.get() {
            return Ok(());
        }
        let failed =
            |what: &str| Error::NoAdapter { detail: format!("the canvas cannot be replaced: {what}") };
        let old = self.element();
        let clone = old.clone_node().map_err(|_| failed("it cannot be cloned"))?;
        let clone: HtmlCanvasElement = clone.dyn_into().map_err(|_| failed("its clone is no canvas"))?;
        // Outside of a document there is nobody to notice.
        old.replace_with_with_node_1(&clone).map_err(|_| failed("its parent refuses the clone"))?;
        self.0.element.replace(clone);
        self.0.context.replace(None);
        self.0.claimed.set(false);
        Ok(())
    }
}

fn no_context(what: &str, name: &str, why: &str) -> Error {
    let detail = format!("the canvas gives no context for {name}: {why}");
    Error::unsupported(what, "presentation", detail)
}
