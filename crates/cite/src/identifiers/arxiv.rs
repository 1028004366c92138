//! Numbers at arXiv.

/// The number of a word; one that has no archive in it must be announced.
pub(super) fn arxiv(word: &str, announced: bool) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let marks = ["arxiv:", "arxiv.org/abs/", "arxiv.org/pdf/"];
    let after = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len()));
    let number = &word[after.unwrap_or(0)..];
    let told = after.is_some() || announced;
    let end = old_number(number).or_else(|| new_number(number).filter(|_| told))?;
    let version = number[end..].strip_prefix('v').map_or(0, digits);
    let end = if version > 0 { end + 1 + version } else { end };
    // What goes on is something else.
    (!number[end..].starts_with(char::is_alphanumeric)).then(|| number[..end].to_string())
}

/// Where `hep-th/9711200` ends, at the start of a text.
fn old_number(text: &str) -> Option<usize> {
    let (archive, rest) = text.split_once('/')?;
    (is_archive(archive) && digits(rest) == 7).then_some(archive.len() + 1 + 7)
}

/// Where `0705.1234` ends, at the start of a text.
fn new_number(text: &str) -> Option<usize> {
    let (month, rest) = text.split_once('.')?;
    let is_number = month.len() == 4 && digits(month) == 4 && (4..=5).contains(&digits(rest));
    is_number.then(|| month.len() + 1 + digits(rest))
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Archives of old arXiv numbers, which start with their name.
fn is_archive(name: &str) -> bool {
    const ARCHIVES: &[&str] = &[
        "astro-ph", "cond-mat", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph",
        "nucl-ex", "nucl-th", "quant-ph", "math", "cs", "physics", "q-bio", "nlin", "q-fin",
        "stat", "alg-geom", "chao-dyn", "cmp-lg", "dg-ga", "funct-an", "patt-sol", "q-alg",
        "solv-int",
    ];
    let (archive, class) = name.split_once('.').unwrap_or((name, ""));
    let is_class = class.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    is_class && ARCHIVES.contains(&archive.to_ascii_lowercase().as_str())
}
