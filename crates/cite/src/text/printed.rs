//! From tokens back to a line.

use super::characters::is_punctuation;

/// Tokens as they would be printed: no space before `, . ; : ) ]` and after `( [`, none inside a
/// pair of quotation marks, none around dashes, strokes and apostrophes between words.
pub fn printed<S: AsRef<str>>(tokens: &[S]) -> String {
    let mut line = String::new();
    let mut quoted = false;
    let mut glued = true;
    for (t, token) in tokens.iter().enumerate() {
        let token = token.as_ref();
        let inside = t > 0 && t + 1 < tokens.len() && matches!(token, "-" | "/" | "'" | "’" | "‑");
        let closes_quote = token == "\"" && quoted;
        let glued_before = ends_in_word(&line);
        let closes = matches!(
            token,
            "," | "." | ";" | ":" | ")" | "]" | "?" | "!" | "”" | "»" | "，" | "。" | "：" | "；"
        );
        if !(glued || closes || closes_quote || inside && glued_before) {
            line.push(' ');
        }
        line.push_str(token);
        if token == "\"" {
            quoted = !quoted;
        }
        let opens = matches!(token, "(" | "[" | "“" | "«" | "„") || token == "\"" && quoted;
        glued = opens || inside && glued_before;
    }
    line
}

fn ends_in_word(line: &str) -> bool {
    line.chars().next_back().is_some_and(|c| !is_punctuation(c) && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_printed_as_people_write() {
        let print = |tokens: &str| printed(&tokens.split(' ').collect::<Vec<_>>());
        assert_eq!(print("A . - P , \" a title , \" ( 2004 ) ."), "A. - P, \"a title,\" (2004).");
        assert_eq!(print("Stark ' s , 1 - 2 [3]"), "Stark's, 1-2 [3]");
        assert_eq!(print("a"), "a");
    }
}
