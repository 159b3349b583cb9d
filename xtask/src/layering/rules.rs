//! The rules as data. A change of the architecture is a change here, beside ARCHITECTURE.md.

/// A library crate and the workspace crates that its `[dependencies]` and `[build-dependencies]` may name.
/// `[dev-dependencies]` are free: a test may stand above what it tests.
pub const LAYERS: &[(&str, &[&str])] = &[
    ("purlin-rhi", &[]),
    ("purlin-shader", &[]),
    ("purlin-vulkan", &["purlin-rhi"]),
    ("purlin-wgpu", &["purlin-rhi"]),
    // The shader compiler at build time only, for the mip generator.
    ("purlin-graph", &["purlin-rhi", "purlin-shader"]),
    ("purlin-frame", &["purlin-rhi", "purlin-graph"]),
    ("purlin-material", &["purlin-rhi", "purlin-graph"]),
    (
        "purlin",
        &[
            "purlin-rhi",
            "purlin-graph",
            "purlin-frame",
            "purlin-material",
            "purlin-vulkan",
            "purlin-wgpu",
            "purlin-shader",
        ],
    ),
];

/// Programs stand on top: they may use every library, and nothing may use them.
pub const PROGRAMS: &[&str] = &[
    "purlin-cli",
    "purlin-conformance",
    "purlin-window-tests",
    "purlin-benches",
    "purlin-instructions",
    "purlin-examples",
    "purlin-web",
    "purlin-fuzz",
];

/// Programs whose library another may use: the benches measure the demo's own frame, and the browser's page shows it and
/// runs the fixtures.
pub const BORROWED: &[(&str, &str)] =
    &[("purlin-benches", "purlin-cli"), ("purlin-web", "purlin-cli"), ("purlin-web", "purlin-conformance")];

/// Tools outside the picture: they know no crate of ours, and none knows them.
pub const TOOLS: &[&str] = &["xtask"];

/// What a crate must not name, by the crate's folder.
pub const VOCABULARY: &[(&str, &[&str])] = &[
    ("rhi", HARDWARE_ONLY),
    ("graph", HARDWARE_ONLY),
    ("vulkan", HARDWARE_ONLY),
    ("wgpu", HARDWARE_ONLY),
    ("frame", &["widget", "entity", "particle"]),
];

const HARDWARE_ONLY: &[&str] = &["light", "camera", "sky", "particle", "widget", "entity", "material"];

/// Library crates, by folder, whose `lib.rs` must carry `#![forbid(unsafe_code)]`.
pub const FORBID_UNSAFE: &[&str] = &["rhi", "graph", "frame", "material", "shader"];

/// Folders with Rust source of ours.
pub const FOLDERS: &[&str] = &["crates", "conformance", "benches", "examples", "web", "xtask", "fuzz"];

/// Folders inside those that hold what tools wrote.
pub const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules", "pkg", "corpus", "artifacts"];

/// Folders of expected output, which a tool wrote and whose length says nothing about its author.
const GENERATED_FOLDERS: &[&str] = &["golden", "snapshots"];

/// Folders of what browsers run too, where the system's clocks panic and threads cannot be made. Tests run natively.
const IN_BROWSERS: &[&str] = &[
    "crates/rhi/src/",
    "crates/graph/src/",
    "crates/wgpu/src/",
    "crates/purlin/src/",
    "crates/cli/src/renderer/",
    "crates/cli/src/scene/",
    "conformance/src/",
    "web/src/",
];

/// Files of those folders that are not for browsers, or that know how browsers do it.
const NOT_IN_BROWSERS: &[&str] = &[
    "crates/rhi/src/clock.rs",
    "crates/graph/src/clock.rs",
    // Starts only where a backend gives out jobs for another thread.
    "crates/rhi/src/services/pipelines/worker.rs",
    "conformance/src/bin/",
    "web/src/bin/bindgen.rs",
];

/// Does a browser run the file at this path?
pub fn runs_in_browsers(path: &str) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|folder| path.starts_with(folder));
    is_in(IN_BROWSERS) && !is_in(NOT_IN_BROWSERS) && !path.contains("/tests/") && !path.ends_with("/tests.rs")
}

/// What panics in a browser, as it is written after `::`, `{` or `,`.
pub const PANICS_IN_BROWSERS: &[&str] = &["Instant", "SystemTime", "thread"];

/// Was the file at this path written by a tool?
pub fn is_generated(path: &str) -> bool {
    path.split('/').any(|part| GENERATED_FOLDERS.contains(&part))
}

/// Where `unsafe` may be written: the crates at the FFI edge, the benches that call it, and test allocators.
const UNSAFE_FOLDERS: &[&str] = &["crates/vulkan/", "crates/wgpu/", "benches/", "web/"];

/// May the file at this path contain `unsafe`?
///
/// A global allocator cannot be written without it, so one in a `tests` or `benches` folder is accepted when its
/// file or folder name says `alloc`; the name keeps the exception in sight.
pub fn unsafe_allowed(path: &str) -> bool {
    if UNSAFE_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        return true;
    }
    let mut in_tests = false;
    for part in path.split('/') {
        if in_tests && part.contains("alloc") {
            return true;
        }
        in_tests |= part == "tests" || part == "benches";
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_have_no_cycle() {
        // Each crate may name only crates listed before it, except the siblings that do not exist in its list.
        let position = |name: &str| LAYERS.iter().position(|(layer, _)| *layer == name);
        for (index, (name, below)) in LAYERS.iter().enumerate() {
            for dependency in *below {
                let found = position(dependency).unwrap_or_else(|| panic!("{dependency} has no layer"));
                assert!(found < index, "{name} names {dependency}, which stands above it");
            }
        }
    }

    #[test]
    fn an_allocator_is_accepted_in_tests_only() {
        assert!(unsafe_allowed("crates/cli/tests/support/counting_alloc.rs"));
        assert!(unsafe_allowed("crates/graph/tests/allocations.rs"));
        assert!(!unsafe_allowed("crates/rhi/src/alloc.rs"));
        assert!(!unsafe_allowed("crates/alloc/tests/other.rs"));
    }
}
