//! `bethe help`, `completions` and `man`.

mod common;

use common::Folder;

#[test]
fn help_lists_commands_and_guides_and_shows_either() {
    let folder = Folder::new();
    let list = folder.succeeds(&["help"]);
    for topic in ["solve", "cite", "noisy-tables", "exit-codes"] {
        assert!(list.contains(&format!("  {topic} ")), "{topic} in {list}");
        assert!(folder.succeeds(&["help", topic]).len() > 500, "{topic}");
    }
    assert!(folder.succeeds(&["help", "solve"]).contains("--time-limit"));
    assert!(folder.succeeds(&["help", "tagging"]).starts_with("# "));
    let message = folder.refusal(&["help", "tagger"]);
    assert!(message.starts_with("help: found \"tagger\", expected one of solve, "), "{message}");
    assert!(message.contains("noisy-tables"), "{message}");
}

#[test]
fn every_shell_gets_completions_of_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = folder.succeeds(&["completions", shell]);
        for word in ["solve", "flows", "time-limit"] {
            assert!(text.contains(word), "{word} for {shell}");
        }
    }
    folder.succeeds(&["completions", "fish", "-o", "bethe.fish"]);
    assert_eq!(folder.read("bethe.fish"), folder.succeeds(&["completions", "fish"]));
}

#[test]
fn manual_pages_are_roff() {
    let folder = Folder::new();
    assert!(folder.succeeds(&["man"]).contains(".TH bethe 1"));
    let page = folder.succeeds(&["man", "solve"]);
    let title = format!(".TH bethe-solve 1  \"bethe {}\"", env!("CARGO_PKG_VERSION"));
    assert!(page.contains(&title) && page.contains("time\\-limit"), "{page}");
    let message = folder.refusal(&["man", "noisy-tables"]);
    assert!(
        message.starts_with("man: found \"noisy-tables\", expected one of solve, "),
        "{message}"
    );
}
