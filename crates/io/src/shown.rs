//! Text from others, before it is shown.
//!
//! Labels, names and paths come from files. A terminal obeys some characters in them: it moves the
//! cursor, changes its title, writes backwards. A message that repeats megabytes of its input says
//! nothing. Everything that reaches a terminal goes through [`shown`], which cuts it ([`brief`]), or
//! [`shown_lines`]; everything in markup goes through [`in_markup`], and JSON in a page
//! through [`in_script`]. Data (tagged text, CSV, JSON, BibTeX) is never changed by these; names in
//! CSV files that people open in a spreadsheet go through [`as_text`], if they ask for it.

use std::borrow::Cow;
use std::fmt::Write;

/// A message or name that is cut keeps this many bytes before the cut: it begins with a file and a
/// place.
const BEFORE_CUT: usize = 1200;
/// And this many after it: it ends with what was expected.
const AFTER_CUT: usize = 600;

/// Text for one line of a terminal or of a message: characters that a terminal obeys are written as
/// escapes, a line break as `\n`, the escape character as `\u{1b}`. The middle of a long text is left
/// out.
pub fn shown(text: &str) -> Cow<'_, str> {
    match brief(text) {
        Cow::Borrowed(text) => escaped(text, is_obeyed),
        Cow::Owned(text) => Cow::Owned(escaped(&text, is_obeyed).into_owned()),
    }
}

/// A text without its middle, if it is longer than people read.
pub fn brief(text: &str) -> Cow<'_, str> {
    if text.len() <= BEFORE_CUT + AFTER_CUT {
        return Cow::Borrowed(text);
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=BEFORE_CUT).rev().find(is_boundary).unwrap_or(0);
    let end = (text.len() - AFTER_CUT..=text.len()).find(is_boundary).unwrap_or(text.len());
    let left_out = text[start..end].chars().count();
    Cow::Owned(format!("{} … ({left_out} characters) … {}", &text[..start], &text[end..]))
}

/// The same for several lines: line breaks stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_obeyed(c))
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => plain.push(c),
            '\n' => plain.push_str("\\n"),
            '\r' => plain.push_str("\\r"),
            '\t' => plain.push_str("\\t"),
            c => drop(write!(plain, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(plain)
}

/// Whether a terminal does something else with it than draw it: control characters (C0, DEL, C1),
/// line and paragraph separators, and what turns the direction of the text around it.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text that may stand in XML or HTML, between tags or in quotation marks. Characters that XML 1.0
/// does not allow become U+FFFD.
pub fn in_markup(text: &str) -> String {
    let mut markup = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '"' => markup.push_str("&quot;"),
            '\'' => markup.push_str("&#39;"),
            '\t' | '\n' | '\r' => markup.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => markup.push('\u{fffd}'),
            c => markup.push(c),
        }
    }
    markup
}

/// JSON that may stand in a `<script>` of a page: no text in it ends the script, or opens a comment
/// that hides its end. It is the same JSON, with some characters as escapes. In JSON they only occur
/// in strings.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A name for a CSV file that a spreadsheet takes for text and not for a formula: with an apostrophe
/// before it if it begins with `=`, `+`, `-`, `@`, a tab or a carriage return. Numbers stay as they
/// are. So that names stay different, one that begins with an apostrophe gets another.
pub fn as_text(name: &str) -> Cow<'_, str> {
    let is_number = name.parse::<f64>().is_ok_and(f64::is_finite);
    match name.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) && !is_number {
        true => Cow::Owned(format!("'{name}")),
        false => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_shown_as_escapes() {
        for (hidden, written) in [
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{7f}\u{9b}0m\0", "\\u{7f}\\u{9b}0m\\u{0}"),
            ("\u{202e}fdp.exe\u{2066}", "\\u{202e}fdp.exe\\u{2066}"),
            ("\u{2028}\u{2029}\u{200f}", "\\u{2028}\\u{2029}\\u{200f}"),
        ] {
            assert_eq!(shown(hidden), written);
            assert_eq!(shown(written), written, "once is enough");
        }
        assert_eq!(shown_lines("a\u{1b}\nb\r\n"), "a\\u{1b}\nb\\r\n");
    }

    #[test]
    fn long_text_is_cut_in_the_middle() {
        let most = BEFORE_CUT + AFTER_CUT;
        let text = "ä".repeat(most / 2);
        assert_eq!(shown(&text), text);
        let text = format!("a.json: found {}, expected a number", "ä\n".repeat(1 << 20));
        let cut = shown(&text);
        assert!(cut.len() < 3 * most, "{} bytes", cut.len());
        assert!(cut.starts_with("a.json: found ä\\nä"), "{cut}");
        assert!(cut.ends_with(", expected a number"), "{cut}");
        assert!(cut.contains(" characters) … "), "{cut}");
    }

    #[test]
    fn all_other_text_stays_as_it_is() {
        for text in ["", "Zürich – 北京 – 👩‍🔬", "C:\\a\\n", "שלום"] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn formulas_become_text_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "'=1", "-inf"] {
            assert_eq!(as_text(formula), format!("'{formula}"));
        }
        for name in ["", "a=1", "-1", "+1", "-1.5e-3", "Zürich"] {
            assert_eq!(as_text(name), name);
        }
    }

    #[test]
    fn markup_has_no_character_that_xml_forbids() {
        assert_eq!(
            in_markup("<a href='x'>&\"\u{0}\u{1b}\u{ffff}\n"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}\u{fffd}\u{fffd}\n"
        );
    }

    #[test]
    fn json_in_a_script_means_the_same_and_has_no_markup() {
        let names = ["<!--<script>", "</script>", "\u{2028}", "a"];
        let json = serde_json::json!(names).to_string();
        let safe = in_script(&json);
        assert!(!safe.contains(['<', '\u{2028}']));
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), names);
    }
}
