//! A reader of BibTeX, as strict as the program itself: braces are counted whatever stands before
//! them.

use std::collections::BTreeMap;

/// An entry as it stands in a file.
#[derive(Debug, PartialEq)]
pub struct Read {
    pub kind: String,
    pub key: String,
    pub fields: BTreeMap<String, String>,
}

/// The entries of a file; text between them is passed over.
pub fn read(file: &str) -> Result<Vec<Read>, String> {
    let mut entries = Vec::new();
    let mut rest = file;
    while let Some(at) = rest.find('@') {
        let (entry, after) = entry(&rest[at + 1..])?;
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

fn entry(text: &str) -> Result<(Read, &str), String> {
    let (kind, rest) = text.split_once('{').ok_or("no brace behind the kind")?;
    let (key, mut rest) = rest.split_once(',').ok_or("no comma behind the key")?;
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(format!("the key {key:?}"));
    }
    let mut fields = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Ok((Read { kind: kind.to_string(), key: key.to_string(), fields }, after));
        }
        let (name, after) = rest.split_once('=').ok_or_else(|| format!("no field in {rest:?}"))?;
        let name = name.trim();
        let (value, after) = value(after.trim_start())?;
        if !name.bytes().all(|b| b.is_ascii_lowercase()) || name.is_empty() {
            return Err(format!("the field name {name:?}"));
        }
        if fields.insert(name.to_string(), value).is_some() {
            return Err(format!("{name} twice"));
        }
        rest = after.trim_start().strip_prefix(',').ok_or("no comma behind a field")?;
    }
}

/// A value in braces, without the outer ones, or a macro.
fn value(text: &str) -> Result<(String, &str), String> {
    let Some(inner) = text.strip_prefix('{') else {
        let end = text.find(|c: char| !c.is_ascii_lowercase()).ok_or("an endless macro")?;
        return Ok((text[..end].to_string(), &text[end..]));
    };
    let mut depth = 1;
    for (at, c) in inner.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return Ok((inner[..at].to_string(), &inner[at + 1..]));
        }
    }
    Err("braces do not balance".to_string())
}

/// What LaTeX prints for a value without commands of its own.
pub fn printed(value: &str) -> String {
    let mut text = value.to_string();
    for (command, character) in [
        ("\\textbackslash{}", "\u{1}"),
        ("\\textbraceleft{}", "\u{2}"),
        ("\\textbraceright{}", "\u{3}"),
        ("\\textasciitilde{}", "~"),
        ("\\textasciicircum{}", "^"),
    ] {
        text = text.replace(command, character);
    }
    text = text.replace(['{', '}'], "");
    for special in ["&", "%", "#", "_", "$"] {
        text = text.replace(&format!("\\{special}"), special);
    }
    text.replace('\u{1}', "\\").replace('\u{2}', "{").replace('\u{3}', "}")
}
