//! A window with its events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin::SurfaceTarget;
use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::platform::pump_events::{EventLoopExtPumpEvents, PumpStatus};
use winit::platform::wayland::EventLoopBuilderExtWayland;
use winit::platform::x11::EventLoopBuilderExtX11;
use winit::window::{Window, WindowId};

use crate::Outcome;
use crate::screen::Screen;

/// What the event loop tells.
struct Events {
    window: Option<Arc<Window>>,
    size: (u32, u32),
    problem: Option<String>,
}

impl ApplicationHandler for Events {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let attributes = Window::default_attributes()
            .with_title("purlin")
            .with_inner_size(PhysicalSize::new(self.size.0, self.size.1));
        match event_loop.create_window(attributes) {
            Ok(window) => self.window = Some(Arc::new(window)),
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::Resized(size) => self.size = (size.width, size.height),
            WindowEvent::CloseRequested => self.problem = Some("the window server closes the window".into()),
            _ => {}
        }
    }
}

/// A window with its events.
pub struct Stage {
    event_loop: EventLoop<()>,
    events: Events,
    window: Arc<Window>,
    pub screen: Option<Screen>,
}

impl Stage {
    pub fn new(wayland: bool, size: (u32, u32)) -> Outcome<Self> {
        let mut builder = EventLoop::builder();
        if wayland {
            EventLoopBuilderExtWayland::with_wayland(&mut builder);
        } else {
            EventLoopBuilderExtX11::with_x11(&mut builder);
        }
        let mut event_loop = builder.build()?;
        let mut events = Events { window: None, size, problem: None };
        let begun = Instant::now();
        while events.window.is_none() {
            event_loop.pump_app_events(Some(Duration::from_millis(10)), &mut events);
            if let Some(problem) = events.problem.take() {
                return Err(problem.into());
            }
            if begun.elapsed() > Duration::from_secs(10) {
                return Err("no window within ten seconds".into());
            }
        }
        let window = events.window.clone().ok_or("no window")?;
        let screen = match window.window_handle()?.as_raw() {
            RawWindowHandle::Xlib(handle) => Some(Screen::new(handle.window as u32)?),
            RawWindowHandle::Xcb(handle) => Some(Screen::new(handle.window.get())?),
            _ => None,
        };
        Ok(Self { event_loop, events, window, screen })
    }

    pub fn target(&self) -> SurfaceTarget {
        SurfaceTarget::new(Arc::clone(&self.window))
    }

    /// Lets events arrive.
    pub fn pump(&mut self) -> Outcome {
        let status = self.event_loop.pump_app_events(Some(Duration::ZERO), &mut self.events);
        if let PumpStatus::Exit(code) = status {
            return Err(format!("the event loop ended with {code}").into());
        }
        match self.events.problem.take() {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }

    /// The content's size as far as events told.
    pub fn size(&self) -> (u32, u32) {
        self.events.size
    }

    /// Asks for a size, and returns before it is there.
    pub fn request(&mut self, (width, height): (u32, u32)) -> Outcome {
        if let Some(now) = self.window.request_inner_size(PhysicalSize::new(width, height)) {
            self.events.size = (now.width, now.height);
        }
        self.pump()
    }

    /// Asks for a size and waits until it is there.
    pub fn resize(&mut self, size: (u32, u32)) -> Outcome {
        self.request(size)?;
        let begun = Instant::now();
        loop {
            let there = match &self.screen {
                Some(screen) => screen.size()? == size && self.events.size == size,
                None => self.events.size == size,
            };
            if there {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(5) {
                return Err(format!("the window is {:?}, not {size:?}", self.events.size).into());
            }
            self.pump()?;
        }
    }
}
