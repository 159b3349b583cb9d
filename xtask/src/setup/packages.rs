//! The system's package manager: the exact command for each, and the installation itself on Debian's relatives.

use crate::process::{self, Failure, Outcome};
use std::process::Command;

/// Something a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The Vulkan loader and a driver, software at least.
    Driver,
    /// The Khronos validation layer.
    Layer,
    /// A driver that does nothing, for benches.
    MockDriver,
    /// Valgrind, whose callgrind counts instructions.
    Valgrind,
    /// Window servers without a screen, and the libraries by which windows are opened.
    WindowServers,
    /// A second Rust toolchain that can check other targets.
    CrossToolchain,
    /// Node.js with npm.
    Node,
    /// Chromium, to be driven.
    Browser,
}

impl Need {
    /// How messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Driver => "a Vulkan driver",
            Self::Layer => "the Vulkan validation layer",
            Self::MockDriver => "the mock Vulkan driver",
            Self::Valgrind => "valgrind",
            Self::WindowServers => "Xvfb, Weston and the libraries of their clients",
            Self::CrossToolchain => "a toolchain for other targets",
            Self::Node => "Node.js with npm",
            Self::Browser => "Chromium",
        }
    }
}

/// A package manager that we know the package names of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
    Pacman,
    Apk,
    Zypper,
    Brew,
    Unknown,
}

/// What this machine runs.
#[derive(Clone, Debug)]
pub struct System {
    manager: Manager,
    /// `ID` of os-release: `debian`, `ubuntu`.
    id: String,
    /// `VERSION_CODENAME` of os-release: `bookworm`.
    codename: String,
}

impl System {
    /// Look at this machine.
    pub fn detect() -> Self {
        if cfg!(target_os = "macos") {
            return Self { manager: Manager::Brew, id: "macos".to_owned(), codename: String::new() };
        }
        let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        Self::from_os_release(&text)
    }

    /// Read os-release: the `ID`, then each of `ID_LIKE`, says which package manager it is.
    fn from_os_release(text: &str) -> Self {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        let id = value("ID");
        let like = value("ID_LIKE");
        let manager =
            std::iter::once(id.as_str()).chain(like.split_whitespace()).find_map(|name| match name {
                "debian" | "ubuntu" => Some(Manager::Apt),
                "fedora" | "rhel" | "centos" => Some(Manager::Dnf),
                "arch" | "archlinux" => Some(Manager::Pacman),
                "alpine" => Some(Manager::Apk),
                "suse" | "opensuse" | "opensuse-tumbleweed" | "opensuse-leap" => Some(Manager::Zypper),
                _ => None,
            });
        Self { manager: manager.unwrap_or(Manager::Unknown), id, codename: value("VERSION_CODENAME") }
    }

    fn is_debian(&self) -> bool {
        self.manager == Manager::Apt && self.id == "debian"
    }

    /// The packages for a need, where this system has them.
    fn packages(&self, need: Need) -> Option<&'static str> {
        Some(match (self.manager, need) {
            // Valgrind has no port to macOS on Apple's own processors.
            (Manager::Brew | Manager::Unknown, Need::Valgrind) => return None,
            (_, Need::Valgrind) => "valgrind",
            (Manager::Apt | Manager::Dnf | Manager::Pacman | Manager::Apk, Need::Node) => "nodejs npm",
            (Manager::Zypper, Need::Node) => "nodejs-default npm-default",
            (Manager::Brew, Need::Node) => "node",
            // Ubuntu's package only fetches a snap, which cannot read a checkout.
            (Manager::Apt, Need::Browser) if !self.is_debian() => return None,
            (Manager::Brew | Manager::Unknown, Need::Browser) => return None,
            (_, Need::Browser) => "chromium",
            (Manager::Apt, Need::Driver) => "libvulkan1 mesa-vulkan-drivers",
            // Debian's browser carries a far newer layer than its layer package, and the mock driver.
            (Manager::Apt, Need::Layer) if self.is_debian() => "chromium",
            (Manager::Apt, Need::MockDriver) if self.is_debian() => "chromium",
            (Manager::Apt, Need::Layer) => "vulkan-validationlayers",
            (Manager::Apt, Need::CrossToolchain) if self.is_debian() => {
                "rustc-web cargo-web rust-web-src lld-19"
            }
            (Manager::Apt, Need::WindowServers) => {
                "xvfb weston libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 libwayland-client0"
            }
            (Manager::Dnf, Need::WindowServers) => {
                "xorg-x11-server-Xvfb weston libX11-xcb libXcursor libXi libxkbcommon-x11 libwayland-client"
            }
            (Manager::Pacman, Need::WindowServers) => {
                "xorg-server-xvfb weston libx11 libxcursor libxi libxkbcommon-x11 wayland"
            }
            (Manager::Dnf, Need::Driver) => "vulkan-loader mesa-vulkan-drivers",
            (Manager::Dnf, Need::Layer) => "vulkan-validation-layers",
            (Manager::Pacman, Need::Driver) => "vulkan-icd-loader vulkan-swrast",
            (Manager::Pacman, Need::Layer) => "vulkan-validation-layers",
            (Manager::Apk, Need::Driver) => "vulkan-loader mesa-vulkan-swrast",
            (Manager::Apk, Need::Layer) => "vulkan-validation-layers",
            (Manager::Zypper, Need::Driver) => "libvulkan1 libvulkan_lvp",
            (Manager::Zypper, Need::Layer) => "vulkan-validationlayers",
            (Manager::Brew, Need::Driver) => "vulkan-loader molten-vk",
            (Manager::Brew, Need::Layer) => "vulkan-validationlayers",
            _ => return None,
        })
    }
}

/// The end of a sentence: what to run to get what is missing.
pub fn command_for(system: &System, need: Need) -> String {
    let Some(packages) = system.packages(need) else {
        return match need {
            _ if cfg!(windows) => {
                "install the graphics driver from its vendor, and the Vulkan SDK from https://vulkan.lunarg.com".into()
            }
            Need::Driver => "install the Vulkan loader and Mesa's software driver (lavapipe)".into(),
            Need::Layer => "install the Khronos Vulkan validation layers, 1.4 or newer".into(),
            Need::MockDriver => "build it from Vulkan-Tools (`icd`)".into(),
            Need::Valgrind => "install valgrind; it runs on Linux".into(),
            Need::WindowServers => "install Xvfb, Weston, and the X11 and Wayland client libraries".into(),
            Need::CrossToolchain => "run: rustup target add TARGET".into(),
            Need::Node => "install Node.js from https://nodejs.org".into(),
            Need::Browser => "install Chromium or Chrome, and name it with PURLIN_BROWSER".into(),
        };
    };
    let install = match system.manager {
        Manager::Apt => "sudo apt-get install -y --no-install-recommends",
        Manager::Dnf => "sudo dnf install -y",
        Manager::Pacman => "sudo pacman -S --needed --noconfirm",
        Manager::Apk => "sudo apk add",
        Manager::Zypper => "sudo zypper --non-interactive install",
        Manager::Brew => "brew install",
        // Has no packages, so it did not come here.
        Manager::Unknown => "install",
    };
    format!("run: {install} {packages}")
}

/// Does this system have packages for the need?
pub fn offers(system: &System, need: Need) -> bool {
    system.packages(need).is_some()
}

/// Is there a package here with a layer that sees more than an older one that was found?
pub fn has_better_layer(system: &System) -> bool {
    system.is_debian()
}

/// May we install without asking anyone?
pub fn may_install(system: &System) -> bool {
    system.manager == Manager::Apt
        && std::env::var_os("PURLIN_NO_INSTALL").is_none_or(|value| value.is_empty() || value == "0")
        && as_root().is_some()
}

/// Install what a need takes. Where it fails, the failure names the log.
pub fn install(system: &System, need: Need) -> Outcome {
    let packages = system
        .packages(need)
        .ok_or_else(|| Failure::new(format!("{} is missing; {}", need.name(), command_for(system, need))))?;
    eprintln!("installing {packages} with apt-get (this can take a minute)");
    let script = format!("{FUNCTIONS}\n{}", script_for(system, need, packages));
    let mut command =
        as_root().ok_or_else(|| Failure::new("installing needs root or a password-free sudo"))?;
    let log = process::root().join("target").join("setup.log");
    let output = command
        .args(["sh", "-c", &script])
        .output()
        .map_err(|error| Failure::new(format!("cannot run apt-get: {error}")))?;
    let text = [output.stdout, output.stderr].concat();
    // The log is a courtesy: a folder that cannot be written must not hide what apt-get said.
    let _ = log.parent().map(std::fs::create_dir_all);
    let _ = std::fs::write(&log, &text);
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text);
    let reason = text.lines().rev().find(|line| line.starts_with("E:")).unwrap_or("see the log");
    Err(Failure::new(format!(
        "cannot install {}: {reason} (log: {}); {}",
        need.name(),
        log.display(),
        command_for(system, need)
    )))
}

/// `update` must end well only when it reads new lists at all; `install` decides.
const FUNCTIONS: &str = "export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends \"$@\"; }
apt-get update || true";

fn script_for(system: &System, need: Need, packages: &str) -> String {
    if need == Need::Driver && system.is_debian() && system.codename == "bookworm" {
        // Debian 12's own Mesa is from 2022; backports have one that is three years newer. Without network to them
        // the old one still renders.
        return format!(
            "list=/etc/apt/sources.list.d/bpo.list
if ! apt-cache policy | grep -q bookworm-backports; then
    echo 'deb http://deb.debian.org/debian bookworm-backports main' > $list
    apt-get update || {{ rm -f $list; apt-get update || true; }}
fi
install -t bookworm-backports {packages} || install {packages}"
        );
    }
    format!("install {packages}")
}

/// The start of a command that runs as root, if there is a way that asks nothing.
fn as_root() -> Option<Command> {
    let id = process::capture(process::command("id").arg("-u")).ok()?;
    if id.trim() == "0" {
        return Some(process::command("env"));
    }
    process::succeeds(process::command("sudo").args(["-n", "true"])).then(|| {
        let mut command = process::command("sudo");
        command.args(["-n", "env"]);
        command
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(os_release: &str) -> System {
        System::from_os_release(os_release)
    }

    #[test]
    fn each_system_has_its_command() {
        let cases = [
            (
                "ID=debian\nVERSION_CODENAME=bookworm",
                "sudo apt-get install -y --no-install-recommends chromium",
            ),
            (
                "ID=ubuntu\nID_LIKE=debian",
                "sudo apt-get install -y --no-install-recommends vulkan-validationlayers",
            ),
            (
                "ID=linuxmint\nID_LIKE=\"ubuntu debian\"",
                "sudo apt-get install -y --no-install-recommends vulkan-valid",
            ),
            ("ID=fedora", "sudo dnf install -y vulkan-validation-layers"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"", "sudo dnf install -y vulkan-validation-layers"),
            ("ID=arch", "sudo pacman -S --needed --noconfirm vulkan-validation-layers"),
            ("ID=alpine", "sudo apk add vulkan-validation-layers"),
            ("ID=\"opensuse-leap\"", "sudo zypper --non-interactive install vulkan-validationlayers"),
        ];
        for (os_release, expected) in cases {
            let command = command_for(&system(os_release), Need::Layer);
            assert!(command.starts_with(&format!("run: {expected}")), "{os_release}: {command}");
        }
    }

    #[test]
    fn an_unknown_system_still_gets_one_useful_line() {
        for os_release in ["", "ID=plan9"] {
            for need in [
                Need::Driver,
                Need::Layer,
                Need::MockDriver,
                Need::Valgrind,
                Need::WindowServers,
                Need::CrossToolchain,
                Need::Node,
                Need::Browser,
            ] {
                let line = command_for(&system(os_release), need);
                assert!(!line.is_empty() && !line.contains('\n'));
            }
            assert!(!may_install(&system(os_release)));
        }
    }

    #[test]
    fn only_old_debian_takes_its_driver_from_backports() {
        let script = |os_release| script_for(&system(os_release), Need::Driver, "a b");
        assert!(
            script("ID=debian\nVERSION_CODENAME=bookworm")
                .contains("-t bookworm-backports a b || install a b")
        );
        assert_eq!(script("ID=debian\nVERSION_CODENAME=trixie"), "install a b");
        assert_eq!(script("ID=ubuntu\nVERSION_CODENAME=noble"), "install a b");
    }
}
