//! From the bytes of a file to a line of text.

use std::borrow::Cow;

/// Windows-1252 at bytes 0x80 to 0x9f; five of them are undefined.
const WINDOWS: [char; 32] = [
    '€', ' ', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', ' ', 'Ž', ' ', ' ', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', ' ', 'ž', 'Ÿ',
];

/// The text of a line. Bytes that are not UTF-8 are read as Windows-1252, the usual encoding of old
/// files of references. The second value says whether there were any.
pub fn decoded(line: &[u8]) -> (Cow<'_, str>, bool) {
    if let Ok(text) = std::str::from_utf8(line) {
        return (Cow::Borrowed(text), false);
    }
    let mut text = String::with_capacity(line.len() + 8);
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|&byte| match byte {
            0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
            _ => char::from(byte),
        }));
    }
    (Cow::Owned(text), true)
}

/// The text without invisible characters. Control characters become spaces; direction marks, byte
/// order marks, soft hyphens and zero-width spaces are removed; white space is trimmed.
pub fn clean(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !text.contains(|c: char| c != '\t' && (c.is_control() || is_invisible(c))) {
        return Cow::Borrowed(text);
    }
    let visible = text.chars().filter(|&c| !is_invisible(c));
    let cleaned: String = visible.map(|c| if c.is_control() { ' ' } else { c }).collect();
    Cow::Owned(cleaned.trim().to_string())
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// Whether a character is neither white space nor part of a word. Combining marks, letters without
/// case, numerals of any script and joiners are parts of words.
pub fn is_punctuation(c: char) -> bool {
    match c {
        '_' => false,
        _ if c.is_ascii() => c.is_ascii_punctuation(),
        'ª' | 'º' | '²' | '³' | '¹' | '¼'..='¾' => false,
        '\u{a1}'..='\u{bf}' | '×' | '÷' => true,
        '\u{2c2}'..='\u{2df}' => !c.is_alphanumeric(),
        '\u{589}' | '\u{58a}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{5f3}' | '\u{5f4}' => true,
        '\u{60c}' | '\u{60d}' | '\u{61b}' | '\u{61e}' | '\u{61f}' | '\u{66a}'..='\u{66d}' => true,
        '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{e4f}' | '\u{104a}' | '\u{104b}' => true,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20cf}' => true,
        '\u{2100}'..='\u{2bff}' => !c.is_alphanumeric() || c == '№',
        '\u{2e00}'..='\u{2e7f}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3020}' => true,
        '\u{3030}' | '\u{30fb}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe6f}' => true,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' => true,
        '\u{ff5b}'..='\u{ff65}' | '\u{fffd}' => true,
        _ => false,
    }
}

/// Whether a character is some dash.
pub fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf8_are_read_as_windows_1252() {
        assert_eq!(decoded("Erdős".as_bytes()), ("Erdős".into(), false));
        let (text, replaced) = decoded(b"M\xfcller, 12\x9617, \xe2\x82");
        assert_eq!((text.as_ref(), replaced), ("Müller, 12–17, â‚", true));
    }

    #[test]
    fn nothing_invisible_is_left() {
        assert_eq!(clean("  a\u{0}b\u{200b}c\u{feff}\tde\u{ad}f\r\n"), "a bc def");
        assert_eq!(clean("plain\ttext"), "plain\ttext");
        assert_eq!(clean("\u{1}\u{200b}"), "");
    }

    #[test]
    fn words_keep_their_marks() {
        assert!("e\u{301}_हिन्दीمُحَمَّد王ß²".chars().all(|c| !is_punctuation(c)));
        assert!("-–—“”«»，。：；、《》،؟№|†".chars().all(is_punctuation));
    }
}
