//! Model files as text.
//!
//! A change of one byte hardly ever leaves a model file whole: lengths and a checksum guard it. So
//! the inputs of targets that look behind these are JSON,
//! `{"metadata": …, "tensors": {"weights": ["f64", [0.5, null]]}}`, with `null` for NaN and
//! `"-inf"` for −∞. What is made of it has the right lengths and checksum.

use bethe_learn::archive::{Archive, Element};
use serde_json::{Map, Value, json};

/// The tensor that [`Archive`] adds itself.
const CHECKSUM: &str = "checksum";

/// The archive of a text; `None` if it is not of that form.
pub fn archive(text: &[u8]) -> Option<Archive> {
    let stored: Value = serde_json::from_slice(text).ok()?;
    let mut archive = Archive::new(stored.get("metadata")?);
    for (name, tensor) in stored.get("tensors")?.as_object()? {
        let values = tensor.get(1)?.as_array()?;
        if name == CHECKSUM {
            return None;
        }
        match tensor.get(0)?.as_str()? {
            "f64" => insert(&mut archive, name, values, float)?,
            "f32" => insert(&mut archive, name, values, |value| Some(float(value)? as f32))?,
            "u64" => insert(&mut archive, name, values, Value::as_u64)?,
            "u32" => insert(&mut archive, name, values, |value| whole(value).map(|n| n as u32))?,
            "u16" => insert(&mut archive, name, values, |value| whole(value).map(|n| n as u16))?,
            "u8" => insert(&mut archive, name, values, |value| whole(value).map(|n| n as u8))?,
            _ => return None,
        }
    }
    Some(archive)
}

/// The text of an archive.
///
/// # Panics
/// If its metadata are not JSON.
pub fn text(archive: &Archive) -> String {
    let metadata: Value = archive.metadata().expect("metadata of ours");
    let mut tensors = Map::new();
    for name in archive.names() {
        let known = read::<f64>(archive, name, "f64", |value| shown(*value))
            .or_else(|| read::<f32>(archive, name, "f32", |value| shown(f64::from(*value))))
            .or_else(|| read::<u32>(archive, name, "u32", |value| json!(value)))
            .or_else(|| read::<u16>(archive, name, "u16", |value| json!(value)))
            .or_else(|| read::<u8>(archive, name, "u8", |value| json!(value)));
        let (kind, values) = known.expect("a tensor of a model file");
        tensors.insert(name.to_string(), json!([kind, values]));
    }
    json!({"metadata": metadata, "tensors": tensors}).to_string()
}

/// The values of a tensor, if it is of this type.
fn read<E: Element>(
    archive: &Archive,
    name: &str,
    kind: &'static str,
    write: impl Fn(&E) -> Value,
) -> Option<(&'static str, Vec<Value>)> {
    let values: Vec<E> = archive.values(name).ok()?;
    Some((kind, values.iter().map(write).collect()))
}

fn insert<E: Element>(
    archive: &mut Archive,
    name: &str,
    values: &[Value],
    read: impl Fn(&Value) -> Option<E>,
) -> Option<()> {
    let values: Vec<E> = values.iter().map(read).collect::<Option<_>>()?;
    archive.insert(name, &[values.len()], &values);
    Some(())
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::String(text) => text.parse().ok(),
        number => number.as_f64(),
    }
}

fn shown(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

fn whole(value: &Value) -> Option<u64> {
    value.as_u64()
}
