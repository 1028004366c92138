//! From JSON text to raw types, and from serde's errors to ours.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::raw::{Object, Shape};
use super::{JsonPath, ProblemFileError};

/// serde_json's message for a number such as 1e999.
const OUT_OF_RANGE: &str = "number out of range";

/// Reads one object, which messages call `whole`. Places are tracked only after something is known
/// to be wrong.
pub(super) fn parse<T: DeserializeOwned + Shape>(
    json: &[u8],
    whole: &'static str,
) -> Result<T, ProblemFileError> {
    if json.trim_ascii().is_empty() {
        return Err(ProblemFileError::Empty { expected: whole });
    }
    if let Ok(Object(raw)) = serde_json::from_slice(json) {
        return Ok(raw);
    }
    let mut source = serde_json::Deserializer::from_slice(json);
    let with_place = serde_path_to_error::deserialize::<_, Object<T>>(&mut source);
    match with_place {
        Ok(Object(raw)) => match source.end() {
            Ok(()) => Ok(raw),
            Err(error) => Err(syntax(&error, json)),
        },
        Err(error) => Err(match error.inner().classify() {
            Category::Data => data(error.path(), &message(error.inner())),
            _ if message(error.inner()) == OUT_OF_RANGE => ProblemFileError::Type {
                place: place(error.path()),
                found: "a number out of range".to_string(),
                expected: "a finite number".to_string(),
            },
            _ => syntax(error.inner(), json),
        }),
    }
}

/// serde_json's message without the line and column it appends.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

fn place(path: &serde_path_to_error::Path) -> JsonPath {
    let whole = path.to_string();
    JsonPath(if whole == "." { String::new() } else { whole })
}

fn data(path: &serde_path_to_error::Path, message: &str) -> ProblemFileError {
    let place = place(path);
    if let Some((_, rest)) = message.split_once("unknown field `")
        && let Some((field, expected)) = rest.split_once('`')
    {
        // The path ends in the unknown field itself; its object is the better place.
        let object = place
            .0
            .strip_suffix(field)
            .map_or(place.0.as_str(), |p| p.strip_suffix('.').unwrap_or(p));
        let expected = expected.trim_start_matches(", expected ").replace('`', "");
        return ProblemFileError::UnknownField {
            place: JsonPath(object.to_string()),
            field: field.to_string(),
            expected,
        };
    }
    let quoted = |prefix: &str| {
        message.strip_prefix(prefix).map(|rest| rest.trim_end_matches('`').to_string())
    };
    if let Some(field) = quoted("missing field `") {
        return ProblemFileError::MissingField { place, field };
    }
    if let Some(field) = quoted("duplicate field `") {
        let object = place
            .0
            .strip_suffix(&field)
            .map_or(place.0.as_str(), |p| p.strip_suffix('.').unwrap_or(p));
        return ProblemFileError::RepeatedField { place: JsonPath(object.to_string()), field };
    }
    let typed = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    let (found, expected) = match typed.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => (plain_found(found), plain_expected(expected).to_string()),
        None => (message.to_string(), "something else".to_string()),
    };
    ProblemFileError::Type { place, found, expected }
}

/// What serde calls a value, in the words of JSON.
fn plain_found(found: &str) -> String {
    match found {
        "map" => "an object".to_string(),
        "sequence" => "a list".to_string(),
        _ => {
            let value = ["integer ", "floating point ", "boolean ", "string ", "number "]
                .iter()
                .find_map(|kind| found.strip_prefix(kind));
            value.unwrap_or(found).trim_matches('`').to_string()
        }
    }
}

fn plain_expected(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "f64" => "a number",
        other => other,
    }
}

fn syntax(error: &serde_json::Error, json: &[u8]) -> ProblemFileError {
    let (mut line, mut column) = (error.line(), error.column());
    if column == 0 && line > 1 {
        // The text ended in a line break; a person sees the line before it.
        line -= 1;
        column = json.split(|&b| b == b'\n').nth(line - 1).map_or(0, <[u8]>::len) + 1;
    }
    let text = message(error);
    let here = character_at(json, line, column);
    let (found, expected) = match text.as_str() {
        "EOF while parsing a value" => ("the end of the text".into(), "a value".into()),
        "EOF while parsing a list" => ("the end of the text in a list".into(), "`]`".into()),
        "EOF while parsing an object" => ("the end of the text in an object".into(), "`}`".into()),
        "EOF while parsing a string" => ("the end of the text in a string".into(), "`\"`".into()),
        "trailing comma" => (format!("{here} after a comma"), "a value".into()),
        "trailing characters" => (here, "nothing after the end of the object".into()),
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            ("a control character in a string".into(), "an escape such as \\n".into())
        }
        "key must be a string" => (here, "a key in double quotes".into()),
        "invalid number" => (here, "a number".into()),
        other => match other.strip_prefix("expected ") {
            Some("value") => (here, "a value".into()),
            Some("ident") => (here, "true, false or null".into()),
            Some(expected) => (here, expected.to_string()),
            None => (other.to_string(), "JSON".into()),
        },
    };
    ProblemFileError::Syntax { line, column, found, expected }
}

/// The character that ends at a byte column, in backticks.
fn character_at(json: &[u8], line: usize, column: usize) -> String {
    let text = json.split(|&b| b == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let rest = text.get(column.saturating_sub(1)..).unwrap_or_default();
    let first = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next();
    first.map_or("the end of the line".to_string(), |c| format!("`{c}`"))
}
