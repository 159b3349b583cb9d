//! A camera on a sphere around what it looks at.

use purlin_cli::scene::Camera;

/// Where the camera is, seen from its target.
#[derive(Debug, Clone, Copy)]
pub struct Orbit {
    /// Radians around the vertical axis, from +Z towards +X.
    yaw: f32,
    /// Radians above the horizon.
    pitch: f32,
    distance: f32,
}

/// From just above the ground to almost straight down.
const PITCH: (f32, f32) = (-0.05, 1.45);
const DISTANCE: (f32, f32) = (5.0, 70.0);

impl Orbit {
    /// Where a camera is now.
    pub fn of(camera: &Camera) -> Self {
        let offset = camera.eye - camera.target;
        let distance = offset.length();
        Self { yaw: offset.x.atan2(offset.z), pitch: (offset.y / distance).asin(), distance }
    }

    /// Turns by radians.
    pub fn turn(&mut self, yaw: f32, pitch: f32) {
        self.yaw += yaw;
        self.pitch = (self.pitch + pitch).clamp(PITCH.0, PITCH.1);
    }

    /// Comes nearer by a factor below one, or goes away.
    pub fn zoom(&mut self, factor: f32) {
        self.distance = (self.distance * factor).clamp(DISTANCE.0, DISTANCE.1);
    }

    /// Puts a camera there; its target stays.
    pub fn place(&self, camera: &mut Camera) {
        let (sin, cos) = self.pitch.sin_cos();
        let direction = glam::Vec3::new(self.yaw.sin() * cos, sin, self.yaw.cos() * cos);
        camera.eye = camera.target + direction * self.distance;
    }
}
