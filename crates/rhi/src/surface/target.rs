//! What a surface is made of.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use raw_window_handle::{DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle};

/// Something with a window and a display, to be shared between threads.
pub trait WindowHandles: HasWindowHandle + HasDisplayHandle + Send + Sync + 'static {}
impl<T: HasWindowHandle + HasDisplayHandle + Send + Sync + 'static> WindowHandles for T {}

/// A window to present to. Clones are one target.
///
/// It owns the window, or shares it when given an [`Arc`] of one, so the window outlives every surface that is made
/// of it. Keep the target to make another surface when one is lost.
#[derive(Clone)]
pub struct SurfaceTarget(Kind);

#[derive(Clone)]
enum Kind {
    Window(Arc<dyn WindowHandles>),
    Custom(Arc<dyn Any + Send + Sync>),
}

impl SurfaceTarget {
    /// A window of any windowing crate that speaks `raw-window-handle`.
    pub fn new(window: impl WindowHandles) -> Self {
        Self(Kind::Window(Arc::new(window)))
    }

    /// A target that only its backend understands, such as [`NullWindow`](crate::null::NullWindow).
    pub fn custom<T: Any + Send + Sync>(target: T) -> Self {
        Self(Kind::Custom(Arc::new(target)))
    }

    /// The custom target, when it is of this type.
    pub fn custom_as<T: Any>(&self) -> Option<&T> {
        match &self.0 {
            Kind::Window(_) => None,
            Kind::Custom(target) => target.downcast_ref(),
        }
    }

    /// Whether both are clones of one target.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Window(a), Kind::Window(b)) => Arc::ptr_eq(a, b),
            (Kind::Custom(a), Kind::Custom(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The window's; a custom target has none.
impl HasWindowHandle for SurfaceTarget {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        match &self.0 {
            Kind::Window(window) => window.window_handle(),
            Kind::Custom(_) => Err(HandleError::NotSupported),
        }
    }
}

/// The window's; a custom target has none.
impl HasDisplayHandle for SurfaceTarget {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        match &self.0 {
            Kind::Window(window) => window.display_handle(),
            Kind::Custom(_) => Err(HandleError::NotSupported),
        }
    }
}

impl fmt::Debug for SurfaceTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Window(window) => match window.window_handle() {
                Ok(handle) => write!(f, "SurfaceTarget({:?})", handle.as_raw()),
                Err(error) => write!(f, "SurfaceTarget({error})"),
            },
            Kind::Custom(_) => f.write_str("SurfaceTarget(custom)"),
        }
    }
}
