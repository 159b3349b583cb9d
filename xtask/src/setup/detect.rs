//! Where the Vulkan loader, its drivers and its layers lie, found the way the loader itself looks for them.

use crate::process;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[cfg(target_os = "windows")]
const LOADER: &str = "vulkan-1.dll";
#[cfg(target_os = "macos")]
const LOADER: &str = "libvulkan.1.dylib";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const LOADER: &str = "libvulkan.so.1";

/// The folders and variables that a search reads, so that tests can give their own.
pub struct Search {
    /// Folders of shared libraries.
    pub libraries: Vec<PathBuf>,
    /// Folders that hold `icd.d`, `explicit_layer.d` and so on.
    pub vulkan: Vec<PathBuf>,
    /// Driver manifests, or folders of them, that the environment names.
    pub named_drivers: Vec<PathBuf>,
    /// Does the environment replace the driver folders, instead of adding to them?
    pub only_named_drivers: bool,
    /// Folders of layer manifests that the environment names.
    pub named_layers: Vec<PathBuf>,
    /// The dynamic linker's own list, where it has one.
    pub linker_cache: String,
}

impl Search {
    /// This machine.
    pub fn from_system() -> Self {
        let paths = |name: &str| -> Vec<PathBuf> {
            let value = std::env::var_os(name).unwrap_or_default();
            std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
        };
        let mut libraries =
            paths(if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" });
        libraries.extend(LIBRARY_FOLDERS.iter().map(PathBuf::from));
        if cfg!(windows) {
            libraries.extend(std::env::var_os("SystemRoot").map(|root| Path::new(&root).join("System32")));
        }

        let mut named_drivers = paths("VK_DRIVER_FILES");
        named_drivers.extend(paths("VK_ICD_FILENAMES"));
        let only_named_drivers = !named_drivers.is_empty();
        named_drivers.extend(paths("VK_ADD_DRIVER_FILES"));

        let mut named_layers = paths("VK_LAYER_PATH");
        named_layers.extend(paths("VK_ADD_LAYER_PATH"));

        Self {
            libraries,
            vulkan: vulkan_folders(),
            named_drivers,
            only_named_drivers,
            named_layers,
            linker_cache: linker_cache(),
        }
    }

    /// The loader's path, or its name where only the dynamic linker knows the path.
    pub fn loader(&self) -> Option<String> {
        if let Some(path) =
            self.libraries.iter().map(|folder| folder.join(LOADER)).find(|path| path.is_file())
        {
            return Some(path.display().to_string());
        }
        self.linker_cache.lines().any(|line| line.trim_start().starts_with(LOADER)).then(|| LOADER.to_owned())
    }

    /// The manifests of all drivers, or on Windows the loader that finds drivers in the registry.
    pub fn drivers(&self) -> Vec<PathBuf> {
        if cfg!(windows) && !self.only_named_drivers {
            // Drivers register themselves there, and the loader comes with them.
            return self.loader().map(PathBuf::from).into_iter().collect();
        }
        let named = self
            .named_drivers
            .iter()
            .flat_map(|path| if path.is_dir() { manifests(path) } else { vec![path.clone()] });
        let system = self.vulkan.iter().filter(|_| !self.only_named_drivers);
        let system = system.flat_map(|folder| manifests(&folder.join("icd.d")));
        named.chain(system).filter(|path| library_of(path, "ICD").is_some()).collect()
    }

    /// The manifests of explicit layers, those that the environment names first.
    pub fn layer_manifests(&self) -> Vec<PathBuf> {
        let system = self.vulkan.iter().map(|folder| folder.join("explicit_layer.d"));
        self.named_layers.iter().cloned().chain(system).flat_map(|folder| manifests(&folder)).collect()
    }

    /// The file of a library that a manifest names without a folder.
    pub fn library(&self, name: &Path) -> Option<PathBuf> {
        if name.is_absolute() {
            return name.is_file().then(|| name.to_path_buf());
        }
        if let Some(path) = self.libraries.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
        {
            return Some(path);
        }
        let name = name.to_str()?;
        let line = self.linker_cache.lines().find(|line| line.trim_start().starts_with(name))?;
        line.split_once("=> ").map(|(_, path)| PathBuf::from(path.trim()))
    }
}

/// Read a manifest and answer its library, unless the manifest is broken or names a file that is not there.
/// A name without a folder is the dynamic linker's to find and is believed.
pub fn library_of(manifest: &Path, section: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    let library = PathBuf::from(json[section]["library_path"].as_str()?);
    if library.components().count() == 1 {
        return Some(library);
    }
    let library = manifest.parent()?.join(library);
    library.is_file().then_some(library)
}

/// The JSON files of a folder, in name order.
fn manifests(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    found.sort();
    found
}

const LIBRARY_FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/lib64",
    "/usr/local/lib",
    "/usr/lib",
    "/lib",
    "/opt/homebrew/lib",
];

fn vulkan_folders() -> Vec<PathBuf> {
    let or = |name: &str, default: &str| std::env::var_os(name).unwrap_or_else(|| default.into());
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let in_home = |name: &str, default: &str| {
        std::env::var_os(name).map(PathBuf::from).unwrap_or_else(|| home.join(default))
    };
    let split = |paths: OsString| std::env::split_paths(&paths).collect::<Vec<_>>();
    let mut folders = vec![in_home("XDG_CONFIG_HOME", ".config")];
    folders.extend(split(or("XDG_CONFIG_DIRS", "/etc/xdg")));
    folders.push("/etc".into());
    folders.push(in_home("XDG_DATA_HOME", ".local/share"));
    folders.extend(split(or("XDG_DATA_DIRS", "/usr/local/share:/usr/share")));
    for always in ["/usr/local/share", "/usr/share", "/opt/homebrew/share", "/opt/homebrew/etc"] {
        folders.push(always.into());
    }
    let mut unique: Vec<PathBuf> = Vec::new();
    for folder in folders.into_iter().map(|folder| folder.join("vulkan")) {
        if !unique.contains(&folder) {
            unique.push(folder);
        }
    }
    unique
}

fn linker_cache() -> String {
    if !cfg!(target_os = "linux") {
        return String::new();
    }
    // The sbin folders are often not on a user's path. musl has no cache; its folders are in the list above.
    ["ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"]
        .iter()
        .find_map(|program| process::capture(process::command(program).arg("-p")).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    fn search(vulkan: &Path) -> Search {
        Search {
            libraries: Vec::new(),
            vulkan: vec![vulkan.to_path_buf()],
            named_drivers: Vec::new(),
            only_named_drivers: false,
            named_layers: Vec::new(),
            linker_cache: String::new(),
        }
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the folder is ours");
        std::fs::write(path, text).expect("the folder is ours");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_loader_is_found_in_a_folder_or_in_the_linkers_list() {
        let dir = TempDir::new("loader");
        let mut search = search(dir.path());
        assert_eq!(search.loader(), None);
        search.linker_cache =
            "2 libs found\n\tlibvulkan.so.1 (libc6,x86-64) => /somewhere/libvulkan.so.1\n".into();
        assert_eq!(search.loader().as_deref(), Some("libvulkan.so.1"));
        assert_eq!(search.library(Path::new("libvulkan.so.1")), Some("/somewhere/libvulkan.so.1".into()));
        search.libraries.push(dir.path().to_path_buf());
        write(&dir.path().join(LOADER), "");
        assert_eq!(search.loader(), Some(dir.path().join(LOADER).display().to_string()));
    }

    #[test]
    #[cfg(not(windows))]
    fn a_driver_is_a_manifest_whose_library_can_be_there() {
        let dir = TempDir::new("driver");
        let search = search(dir.path());
        assert!(search.drivers().is_empty());
        let manifest = |name: &str| dir.path().join("icd.d").join(name);
        write(&manifest("a.json"), "not json");
        write(&manifest("b.json"), r#"{"ICD":{"library_path":"/nowhere/libb.so"}}"#);
        write(&manifest("c.txt"), r#"{"ICD":{"library_path":"libc.so"}}"#);
        assert!(search.drivers().is_empty());
        write(&manifest("d.json"), r#"{"ICD":{"library_path":"libd.so"}}"#);
        assert_eq!(search.drivers(), [manifest("d.json")]);
        write(&manifest("a.json"), r#"{"ICD":{"library_path":"./liba.so"}}"#);
        write(&manifest("liba.so"), "");
        assert_eq!(search.drivers(), [manifest("a.json"), manifest("d.json")]);
    }

    #[test]
    #[cfg(not(windows))]
    fn drivers_named_by_the_environment_replace_the_others() {
        let dir = TempDir::new("named");
        write(&dir.path().join("icd.d/d.json"), r#"{"ICD":{"library_path":"libd.so"}}"#);
        let mut search = search(dir.path());
        search.named_drivers = vec![dir.path().join("missing.json")];
        search.only_named_drivers = true;
        assert!(search.drivers().is_empty());
        search.named_drivers.push(dir.path().join("icd.d"));
        assert_eq!(search.drivers(), [dir.path().join("icd.d/d.json")]);
    }
}
