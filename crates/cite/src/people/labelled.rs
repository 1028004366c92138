//! People whose names are labelled.

use super::list::{people, says_others};
use super::name::{Name, People};
use super::organisation::is_organisation;
use crate::entry::Entry;
use crate::entry::assembly::Labelled;
use crate::entry::field::Field;
use crate::entry::parts::Part;

/// Words of the longest name of an organisation.
const MOST_WORDS: usize = 16;

impl Entry {
    /// Adds the people of a line to their fields.
    pub(crate) fn add_people(&mut self, line: &Labelled, parts: &[Part]) {
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            let same = |next: &&Part| next.people == part.people && is_one_person(part, next);
            let text = line.text_of(&part.tokens);
            let is_first = self.people(part.people).names.is_empty();
            let whole = if is_first { organisation(line, &parts[at..]) } else { None };
            let (list, used) = match part.field {
                _ if let Some(whole) = whole => whole,
                Some(field) if field.is_name_part() => {
                    let run = parts[at..].iter().take_while(same).collect::<Vec<_>>();
                    let count = name_length(&run);
                    (one(name_of(line, &run[..count])), count)
                }
                Some(Field::Institution) if part.group.is_some() => (one(Name::whole(text)), 1),
                Some(field) if field.is_people() && part.between => (between(text), 1),
                Some(field) if field.is_people() || field == Field::Person => (people(text), 1),
                _ => (People::default(), 1),
            };
            match part.people {
                Field::Editor => self.editors.extend(list),
                Field::Translator => self.translators.extend(list),
                _ => self.authors.extend(list),
            }
            at += used;
        }
    }
}

/// What text labelled as between people says: that there are others, or by mistake a name.
fn between(text: &str) -> People {
    let is_name = |name: &Name| {
        let mut letters = name.family.chars().filter(|c| c.is_alphabetic());
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some()
    };
    let mut list = people(text);
    list.names.retain(is_name);
    People { others: says_others(text), ..list }
}

/// Organisations labelled as people, and how many parts belong to them: `Ernst & Young LLP`.
fn organisation(line: &Labelled, parts: &[Part]) -> Option<(People, usize)> {
    let is_own = |next: &&Part| {
        let is_name = next.field.is_some_and(Field::is_name_part);
        let is_between = next.between && next.field.is_some_and(Field::is_people);
        next.people == parts[0].people && (is_name || is_between)
    };
    let count = parts.iter().take_while(is_own).count();
    let tokens = parts[0].tokens.start..parts[..count].last()?.tokens.end;
    // Longer names are not an organisation's.
    if !parts[0].field.is_some_and(Field::is_name_part) || tokens.len() > MOST_WORDS {
        return None;
    }
    let list = Some(line.text_of(&tokens)).filter(|text| is_organisation(text)).map(people)?;
    let is_whole = !list.names.is_empty() && list.names.iter().all(|name| name.is_whole);
    is_whole.then_some((list, count))
}

/// Whether a part is of people or of their names.
pub(crate) fn is_about_people(part: &Part, field: Field) -> bool {
    let institution = field == Field::Institution && part.group.is_some();
    field.is_people() || field == Field::Person || field.is_name_part() || institution
}

/// Whether two parts of names may be of one person.
fn is_one_person(part: &Part, next: &Part) -> bool {
    next.field.is_some_and(Field::is_name_part) && next.person == part.person
}

/// How many parts, from the first on, make one name. A repeated kind of part starts another person,
/// except for first names.
fn name_length(run: &[&Part]) -> usize {
    if run[0].person.is_some() {
        return run.len();
    }
    let has = |upto: usize, field: Field| run[..upto].iter().any(|part| part.field == Some(field));
    let next = (1..run.len()).find(|&at| match run[at].field {
        Some(Field::Last) => has(at, Field::Last),
        Some(Field::First) => has(at, Field::First),
        _ => false,
    });
    next.unwrap_or(run.len())
}

fn name_of(line: &Labelled, run: &[&Part]) -> Option<Name> {
    let text = |wanted: &[Field]| {
        let own = run.iter().filter(|part| part.field.is_some_and(|field| wanted.contains(&field)));
        own.map(|part| line.text_of(&part.tokens)).collect::<Vec<_>>().join(" ")
    };
    let given = text(&[Field::First, Field::Middle]);
    Name::of_parts(&given, &text(&[Field::Last]), &text(&[Field::Suffix]))
}

fn one(name: Option<Name>) -> People {
    People { names: name.into_iter().collect(), others: false }
}
