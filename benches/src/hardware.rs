//! Which adapter is measured, and what the report says of the machine.

use ash::vk;

use crate::case::one_line;

/// The adapter that every contender opens.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its place in the order in which the Vulkan loader lists devices.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The driver's name and version.
    pub driver: String,
    /// The processor, and how many threads it runs at once.
    pub processor: String,
    /// Whether it is the driver that does nothing.
    pub mock: bool,
    /// Whether the processor draws.
    pub software: bool,
}

impl Choice {
    /// The machine in one line, for reports.
    pub fn hardware(&self) -> String {
        format!("{}; {}", self.name, self.processor)
    }
}

/// The commit and profile of this build.
pub const COMMIT: &str = env!("PURLIN_BENCH_COMMIT");
/// The profile of this build.
pub const PROFILE: &str = env!("PURLIN_BENCH_PROFILE");

struct Found {
    choice: Choice,
    rank: u32,
    lacks: Option<&'static str>,
}

/// Picks the first adapter whose name contains `part`, or the best one.
///
/// # Errors
/// One line: no driver, no adapter of that name, or one that lacks what the workloads need.
pub fn choose(part: Option<&str>) -> Result<Choice, String> {
    pick(list()?, part)
}

fn pick(mut found: Vec<Found>, part: Option<&str>) -> Result<Choice, String> {
    let names: Vec<_> = found.iter().map(|one| format!("\"{}\"", one.choice.name)).collect();
    match part {
        Some(part) => {
            let wanted = part.to_lowercase();
            found.retain(|one| one.choice.name.to_lowercase().contains(&wanted));
        }
        None => found.sort_by_key(|one| (one.lacks.is_some(), one.rank)),
    }
    let Some(first) = found.into_iter().next() else {
        let none = if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(match part {
            Some(part) => format!("no adapter's name contains \"{part}\"; found {none}"),
            None => "no adapter: the Vulkan drivers found no device".into(),
        });
    };
    match first.lacks {
        None => Ok(first.choice),
        Some(lacks) => Err(format!("adapter \"{}\" lacks {lacks}", first.choice.name)),
    }
}

fn list() -> Result<Vec<Found>, String> {
    // SAFETY: the system's Vulkan loader is trusted to be one.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| {
        format!("no adapter: there is no Vulkan loader ({})", one_line(&error.to_string()))
    })?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: no extensions and no layers are asked for.
    let instance = unsafe { entry.create_instance(&info, None) }
        .map_err(|error| format!("no adapter: the system has no Vulkan driver ({error})"))?;
    // SAFETY: the instance is live.
    let devices = unsafe { instance.enumerate_physical_devices() };
    let processor = processor();
    let found = devices.map(|devices| {
        devices.iter().enumerate().map(|(index, raw)| look(&instance, *raw, index, &processor)).collect()
    });
    // Kept to the end, and the driver with it: contenders come and go by the dozen, and there are drivers that cannot be
    // unloaded and loaded that often (NVIDIA 580 lists no device after some two dozen times).
    std::mem::forget((instance, entry));
    found.map_err(|error| format!("no adapter: the Vulkan drivers found no device ({error})"))
}

fn look(instance: &ash::Instance, raw: vk::PhysicalDevice, index: usize, processor: &str) -> Found {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the physical device is the instance's.
    unsafe { instance.get_physical_device_properties2(raw, &mut properties) };
    let properties = properties.properties;
    let text = |name: Result<&std::ffi::CStr, _>| {
        name.map_or(String::new(), |name| name.to_string_lossy().into_owned())
    };
    let name = text(properties.device_name_as_c_str().map_err(|_| ()));
    let maker = text(driver.driver_name_as_c_str().map_err(|_| ()));
    let version = text(driver.driver_info_as_c_str().map_err(|_| ()));
    let driver = format!("{maker} {version}").trim().to_owned();
    let mock = name.to_lowercase().contains("mock");
    let software = properties.device_type == vk::PhysicalDeviceType::CPU && !mock;
    let rank = match properties.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    };
    // The mock driver has no feature by its own account, and refuses none.
    let lacks = match properties.api_version {
        _ if mock => None,
        version if version < vk::API_VERSION_1_3 => Some("Vulkan 1.3"),
        _ => features(instance, raw),
    };
    let driver = if driver.is_empty() { format!("version {}", properties.driver_version) } else { driver };
    Found { choice: Choice { index, name, driver, processor: processor.into(), mock, software }, rank, lacks }
}

/// The first feature of the hand-written contender that is missing.
fn features(instance: &ash::Instance, raw: vk::PhysicalDevice) -> Option<&'static str> {
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut features =
        vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan12).push_next(&mut vulkan13);
    // SAFETY: the physical device is the instance's, and has Vulkan 1.3.
    unsafe { instance.get_physical_device_features2(raw, &mut features) };
    [
        (vulkan12.timeline_semaphore, "the feature timelineSemaphore"),
        (vulkan13.synchronization2, "the feature synchronization2"),
        (vulkan13.dynamic_rendering, "the feature dynamicRendering"),
    ]
    .into_iter()
    .find(|(has, _)| *has == vk::FALSE)
    .map(|(_, name)| name)
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1).map(str::trim));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {threads} threads", model.unwrap_or(std::env::consts::ARCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, rank: u32, lacks: Option<&'static str>) -> Found {
        let name = name.to_owned();
        let choice = Choice {
            index: rank as usize,
            name,
            driver: String::new(),
            processor: String::new(),
            mock: false,
            software: false,
        };
        Found { choice, rank, lacks }
    }

    fn picked(found: Vec<Found>, part: Option<&str>) -> Result<String, String> {
        pick(found, part).map(|choice| choice.name)
    }

    #[test]
    fn the_best_adapter_that_can_is_taken() {
        let all = || {
            vec![adapter("soft", 3, None), adapter("fast", 0, None), adapter("old", 0, Some("Vulkan 1.3"))]
        };
        assert_eq!(picked(all(), None), Ok("fast".into()));
        assert_eq!(picked(all(), Some("SOF")), Ok("soft".into()));
    }

    #[test]
    fn an_adapter_without_a_needed_feature_is_one_line_that_names_it() {
        let old = || vec![adapter("old", 0, Some("the feature synchronization2")), adapter("soft", 3, None)];
        let lacks = Err("adapter \"old\" lacks the feature synchronization2".into());
        assert_eq!(picked(old(), Some("old")), lacks);
        assert_eq!(picked(old(), None), Ok("soft".into()));
        assert_eq!(
            picked(vec![adapter("old", 0, Some("Vulkan 1.3"))], None).map_err(|line| line.lines().count()),
            Err(1)
        );
    }

    #[test]
    fn no_adapter_names_those_there_are() {
        assert_eq!(picked(Vec::new(), None), Err("no adapter: the Vulkan drivers found no device".into()));
        let line = picked(vec![adapter("fast", 0, None)], Some("slow"));
        assert_eq!(line, Err("no adapter's name contains \"slow\"; found \"fast\"".into()));
    }
}
