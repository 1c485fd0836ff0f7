//! What is refused when a kernel is compiled, each with the message that the user reads.
//!
//! A file in `ui` is one mistake, or a few of one kind. `TRYBUILD=overwrite cargo test --test ui` writes the messages;
//! read them: the first line has to name the mistake, at its place in the user's source.

#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
