//! The table of cases names tests that exist.

use std::path::Path;

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("conformance/CASES.md")).expect("the table");
    let mut named = 0;
    for place in table.split('`').skip(1).step_by(2) {
        // Only full places; a test's bare name in a remark is not one.
        let Some((file, test)) = place.split_once(".rs::") else { continue };
        if !file.contains('/') {
            continue;
        }
        let source = std::fs::read_to_string(root.join(format!("{file}.rs")))
            .unwrap_or_else(|error| panic!("{file}.rs, which the table names: {error}"));
        let test = test.rsplit("::").next().unwrap_or(test);
        assert!(source.contains(&format!("fn {test}")), "no `{test}` in {file}.rs");
        named += 1;
    }
    assert!(named > 100, "only {named} tests were found in the table");
}
