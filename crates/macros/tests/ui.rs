//! What does not compile, and what the compiler says then: where the mistake is, and what to write.

#[test]
fn misuse_is_refused_where_it_stands() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
