//! The loader, the instance, its layers and its messenger.

use std::any::Any;
use std::ffi::CStr;

use arrayvec::ArrayVec;
use ash::{ext, vk};
use purlin_rhi::error::Error;
use purlin_rhi::request::Validation;

use crate::label::with_cstr;
use crate::messages::{ValidationMessages, messenger_info};
use crate::surface::{INSTANCE_EXTENSIONS, WindowSystems};

/// The oldest Vulkan that this backend runs on.
pub(crate) const API_VERSION: u32 = vk::API_VERSION_1_3;

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

const INSTALL_LOADER: &str = "install the Vulkan loader and a driver (Debian and Ubuntu: libvulkan1 and \
    mesa-vulkan-drivers, or the GPU vendor's driver; Fedora: vulkan-loader and mesa-vulkan-drivers; Arch: \
    vulkan-icd-loader and vulkan-swrast or the vendor's; Windows: the GPU vendor's driver)";
const INSTALL_DRIVER: &str = "install one (Debian and Ubuntu: mesa-vulkan-drivers, which has a software \
    rasterizer too, or the GPU vendor's driver), and check VK_DRIVER_FILES if it is set";

/// Says that the system has a loader but no driver.
pub(crate) fn no_driver(detail: &str) -> Error {
    Error::NoAdapter { detail: format!("{detail}; {INSTALL_DRIVER}") }
}

/// A Vulkan instance. Unless it is adopted, everything of it is destroyed with it.
pub(crate) struct Instance {
    pub raw: ash::Instance,
    /// Whether it and its device are somebody else's.
    pub adopted: bool,
    /// What the owner of an adopted device has given to keep: it is dropped after the last use.
    pub _keep: Option<Box<dyn Any + Send + Sync>>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Whether names and labels can be sent.
    pub debug_utils: bool,
    /// Whether the validation layer is on.
    pub validated: bool,
    pub messages: ValidationMessages,
    /// What it can do with surfaces; `None` when the system has none.
    pub windows: Option<WindowSystems>,
    /// Keeps the loader's library in the process; dropped after [`Drop`] destroyed the instance.
    pub entry: ash::Entry,
}

impl Instance {
    /// Starts Vulkan.
    pub fn new(label: &str, validation: Validation) -> Result<Self, Error> {
        // SAFETY: loading the system's Vulkan library runs its initializers, which is what it is for.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Error::NoAdapter {
            detail: format!("the Vulkan loader was not found ({error}); {INSTALL_LOADER}"),
        })?;
        // SAFETY: the entry points were loaded above.
        let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        if version.unwrap_or(vk::API_VERSION_1_0) < API_VERSION {
            let detail = format!("the Vulkan loader is older than 1.3; {INSTALL_LOADER}");
            return Err(Error::NoAdapter { detail });
        }

        let what = || format!("device request \"{label}\"");
        let failed = |call: &'static str, error: vk::Result| Error::Backend {
            what: what(),
            call,
            detail: error.to_string(),
        };
        // SAFETY: the entry points were loaded above.
        let offered = unsafe { entry.enumerate_instance_extension_properties(None) }
            .map_err(|error| failed("vkEnumerateInstanceExtensionProperties", error))?;
        let mut debug_utils = has(&offered, ext::debug_utils::NAME);
        let mut ways = ArrayVec::<Settings, 2>::new();
        let validated = validation != Validation::Off;
        if validated {
            // SAFETY: the entry points were loaded above.
            let installed = unsafe { entry.enumerate_instance_layer_properties() }
                .map_err(|error| failed("vkEnumerateInstanceLayerProperties", error))?;
            if !installed.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER)) {
                return Err(missing_layer(what()));
            }
            // SAFETY: the layer is installed, so its name is known to the loader.
            let of_layer = unsafe { entry.enumerate_instance_extension_properties(Some(LAYER)) }
                .map_err(|error| failed("vkEnumerateInstanceExtensionProperties", error))?;
            debug_utils |= has(&of_layer, ext::debug_utils::NAME);
            if has(&of_layer, ext::layer_settings::NAME) {
                ways.push(Settings::Layer);
            }
            if has(&of_layer, ext::validation_features::NAME) {
                ways.push(Settings::Features);
            }
            if ways.is_empty() {
                return Err(missing_layer(what()));
            }
        } else {
            ways.push(Settings::None);
        }

        let unfenced = std::env::var_os("PURLIN_VULKAN_PRESENT_FENCES").is_some_and(|value| value == "0");
        let surfaces: Vec<_> = INSTANCE_EXTENSIONS
            .into_iter()
            .filter(|&name| has(&offered, name) && !(unfenced && name == ext::surface_maintenance1::NAME))
            .collect();
        let messages = ValidationMessages::default();
        let mut result = Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        for way in ways {
            result = create(&entry, label, validation, way, debug_utils.then_some(&messages), &surfaces);
            if result.as_ref().err() != Some(&vk::Result::ERROR_EXTENSION_NOT_PRESENT) {
                break;
            }
            // Older loaders (1.3.239, for one) refuse an instance extension that they do not know, though a layer has it.
        }
        let raw = result.map_err(|error| match error {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => no_driver("the system has no Vulkan driver"),
            error => failed("vkCreateInstance", error),
        })?;

        let windows = WindowSystems::new(&entry, &raw, &surfaces);

        let mut instance = Self {
            raw,
            adopted: false,
            _keep: None,
            messenger: None,
            debug_utils,
            validated,
            messages,
            windows,
            entry,
        };
        if validated && debug_utils {
            let functions = ext::debug_utils::Instance::new(&instance.entry, &instance.raw);
            let info = messenger_info(&instance.messages);
            // SAFETY: the instance is live with the extension enabled; the sink outlives the messenger.
            let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) }
                .map_err(|error| failed("vkCreateDebugUtilsMessengerEXT", error))?;
            instance.messenger = Some((functions, messenger));
        }
        Ok(instance)
    }
}

impl Instance {
    /// One of somebody else, with these extensions enabled.
    pub fn adopt(
        entry: ash::Entry,
        raw: ash::Instance,
        extensions: &[&CStr],
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Self {
        let surfaces: Vec<_> =
            INSTANCE_EXTENSIONS.into_iter().filter(|name| extensions.contains(name)).collect();
        let windows = WindowSystems::new(&entry, &raw, &surfaces);
        // Who enables names wants to read them.
        let debug_utils = extensions.contains(&ext::debug_utils::NAME);
        Self {
            raw,
            adopted: true,
            _keep: keep,
            messenger: None,
            debug_utils,
            validated: debug_utils,
            messages: ValidationMessages::default(),
            windows,
            entry,
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.adopted {
            return;
        }
        // SAFETY: all children were destroyed before: devices hold the instance and go first, the messenger goes here.
        unsafe {
            if let Some((functions, messenger)) = self.messenger.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// How the validation layer takes its settings.
#[derive(Debug, Clone, Copy)]
enum Settings {
    /// There is no layer.
    None,
    /// By name, the newer way.
    Layer,
    /// As a list of features, the older way.
    Features,
}

fn create(
    entry: &ash::Entry,
    label: &str,
    validation: Validation,
    way: Settings,
    messages: Option<&ValidationMessages>,
    surfaces: &[&'static CStr],
) -> Result<ash::Instance, vk::Result> {
    let mut layers = ArrayVec::<_, 1>::new();
    let mut extensions = ArrayVec::<_, 11>::new();
    extensions.extend(surfaces.iter().map(|name| name.as_ptr()));
    match way {
        Settings::None => {}
        Settings::Layer => extensions.push(ext::layer_settings::NAME.as_ptr()),
        Settings::Features => extensions.push(ext::validation_features::NAME.as_ptr()),
    }
    if validation != Validation::Off {
        layers.push(LAYER.as_ptr());
    }
    if messages.is_some() {
        extensions.push(ext::debug_utils::NAME.as_ptr());
    }

    let on = [vk::Bool32::from(validation == Validation::Synchronization)];
    let setting = |name: &'static CStr| {
        let mut setting = vk::LayerSettingEXT::default()
            .layer_name(LAYER)
            .setting_name(name)
            .ty(vk::LayerSettingTypeEXT::BOOL32);
        // The builder's `values` takes bytes and would count four of them.
        setting.value_count = 1;
        setting.p_values = on.as_ptr().cast();
        setting
    };
    // The heuristic makes the layer look at what shaders statically access through descriptors. Without it a missing
    // barrier between two dispatches goes unseen.
    let list = [setting(c"validate_sync"), setting(c"syncval_shader_accesses_heuristic")];
    let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&list);
    let enable = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let enable = if validation == Validation::Synchronization { &enable[..] } else { &[] };
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(enable);
    let mut early = messages.map(messenger_info);

    with_cstr(label, |label| {
        let application = vk::ApplicationInfo::default()
            .application_name(label)
            .engine_name(c"purlin")
            .api_version(API_VERSION);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        match way {
            Settings::None => {}
            Settings::Layer => info = info.push_next(&mut layer_settings),
            // The newer structure goes along without its extension: layers that know it read it, others skip it.
            Settings::Features => info = info.push_next(&mut features).push_next(&mut layer_settings),
        }
        if let Some(early) = early.as_mut().filter(|_| validation != Validation::Off) {
            info = info.push_next(early);
        }
        // SAFETY: every pointer in `info` outlives the call, and the layers and extensions were enumerated.
        unsafe { entry.create_instance(&info, None) }
    })
}

fn has(list: &[vk::ExtensionProperties], name: &CStr) -> bool {
    list.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

fn missing_layer(what: String) -> Error {
    let detail = "the validation layer, with synchronization validation, is not installed: install it (Debian and \
                  Ubuntu: vulkan-validationlayers; or the Vulkan SDK), or set VK_LAYER_PATH to the folder of its \
                  manifest";
    Error::unsupported(what, "VK_LAYER_KHRONOS_validation", detail)
}
