//! Counts with their noun.

/// `1 sequence`, `2 sequences`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
