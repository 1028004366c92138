//! References: the built-in template and cue words.

use bethe_cite::{lexicons, template};

#[test]
fn the_built_in_cue_words_serve_the_built_in_template() {
    let none: [&str; 0] = [];
    let lexicons = lexicons(&none).unwrap();
    assert_eq!(template().unserved(&lexicons), None);
    assert!(lexicons.lists().any(|(name, entries)| {
        name == "cue-editor" && entries.iter().any(|entry| entry == "eds")
    }));
}
