//! glTF 2.0 to a [`Scene`].
//!
//! The steps are rooms of their own: [`source`] brings bytes and a valid document, [`accessor`] numbers,
//! [`primitive`] one mesh part, [`surface`] one material. This file walks the nodes and puts the parts
//! together.
//!
//! What a node transform means: world = parent * local. A mesh under a mirroring transform gets a second
//! index range with turned winding, so front faces stay counter-clockwise without a pipeline of their own. A
//! skinned mesh is posed here once, with its joints at rest, and stands in world space: the transform of its
//! own node is ignored, as the format says.

mod accessor;
mod primitive;
mod source;
mod surface;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use glam::Mat4;

use self::source::Source;
use self::surface::Surfaces;
use super::{Scene, SceneOptions, stage};
use crate::error::{DemoError, one_line};

/// The most vertices, counting each posed mesh once for each skin.
const MAX_VERTICES: usize = 1 << 24;
/// The most indices, counting mirrored ranges.
const MAX_INDICES: usize = 1 << 26;
/// The largest coordinate: squares of it, and the stage around it, stay far from overflow.
const MAX_REACH: f32 = 1e12;
/// The most instances.
const MAX_INSTANCES: usize = 1 << 20;

/// Loads a model and sets the stage for it.
pub(super) fn load(path: &Path, options: &SceneOptions) -> Result<Scene, DemoError> {
    build(&Source::open(path)?, options)
}

fn build(source: &Source, options: &SceneOptions) -> Result<Scene, DemoError> {
    let name = source.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut builder = Builder {
        source,
        worlds: world_transforms(source)?,
        scene: Scene::empty(name),
        surfaces: Surfaces::new(source, *options),
        parts: HashMap::new(),
        mirrored: HashMap::new(),
    };
    for (index, node) in source.document.nodes().enumerate() {
        if let Some(world) = builder.worlds[index] {
            builder.add_node(&node, world)?;
        }
    }
    let mut scene = builder.scene;
    if scene.instances.is_empty() {
        return Err(source.fault("there is no triangle to show"));
    }
    let reach = scene.bounds.min.abs().max(scene.bounds.max.abs()).max_element();
    if reach.is_nan() || reach > MAX_REACH {
        return Err(source.fault(format!("it reaches {reach:e} units from the origin, beyond {MAX_REACH:e}")));
    }
    stage::around_model(&mut scene, options.aspect);
    Ok(scene)
}

/// Each node's transform to the world; nothing for nodes outside the shown scene.
fn world_transforms(source: &Source) -> Result<Vec<Option<Mat4>>, DemoError> {
    let document = &source.document;
    let nodes: Vec<gltf::Node<'_>> = document.nodes().collect();
    let mut worlds: Vec<Option<Mat4>> = vec![None; nodes.len()];
    let roots: Vec<usize> = match document.default_scene().or_else(|| document.scenes().next()) {
        Some(scene) => scene.nodes().map(|node| node.index()).collect(),
        None => {
            // Without any scene every node that is nobody's child is a root.
            let mut is_child = vec![false; nodes.len()];
            nodes.iter().flat_map(gltf::Node::children).for_each(|child| is_child[child.index()] = true);
            (0..nodes.len()).filter(|index| !is_child[*index]).collect()
        }
    };
    // A stack of our own, since a file may nest deeper than the thread's stack allows.
    let mut open: Vec<(usize, Mat4)> = roots.into_iter().rev().map(|index| (index, Mat4::IDENTITY)).collect();
    while let Some((index, parent)) = open.pop() {
        if worlds[index].is_some() {
            return Err(source.fault(format!("node {index} has two parents or is its own ancestor")));
        }
        let node = &nodes[index];
        let world = parent * Mat4::from_cols_array_2d(&node.transform().matrix());
        if !world.is_finite() {
            return Err(source.fault(format!("node {index}: its transform is not finite")));
        }
        worlds[index] = Some(world);
        open.extend(node.children().map(|child| (child.index(), world)));
    }
    Ok(worlds)
}

struct Builder<'a> {
    source: &'a Source,
    worlds: Vec<Option<Mat4>>,
    scene: Scene,
    surfaces: Surfaces<'a>,
    /// The scene's mesh of (mesh, primitive, skin); nothing for primitives that are not drawn.
    parts: HashMap<(usize, usize, Option<usize>), Option<u32>>,
    mirrored: HashMap<u32, u32>,
}

impl Builder<'_> {
    fn add_node(&mut self, node: &gltf::Node<'_>, world: Mat4) -> Result<(), DemoError> {
        let Some(mesh) = node.mesh() else { return Ok(()) };
        let skin = node.skin();
        let world = if skin.is_some() { Mat4::IDENTITY } else { world };
        for primitive in mesh.primitives() {
            let Some(mut part) = self.part(&mesh, &primitive, skin.as_ref())? else { continue };
            let material = self.surfaces.material(&mut self.scene, &primitive.material())?;
            if world.determinant() < 0.0 {
                part = match self.mirrored.get(&part) {
                    Some(mirrored) => *mirrored,
                    None => {
                        let mirrored = self.scene.add_mirrored_mesh(part);
                        self.mirrored.insert(part, mirrored);
                        mirrored
                    }
                };
            }
            self.scene.add_instance(part, material, world);
            self.check_size()?;
        }
        Ok(())
    }

    /// The scene's mesh for a primitive, read on first use.
    fn part(
        &mut self,
        mesh: &gltf::Mesh<'_>,
        primitive: &gltf::Primitive<'_>,
        skin: Option<&gltf::Skin<'_>>,
    ) -> Result<Option<u32>, DemoError> {
        let key = (mesh.index(), primitive.index(), skin.map(gltf::Skin::index));
        if let Some(part) = self.parts.get(&key) {
            return Ok(*part);
        }
        let mut name = format!("mesh {} primitive {}", mesh.index(), primitive.index());
        if let Some(label) = mesh.name() {
            name = format!("{name} ('{}')", one_line(label));
        }
        let joints = skin.map(|skin| self.joints(skin)).transpose()?;
        let needs_tangents = primitive.material().normal_texture().is_some();
        let warnings = &mut self.scene.warnings;
        let read =
            primitive::read(self.source, primitive, &name, joints.as_deref(), needs_tangents, warnings)?;
        let part = read.map(|geometry| self.scene.add_mesh(&geometry.vertices, &geometry.indices));
        self.check_size()?;
        self.parts.insert(key, part);
        Ok(part)
    }

    /// A skin's joints at rest: from bind space to world space.
    fn joints(&self, skin: &gltf::Skin<'_>) -> Result<Vec<Mat4>, DemoError> {
        let what = format!("skin {}", skin.index());
        let inverse_binds = match skin.inverse_bind_matrices() {
            Some(accessor) => {
                let name = format!("{what} inverse bind matrices");
                Some(accessor::floats::<16>(self.source, &accessor, &name)?)
            }
            None => None,
        };
        let mut matrices = Vec::new();
        for (index, joint) in skin.joints().enumerate() {
            let world = self.worlds[joint.index()]
                .ok_or_else(|| self.source.fault(format!("{what}: joint {index} is outside the scene")))?;
            let inverse_bind = match &inverse_binds {
                Some(list) => list.get(index).map(Mat4::from_cols_array).ok_or_else(|| {
                    self.source.fault(format!("{what} has {} inverse bind matrices, too few", list.len()))
                })?,
                None => Mat4::IDENTITY,
            };
            matrices.push(world * inverse_bind);
        }
        Ok(matrices)
    }

    fn check_size(&self) -> Result<(), DemoError> {
        let scene = &self.scene;
        for (count, limit, what) in [
            (scene.vertices.len(), MAX_VERTICES, "vertices"),
            (scene.indices.len(), MAX_INDICES, "indices"),
            (scene.instances.len(), MAX_INSTANCES, "instances"),
        ] {
            if count > limit {
                return Err(DemoError::TooLarge {
                    path: self.source.path.clone(),
                    what: format!("its {count} {what}"),
                    limit: limit as u64,
                });
            }
        }
        Ok(())
    }
}
