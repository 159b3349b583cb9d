//! What `cargo metadata` says about the workspace, reduced to what the tasks ask.

use crate::process::{self, Failure, Outcome};
use serde_json::Value;

/// How a crate is depended on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `[dependencies]`
    Normal,
    /// `[build-dependencies]`
    Build,
    /// `[dev-dependencies]`
    Dev,
}

/// A dependency on another crate of this workspace.
#[derive(Clone, Debug)]
pub struct Internal {
    /// The package depended on.
    pub name: String,
    /// Where it is listed.
    pub kind: Kind,
}

/// One package of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// The package's name.
    pub name: String,
    /// Does it have a library, and so possibly doctests?
    pub has_lib: bool,
    /// Dependencies inside the workspace.
    pub internal: Vec<Internal>,
}

/// Ask cargo for the packages of this workspace.
pub fn packages() -> Outcome<Vec<Package>> {
    let text = process::capture(process::cargo(&["metadata"]).args(["--no-deps", "--format-version", "1"]))?;
    parse(&text).ok_or_else(|| Failure::new("`cargo metadata` answered something this xtask cannot read"))
}

/// Read the JSON of `cargo metadata`.
pub fn parse(text: &str) -> Option<Vec<Package>> {
    let value: Value = serde_json::from_str(text).ok()?;
    value["packages"].as_array()?.iter().map(package).collect()
}

fn package(value: &Value) -> Option<Package> {
    let targets = value["targets"].as_array()?;
    let is = |target: &Value, kind: &str| {
        target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|found| found == kind))
    };
    let internal = value["dependencies"]
        .as_array()?
        .iter()
        // Only a path dependency is one of ours.
        .filter(|dependency| dependency["path"].is_string())
        .map(|dependency| {
            let kind = match dependency["kind"].as_str() {
                None => Kind::Normal,
                Some("build") => Kind::Build,
                Some(_) => Kind::Dev,
            };
            Some(Internal { name: dependency["name"].as_str()?.to_owned(), kind })
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Package {
        name: value["name"].as_str()?.to_owned(),
        has_lib: targets
            .iter()
            .any(|target| ["lib", "rlib", "proc-macro"].iter().any(|kind| is(target, kind))),
        internal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_kinds_targets_and_only_path_dependencies() {
        let text = r#"{"packages":[{"name":"a","targets":[{"kind":["lib"],"name":"a"},{"kind":["bin"],"name":"tool"}],
            "dependencies":[{"name":"b","kind":null,"path":"/b"},{"name":"c","kind":"build","path":"/c"},
            {"name":"d","kind":"dev","path":"/d"},{"name":"serde","kind":null}]}]}"#;
        let packages = parse(text).expect("the fixture is well formed");
        assert_eq!(packages.len(), 1);
        assert!(packages[0].has_lib);
        let internal: Vec<_> =
            packages[0].internal.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        assert_eq!(internal, [("b", Kind::Normal), ("c", Kind::Build), ("d", Kind::Dev)]);
    }

    #[test]
    fn something_else_is_refused() {
        assert!(parse("{}").is_none());
        assert!(parse("not json").is_none());
    }
}
