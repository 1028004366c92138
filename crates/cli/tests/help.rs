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
    let message = folder.refusal(&["help", "xyz"]);
    assert!(message.starts_with("help: found \"xyz\", expected one of solve, "), "{message}");
    assert!(message.contains("noisy-tables") && !message.contains("mean"), "{message}");
}

#[test]
fn topics_are_found_in_any_case_and_near_names_are_suggested() {
    let folder = Folder::new();
    for (given, topic) in
        [("Solve", "solve"), ("noisy tables", "noisy-tables"), ("Exit_Codes", "exit-codes")]
    {
        assert_eq!(folder.succeeds(&["help", given]), folder.succeeds(&["help", topic]));
    }
    for (given, meant) in [("taging", "tagging"), ("Solv", "solve"), ("exit code", "exit-codes")] {
        let message = folder.refusal(&["help", given]);
        let expected = format!(". Did you mean `bethe help {meant}`?");
        assert!(message.ends_with(&expected), "{message}");
    }
    let message = folder.refusal(&["man", "sovle"]);
    assert!(message.ends_with(". Did you mean `bethe man solve`?"), "{message}");
}

#[test]
fn guides_are_markdown_in_a_pipe() {
    let page = Folder::new().succeeds(&["help", "movement"]);
    assert!(page.starts_with("# ") && page.contains("](../reference/flows.md"), "{page}");
    assert!(!page.contains('\x1b'));
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
