//! Labels that mark segments in a way that is not read: `B_x`, `x-B`, `b-x`, `M-x`.

use super::tag::{OUTSIDE, prefixed};

/// What may stand between a letter and a name.
const SEPARATORS: [char; 5] = ['-', '_', '.', '/', ':'];

/// Labels in a notation of their own, of which each is read as a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherNotation {
    /// One of them, which begins a segment.
    label: String,
    /// The name in it.
    name: String,
}

impl OtherNotation {
    /// The notation of these labels, if all but `O` have a letter that says where in a segment they
    /// are, and some of them in another place or form than [`Scheme`](super::Scheme)s have it.
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut begin = None;
        for label in labels.into_iter().filter(|label| !label.eq_ignore_ascii_case(OUTSIDE)) {
            match (prefixed(label), marked(label)) {
                (Some(_), _) => {}
                (None, Some((letter, name))) => {
                    let other = || Self { label: label.to_string(), name: name.to_string() };
                    match (&begin, letter) {
                        (None, _) => begin = Some((letter, other())),
                        (Some((before, _)), 'B') if *before != 'B' => begin = Some(('B', other())),
                        _ => {}
                    }
                }
                (None, None) => return None,
            }
        }
        begin.map(|(_, other)| other)
    }
}

/// What to do about it.
impl std::fmt::Display for OtherNotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { label, name } = self;
        write!(
            f,
            "the label {label:?} is read as a name, not as a part of a segment; if labels say where \
             segments begin, write them as B-{name}, I-{name} and O"
        )
    }
}

/// The letter and the name of a label, in whichever order and case.
fn marked(label: &str) -> Option<(char, &str)> {
    let before = label.split_once(SEPARATORS);
    let after = label.rsplit_once(SEPARATORS).map(|(name, letter)| (letter, name));
    [before, after].into_iter().flatten().find_map(|(letter, name)| {
        let mut letters = letter.chars();
        let only = letters.next().filter(|_| letters.next().is_none() && !name.is_empty())?;
        let only = only.to_ascii_uppercase();
        "BIESLUMW".contains(only).then_some((only, name))
    })
}

#[cfg(test)]
mod tests {
    use super::OtherNotation;

    fn found(labels: &str) -> Option<String> {
        OtherNotation::of(labels.split(' ')).map(|other| other.label + " " + &other.name)
    }

    #[test]
    fn labels_in_another_notation_are_known() {
        for (labels, expected) in [
            ("O B_LOC I_LOC", Some("B_LOC LOC")),
            ("I_LOC O B_PER", Some("B_PER PER")),
            ("PER-B PER-I O", Some("PER-B PER")),
            ("o i-loc b-loc", Some("b-loc loc")),
            ("B-x M-x E-x S-x O", Some("M-x x")),
            ("B-x I-x O", None),
            ("B-x L-x U-x O", None),
            ("NN VB-x B_y", None),
            ("author title", None),
            ("O", None),
            ("B-", None),
        ] {
            assert_eq!(found(labels).as_deref(), expected, "{labels}");
        }
    }
}
