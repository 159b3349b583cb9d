//! What the tests share.

/// Whether the environment variable is set to something other than `0`.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value != "0" && !value.is_empty())
}
