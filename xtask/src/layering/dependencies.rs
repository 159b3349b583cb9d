//! Which crate may depend on which.

use super::{Violation, rules};
use crate::metadata::{Kind, Package};

/// Every dependency that points up, sideways, or at something without a layer.
pub fn check(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Violation> {
    let broken = |what: String| Violation { place: format!("package {}", package.name), what };
    let name = package.name.as_str();
    let layer = rules::LAYERS.iter().find(|(layer, _)| *layer == name);
    let program = rules::PROGRAMS.contains(&name);
    let tool = rules::TOOLS.contains(&name);
    if layer.is_none() && !program && !tool {
        return vec![broken("has no layer; give it one in xtask/src/layering/rules.rs".to_owned())];
    }
    package
        .internal
        .iter()
        .filter(|dependency| dependency.kind != Kind::Dev)
        .filter_map(|dependency| {
            let target = dependency.name.as_str();
            match layer {
                Some((_, below)) if below.contains(&target) => None,
                Some((_, [])) => {
                    Some(broken(format!("depends on `{target}`, but may depend on no crate of ours")))
                }
                Some((_, below)) => Some(broken(format!(
                    "depends on `{target}`, but may depend only on {}",
                    below.join(", ")
                ))),
                None if program && rules::LAYERS.iter().any(|(layer, _)| *layer == target) => None,
                None if rules::BORROWED.contains(&(name, target)) => None,
                None => Some(broken(format!("depends on `{target}`, which is not a library for it to use"))),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Internal;

    fn package(name: &str, internal: &[(&str, Kind)]) -> Package {
        Package {
            name: name.to_owned(),
            has_lib: true,
            internal: internal
                .iter()
                .map(|(name, kind)| Internal { name: (*name).to_owned(), kind: *kind })
                .collect(),
        }
    }

    fn found(name: &str, internal: &[(&str, Kind)]) -> Vec<String> {
        check(&[package(name, internal)]).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn pointing_down_is_accepted() {
        assert!(found("purlin-graph", &[("purlin-rhi", Kind::Normal)]).is_empty());
        assert!(
            found("purlin", &[("purlin-vulkan", Kind::Normal), ("purlin-graph", Kind::Normal)]).is_empty()
        );
        assert!(found("purlin-cli", &[("purlin", Kind::Normal), ("purlin-shader", Kind::Build)]).is_empty());
        assert!(found("purlin-benches", &[("purlin-cli", Kind::Normal)]).is_empty());
    }

    #[test]
    fn pointing_up_or_sideways_is_not() {
        assert_eq!(
            found("purlin-rhi", &[("purlin-graph", Kind::Normal)]),
            ["depends on `purlin-graph`, but may depend on no crate of ours"]
        );
        assert_eq!(
            found("purlin-vulkan", &[("purlin-graph", Kind::Normal)]),
            ["depends on `purlin-graph`, but may depend only on purlin-rhi"]
        );
        assert_eq!(
            found("purlin-cli", &[("purlin-conformance", Kind::Normal)]),
            ["depends on `purlin-conformance`, which is not a library for it to use"]
        );
        assert_eq!(found("xtask", &[("purlin", Kind::Normal)]).len(), 1);
    }

    #[test]
    fn build_dependencies_count_and_dev_dependencies_do_not() {
        assert_eq!(found("purlin-rhi", &[("purlin-shader", Kind::Build)]).len(), 1);
        assert!(found("purlin-rhi", &[("purlin-graph", Kind::Dev)]).is_empty());
    }

    #[test]
    fn a_crate_without_a_layer_is_told_where_to_get_one() {
        assert_eq!(found("purlin-audio", &[]), ["has no layer; give it one in xtask/src/layering/rules.rs"]);
    }
}
