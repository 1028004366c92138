//! Which columns of a file are observed, and which has the labels.

use super::super::data::Sequence;
use super::super::features::Template;
use super::super::input::Input;
use super::settings::TrainSettings;
use super::{Event, TrainError};

/// Where attributes and labels are in a column file.
pub(super) fn columns(
    sequences: &[Sequence],
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Input, TrainError> {
    let first = sequences.first().ok_or(TrainError::NoData)?;
    let columns = first.columns(0);
    let path = || first.path().display().to_string();
    let outside = |found: usize| TrainError::Column { path: path(), found, columns };
    let label = match settings.column {
        Some(column) if column == 0 || column > columns => return Err(outside(column)),
        Some(column) => column - 1,
        None => columns - 1,
    };
    if columns < 2 && settings.template.is_none() {
        return Err(TrainError::NoColumns { path: path(), line: first.line(0) });
    }
    let observed = match (&settings.observe, &settings.template) {
        (Some(told), _) => {
            let place = |&column: &usize| match column {
                0 => Err(outside(column)),
                column if column > columns => Err(outside(column)),
                column if column - 1 == label => Err(TrainError::ObservedLabel { column }),
                column => Ok(column - 1),
            };
            told.iter().map(place).collect::<Result<_, _>>()?
        }
        (None, Some(_)) => (0..columns).collect(),
        (None, None) => {
            let others = (0..columns).filter(|&column| column != label);
            let (kept, dropped): (Vec<usize>, Vec<usize>) =
                others.partition(|&column| column == 0 || !gives_away(sequences, column, label));
            for column in dropped {
                observe(Event::Warning(format!(
                    "column {} seems to repeat the labels and is not observed; choose columns with \
                     --observe",
                    column + 1
                )));
            }
            kept
        }
    };
    if settings.template.is_none() && observed.len() > Template::MOST_COLUMNS {
        let (found, most) = (observed.len(), Template::MOST_COLUMNS);
        return Err(TrainError::TooManyColumns { path: path(), found, most });
    }
    Ok(Input::Columns { columns, label, observed })
}

/// Whether a column repeats the labels nearly everywhere, ignoring prefixes and paths.
fn gives_away(sequences: &[Sequence], column: usize, label: usize) -> bool {
    let name = |text: &str| {
        let last = text.rsplit([':', '/']).next().unwrap_or(text);
        let bare = ["B-", "I-", "E-", "S-", "L-", "U-"]
            .iter()
            .find_map(|prefix| last.strip_prefix(prefix));
        bare.unwrap_or(last).to_string()
    };
    let (mut tokens, mut same) = (0, 0);
    for sequence in sequences {
        for t in 0..sequence.len() {
            let (value, label) = (sequence.cell(t, column), sequence.cell(t, label));
            tokens += 1;
            same += usize::from(value.map(name) == label.map(name));
        }
    }
    same * 10 > tokens * 9
}

pub(super) fn check_template(template: &Template, input: &Input) -> Result<(), TrainError> {
    let Input::Columns { columns, label, observed } = input else { return Ok(()) };
    match template.highest_column() {
        Some(column) if column >= observed.len() => {
            Err(TrainError::TemplateColumn { column, columns: observed.len() })
        }
        Some(_) if template.columns().any(|column| observed[column] == *label) => {
            Err(TrainError::TemplateReadsLabel { column: *label, columns: *columns })
        }
        _ => Ok(()),
    }
}
