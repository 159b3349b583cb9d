//! Hazards that the compiler catches.

#[test]
fn hazards_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
