//! Files of sequences.

use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::labels::{Scheme, States, leaf_segments, segments};

use crate::{Verdict, refused};

/// A column file: rows, columns, labels in each scheme.
pub fn columns(bytes: &[u8]) -> Verdict {
    let comments = bytes.len().is_multiple_of(2).then_some('#');
    let sequences = match read(bytes, Format::Columns, comments) {
        Ok(sequences) => sequences,
        Err(verdict) => return verdict,
    };
    let mut labels: Vec<Vec<&str>> = Vec::new();
    for sequence in &sequences {
        let last = sequence.columns(0) - 1;
        for t in 0..sequence.len() {
            assert_eq!(sequence.columns(t), last + 1);
            assert_eq!(sequence.cell(t, last + 1), None);
            assert!(!sequence.row(t).contains('\n'));
        }
        labels.push((0..sequence.len()).filter_map(|t| sequence.cell(t, last)).collect());
    }
    let recognised = Scheme::recognise(&labels);
    for scheme in [recognised].into_iter().chain(Scheme::ALL) {
        use_labels(scheme, &labels);
    }
    Verdict::Accepted
}

/// An attribute file: labels, names, values.
pub fn attributes(bytes: &[u8]) -> Verdict {
    let sequences = match read(bytes, Format::Attributes, None) {
        Ok(sequences) => sequences,
        Err(verdict) => return verdict,
    };
    for sequence in &sequences {
        for t in 0..sequence.len() {
            let _label = sequence.attribute_label(t);
            for attribute in sequence.attributes(t) {
                match attribute {
                    Ok((name, value)) => assert!(!name.is_empty() && value.is_finite()),
                    Err(error) => return refused(error),
                }
            }
        }
    }
    Verdict::Accepted
}

fn read(bytes: &[u8], format: Format, comments: Option<char>) -> Result<Vec<Sequence>, Verdict> {
    let sequences = Sequences::new(bytes, "input", format).comments(comments);
    sequences.collect::<Result<_, _>>().map_err(refused)
}

/// What is learned from labels must be able to write them.
fn use_labels(scheme: Scheme, labels: &[Vec<&str>]) {
    for sequence in labels {
        let own = segments(scheme, sequence);
        assert!(leaf_segments(scheme, sequence).len() <= own.len());
    }
    match States::learn(scheme, labels) {
        Ok(states) => {
            for sequence in labels {
                match states.encode(sequence) {
                    Ok(path) => assert_eq!(path.len(), sequence.len()),
                    Err(error) => drop(refused(error)),
                }
            }
        }
        Err(error) => drop(refused(error)),
    }
}
