//! A guide on a terminal: Markdown as our docs use it, laid out to be read.
//!
//! Paragraphs and list items are wrapped, links show their text, headings stand out. Code and tables
//! stay as they are.

use crate::wrap::wrapped;

/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// Before code.
const INDENT: &str = "    ";
const FENCE: &str = "```";

/// The page for a terminal of this width.
pub fn rendered(markdown: &str, width: usize, is_coloured: bool) -> String {
    let width = width.min(WIDEST);
    let mut page = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        let block = match Block::of(line) {
            Block::Fence => {
                let code =
                    lines.by_ref().take_while(|line| !matches!(Block::of(line), Block::Fence));
                code.map(|line| format!("{INDENT}{line}").trim_end().to_string())
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Block::Heading => heading(line, is_coloured),
            Block::Table => without_links(line),
            Block::Blank | Block::Code => line.to_string(),
            Block::Item | Block::Text => {
                let mut text = line.trim_start().to_string();
                while let Some(next) = lines.next_if(|line| matches!(Block::of(line), Block::Text))
                {
                    text.push(' ');
                    text.push_str(next.trim_start());
                }
                paragraph(line.len() - line.trim_start().len(), &text, width)
            }
        };
        page.push_str(&block);
        page.push('\n');
    }
    page
}

/// What a line begins, or is.
enum Block {
    Blank,
    Heading,
    Fence,
    Code,
    Table,
    Item,
    Text,
}

impl Block {
    fn of(line: &str) -> Self {
        let text = line.trim_start();
        match text.chars().next() {
            None => Self::Blank,
            _ if text.starts_with(FENCE) => Self::Fence,
            _ if line.starts_with(INDENT) => Self::Code,
            Some('#') => Self::Heading,
            Some('|') => Self::Table,
            _ if marker(text) > 0 => Self::Item,
            _ => Self::Text,
        }
    }
}

/// The length of what begins an item of a list: `- ` or `1. `; 0 for other text.
fn marker(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.starts_with("- ") {
        true => 2,
        false if digits > 0 && text[digits..].starts_with(". ") => digits + 2,
        false => 0,
    }
}

/// A heading in bold, or underlined where there is no bold.
fn heading(line: &str, is_coloured: bool) -> String {
    let text = without_links(line.trim_start_matches('#').trim());
    match is_coloured {
        true => format!("\x1b[1m{text}\x1b[0m"),
        false => format!("{text}\n{}", "─".repeat(text.chars().count())),
    }
}

/// A paragraph in lines that fit; those of an item are below its first word.
fn paragraph(indent: usize, text: &str, width: usize) -> String {
    let marker = &text[..marker(text)];
    let hanging = " ".repeat(indent + marker.len());
    let text = without_links(&text[marker.len()..]);
    let lines = wrapped(text.split_whitespace(), (&hanging, ""), width);
    format!("{}{marker}{}", &hanging[..indent], &lines[hanging.len()..])
}

/// The text with links and pictures by their own text only.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (Some(open), Some(close)) = (before.rfind('['), after.find(')')) else { break };
        let start = &before[..open];
        plain.push_str(start.strip_suffix('!').unwrap_or(start));
        plain.push_str(&before[open + 1..]);
        rest = &after[close + 1..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# How do I [solve](../solve.md) it?\n\nA paragraph that goes on\nover `two` lines, \
        see [the reference](../reference/flows.md#input-files).\n\n```sh\nbethe solve a.json --a-very-long-flag\n\n# end\n```\n\
        \n| a | [b](c.md) |\n| --- | --- |\n\n- An item that is longer\n  than a line.\n- Two.\n\n    code as it is\n";

    #[test]
    fn paragraphs_fit_and_links_show_their_text() {
        let expected = "How do I solve it?\n──────────────────\n\nA paragraph that goes on\nover `two` lines, \
            see the\nreference.\n\n    bethe solve a.json --a-very-long-flag\n\n    # end\n\
            \n| a | b |\n| --- | --- |\n\n- An item that is longer\n  than a line.\n- Two.\n\n    code as it is\n";
        assert_eq!(rendered(PAGE, 26, false), expected);
        let bold = rendered(PAGE, 26, true);
        assert!(bold.starts_with("\x1b[1mHow do I solve it?\x1b[0m\n\n"), "{bold}");
    }

    #[test]
    fn lines_are_no_longer_than_people_read() {
        let page = rendered(&"word ".repeat(100), 300, false);
        assert!(page.lines().all(|line| line.len() <= WIDEST));
        assert_eq!(page.matches("word").count(), 100);
    }
}
