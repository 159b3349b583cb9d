//! Names: from WGSL and from file names to Rust, without collisions.

use std::collections::BTreeSet;

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords that cannot be written as raw identifiers.
const PATH_KEYWORDS: &[&str] = &["crate", "self", "Self", "super", "_"];

/// A WGSL identifier as a Rust one.
pub(crate) fn ident(name: &str) -> String {
    if PATH_KEYWORDS.contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// `pointLight2D` as `POINT_LIGHT2D`.
pub(crate) fn upper_snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && previous_lower {
            out.push('_');
        }
        previous_lower = c.is_lowercase() || c.is_ascii_digit();
        out.extend(c.to_uppercase());
    }
    out
}

/// `pointLight` as `PointLight`, `point_light` likewise.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut start = true;
    for c in name.chars() {
        if c == '_' {
            start = true;
        } else if std::mem::take(&mut start) {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// A file stem as the name of its module.
pub(crate) fn module_name(stem: &str) -> String {
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_lowercase().next().unwrap_or(c) } else { '_' })
        .collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
        name.insert(0, '_');
    }
    // `api` and `shared` are the file's own; a keyword would need a raw identifier, which file names cannot have.
    if ["api", "shared"].contains(&name.as_str()) || ident(&name) != name {
        name.push('_');
    }
    name
}

/// A package's name becomes file names, so it is kept plain.
pub(crate) fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The path must mean the same in every nested module, so it starts at a crate.
pub(crate) fn is_crate_path(path: &str) -> bool {
    let segments: Vec<&str> = path.split("::").collect();
    let is_ident = |segment: &&str| {
        segment.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    matches!(segments[0], "" | "crate")
        && (segments[0] == "crate" || segments.len() > 1)
        && segments[1..].iter().all(is_ident)
}

/// Names taken in one scope.
#[derive(Debug, Default, Clone)]
pub(crate) struct Taken(BTreeSet<String>);

impl Taken {
    /// `name`, or `name_2` and so on if it is taken; taken from now on.
    pub(crate) fn claim(&mut self, name: String) -> String {
        let mut unique = name.clone();
        let mut number = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        assert_eq!(ident("type"), "r#type");
        assert_eq!(ident("self"), "self_");
        assert_eq!(upper_snake("cs_main"), "CS_MAIN");
        assert_eq!(upper_snake("pointLight2D"), "POINT_LIGHT2_D");
        assert_eq!(camel("point_light"), "PointLight");
        assert_eq!(module_name("01-Cull.pass"), "_01_cull_pass");
        assert_eq!(module_name("move"), "move_");
        assert_eq!(module_name("shared"), "shared_");
    }

    #[test]
    fn paths_start_at_a_crate() {
        for good in ["::purlin_rhi", "::purlin::rhi", "crate", "crate::mirror"] {
            assert!(is_crate_path(good), "{good}");
        }
        for bad in ["", "::", "super::x", "purlin", "crate::", "::a b", "crate::1x"] {
            assert!(!is_crate_path(bad), "{bad}");
        }
    }

    #[test]
    fn claims_are_unique() {
        let mut taken = Taken::default();
        assert_eq!(taken.claim("A".into()), "A");
        assert_eq!(taken.claim("A".into()), "A_2");
        assert_eq!(taken.claim("A".into()), "A_3");
    }
}
