//! The validation layer, and the mock driver: which library, and the manifest that names it to the loader.
//!
//! A layer is only worth running when it sees a missing barrier between shader accesses. Newer ones do, on request
//! (`syncval_shader_accesses_heuristic`); Debian 12's own package (1.3.239) does not, but the layer inside its
//! `chromium` package does, and lacks only a manifest. So the library itself is asked whether it knows that setting,
//! and where the system has no manifest for a good one, we write it under `target/vulkan-layers`.

use super::detect::{self, Search};
use crate::process::{Env, Failure, Outcome};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const NAME: &str = "VK_LAYER_KHRONOS_validation";
const LIBRARY: &str = "libVkLayer_khronos_validation.so";
const MOCK_LIBRARY: &str = "libVkICD_mock_icd.so";
const MANIFEST: &str = "VkLayer_khronos_validation.json";
const HEURISTIC: &str = "VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC";
const HEURISTIC_SETTING: &[u8] = b"syncval_shader_accesses_heuristic";

/// Where browsers keep the libraries that they were built with.
const BROWSER_FOLDERS: &[&str] =
    &["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/usr/lib/chromium-browser", "/opt/google/chrome"];

/// A validation layer that the loader can be told of.
#[derive(Debug)]
pub struct Layer {
    /// The folder of its manifest.
    folder: PathBuf,
    library: PathBuf,
    version: String,
    sees_shader_accesses: bool,
}

impl Layer {
    /// Does it see a missing barrier between two shaders' accesses?
    pub fn sees_shader_accesses(&self) -> bool {
        self.sees_shader_accesses
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        format!("{} {}, manifest in {}", self.library.display(), self.version, self.folder.display())
    }

    /// What to say before trusting its silence, if anything.
    pub fn warning(&self) -> Option<String> {
        (!self.sees_shader_accesses).then(|| {
            format!(
                "validation layer {} misses hazards between shader accesses; a newer one finds more",
                self.version
            )
        })
    }

    /// Environment for child processes. Our folder goes before the caller's, so that other layers stay in reach.
    pub fn env(&self) -> Env {
        let theirs = std::env::var_os("VK_LAYER_PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::iter::once(self.folder.clone())
            .chain(std::env::split_paths(&theirs).filter(|path| *path != self.folder))
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        let joined = std::env::join_paths(&folders)
            .map(|joined| joined.to_string_lossy().into_owned())
            .unwrap_or_else(|_| self.folder.display().to_string());
        vec![("VK_LAYER_PATH", joined), (HEURISTIC, "1".to_owned())]
    }
}

/// The best layer of this machine: the first that sees shader accesses, else the first there is.
pub fn find(root: &Path, search: &Search) -> Outcome<Option<Layer>> {
    let mut second_best = None;
    // Ours is written anew below when its library changed, so it is not taken from the caller's VK_LAYER_PATH.
    let ours = folder(root);
    let manifests = search.layer_manifests();
    for manifest in manifests.iter().filter(|manifest| !manifest.starts_with(&ours)) {
        if let Some(layer) = described(manifest, search) {
            if layer.sees_shader_accesses {
                return Ok(Some(layer));
            }
            second_best = second_best.or(Some(layer));
        }
    }
    let bare =
        BROWSER_FOLDERS.iter().map(|folder| Path::new(folder).join(LIBRARY)).find(|path| path.is_file());
    match bare {
        Some(library) => describe(root, &library).map(Some),
        None => Ok(second_best),
    }
}

fn folder(root: &Path) -> PathBuf {
    root.join("target").join("vulkan-layers")
}

/// A layer that a manifest on the system describes already.
fn described(manifest: &Path, search: &Search) -> Option<Layer> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let json: Value = serde_json::from_str(&text).ok()?;
    let layer = &json["layer"];
    if layer["name"] != NAME {
        return None;
    }
    let library = search.library(&detect::library_of(manifest, "layer")?)?;
    let bytes = std::fs::read(&library).ok()?;
    Some(Layer {
        folder: manifest.parent()?.to_path_buf(),
        version: layer["api_version"].as_str()?.to_owned(),
        sees_shader_accesses: position(&bytes, HEURISTIC_SETTING, 0).is_some(),
        library,
    })
}

/// Write a manifest for a library that has none, unless the one we wrote last time is still right.
fn describe(root: &Path, library: &Path) -> Outcome<Layer> {
    let folder = folder(root);
    let manifest = folder.join(MANIFEST);
    if let Some(layer) = still_right(&manifest, library) {
        return Ok(layer);
    }
    let bytes = std::fs::read(library)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", library.display())))?;
    let sees_shader_accesses = position(&bytes, HEURISTIC_SETTING, 0).is_some();
    let version = api_version(&bytes).unwrap_or_else(|| "1.3.0".to_owned());
    let json = json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": NAME,
            "type": "GLOBAL",
            "library_path": library,
            "api_version": version,
            "implementation_version": "1",
            "description": "Khronos validation layer",
            "instance_extensions": [
                { "name": "VK_EXT_debug_report", "spec_version": "10" },
                { "name": "VK_EXT_debug_utils", "spec_version": "2" },
                { "name": "VK_EXT_validation_features", "spec_version": "6" },
                { "name": "VK_EXT_layer_settings", "spec_version": "2" },
            ],
            // Not the loader's: how we know next time that this is still right. It stands inside the layer
            // because the loader takes whatever follows "layer" for a second one, and drops both.
            "purlin": { "size": bytes.len(), "sees_shader_accesses": sees_shader_accesses },
        },
    });
    write(&manifest, &json)?;
    Ok(Layer { folder, library: library.to_path_buf(), version, sees_shader_accesses })
}

fn still_right(manifest: &Path, library: &Path) -> Option<Layer> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(manifest).ok()?).ok()?;
    let metadata = std::fs::metadata(library).ok()?;
    let written = std::fs::metadata(manifest).and_then(|metadata| metadata.modified()).ok()?;
    let same = json["layer"]["library_path"].as_str()? == library.to_str()?
        && json["layer"]["purlin"]["size"].as_u64()? == metadata.len()
        && metadata.modified().ok()? <= written;
    same.then_some(())?;
    Some(Layer {
        folder: manifest.parent()?.to_path_buf(),
        library: library.to_path_buf(),
        version: json["layer"]["api_version"].as_str()?.to_owned(),
        sees_shader_accesses: json["layer"]["purlin"]["sees_shader_accesses"].as_bool()?,
    })
}

/// Describe the mock driver to the loader: a driver that does nothing, to measure what our own code costs.
pub fn mock(root: &Path) -> Outcome<Option<PathBuf>> {
    let mut libraries = BROWSER_FOLDERS.iter().map(|folder| Path::new(folder).join(MOCK_LIBRARY));
    let Some(library) = libraries.find(|path| path.is_file()) else { return Ok(None) };
    let manifest = root.join("target").join("vulkan-mock").join("mock_icd.json");
    let json = json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": library, "api_version": "1.3.0" },
    });
    write(&manifest, &json)?;
    Ok(Some(manifest))
}

/// Write through a file beside it, so that a loader that reads meanwhile sees the old or the new text, whole.
fn write(path: &Path, json: &Value) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let part = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, format!("{json:#}\n")).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

/// The Vulkan version that the library reports of itself, read from its `VkLayerProperties`: the layer's name in
/// 256 bytes padded with zeros, then the version as one packed integer. Loading the library would answer too, but
/// takes `unsafe`; a loader that finds the version too low warns, no more.
fn api_version(library: &[u8]) -> Option<String> {
    const NAME_SIZE: usize = 256;
    let mut from = 0;
    while let Some(at) = position(library, NAME.as_bytes(), from) {
        from = at + NAME.len();
        let padding = library.get(from..at + NAME_SIZE)?;
        let packed = library.get(at + NAME_SIZE..at + NAME_SIZE + 4)?;
        let packed = u32::from_le_bytes(packed.try_into().ok()?);
        let (major, minor, patch) = (packed >> 22, (packed >> 12) & 0x3ff, packed & 0xfff);
        if padding.iter().all(|byte| *byte == 0) && major == 1 {
            return Some(format!("{major}.{minor}.{patch}"));
        }
    }
    None
}

/// Where `needle` is in `hay`, at or after `from`.
fn position(hay: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    while let Some(step) = hay.get(at..)?.iter().position(|byte| *byte == first) {
        at += step;
        if hay[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    fn library(version: u32, setting: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF VK_LAYER_KHRONOS_validation elsewhere ".to_vec();
        bytes.extend_from_slice(&[0; 300]);
        let mut name = [0; 256];
        name[..NAME.len()].copy_from_slice(NAME.as_bytes());
        bytes.extend_from_slice(&name);
        bytes.extend_from_slice(&version.to_le_bytes());
        bytes.extend_from_slice(setting);
        bytes
    }

    fn packed(minor: u32, patch: u32) -> u32 {
        (1 << 22) | (minor << 12) | patch
    }

    #[test]
    fn the_version_is_read_from_the_properties() {
        assert_eq!(api_version(&library(packed(4, 321), b"")).as_deref(), Some("1.4.321"));
        assert_eq!(api_version(b"nothing here"), None);
        assert_eq!(api_version(NAME.as_bytes()), None);
    }

    #[test]
    fn a_needle_is_found_from_a_place_on() {
        assert_eq!(position(b"aab aab", b"ab", 0), Some(1));
        assert_eq!(position(b"aab aab", b"ab", 2), Some(5));
        assert_eq!(position(b"aab", b"abc", 0), None);
        assert_eq!(position(b"aab", b"ab", 9), None);
    }

    #[test]
    fn a_bare_library_gets_a_manifest_that_follows_it() {
        let dir = TempDir::new("layers");
        let path = dir.path().join(LIBRARY);
        std::fs::write(&path, library(packed(3, 239), b"")).expect("the folder is ours");
        let old = describe(dir.path(), &path).expect("the library is readable");
        assert_eq!(old.version, "1.3.239");
        assert!(!old.sees_shader_accesses() && old.warning().is_some());

        let text = std::fs::read_to_string(old.folder.join(MANIFEST)).expect("the manifest was written");
        let json: Value = serde_json::from_str(&text).expect("the manifest is JSON");
        assert_eq!(json["layer"]["library_path"], path.to_str().expect("the path is UTF-8"));
        assert_eq!(json["layer"]["api_version"], "1.3.239");
        let keys: Vec<_> = json.as_object().expect("the manifest is an object").keys().collect();
        assert_eq!(keys, ["file_format_version", "layer"], "the loader accepts nothing after the layer");

        std::fs::write(&path, library(packed(4, 364), HEURISTIC_SETTING)).expect("the folder is ours");
        let new = describe(dir.path(), &path).expect("the library is readable");
        assert_eq!(new.version, "1.4.364");
        assert!(new.sees_shader_accesses() && new.warning().is_none());
        let again = still_right(&new.folder.join(MANIFEST), &path).expect("nothing changed");
        assert_eq!(again.version, "1.4.364");
    }

    #[test]
    fn the_environment_names_our_folder_first() {
        let layer = Layer {
            folder: "/ours".into(),
            library: "/lib.so".into(),
            version: "1.4.0".into(),
            sees_shader_accesses: true,
        };
        let env = layer.env();
        assert!(env[0].0 == "VK_LAYER_PATH" && env[0].1.starts_with("/ours"));
        assert_eq!(env[1], (HEURISTIC, "1".to_owned()));
    }
}
