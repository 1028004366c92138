//! The fields of an entry as a JSON object.

use serde_json::{Map, Value};

use super::csl::name;
use crate::entry::Entry;
use crate::entry::field::Field;

/// Every field that is known, under its own name, and parts with unknown labels under theirs.
pub fn fields(entry: &Entry) -> Value {
    let mut fields = Map::new();
    for field in [Field::Author, Field::Editor, Field::Translator] {
        let people = entry.people(field);
        if !people.names.is_empty() {
            let names = people.names.iter().map(name).collect();
            fields.insert(field.name().to_string(), Value::Array(names));
        }
        if people.others {
            fields.insert(format!("more_{}s", field.name()), true.into());
        }
    }
    let date = entry.date;
    let numbers = [
        (Field::Year, date.year),
        (Field::Month, date.month.map(u16::from)),
        (Field::Day, date.day.map(u16::from)),
    ];
    for (field, number) in numbers {
        fields.extend(number.map(|number| (field.name().to_string(), number.into())));
    }
    let words = [
        ("year_letter", date.letter.map(|letter| letter.to_string())),
        ("season", date.season.map(|season| season.name().to_string())),
        ("original_year", entry.original.map(|year| year.to_string())),
        ("accessed", entry.accessed.in_numbers()),
    ];
    for (name, text) in words {
        fields.extend(text.map(|text| (name.to_string(), text.into())));
    }
    for (field, text) in &entry.texts {
        fields.insert(field.name().to_string(), text.as_str().into());
    }
    for (name, text) in &entry.other {
        fields.insert(name.clone(), text.as_str().into());
    }
    Value::Object(fields)
}
