use crate::labels::{SegmentKind, States, segments};

/// How many segments of each kind a sequence has, and where the first and the last of them begin:
/// all that rules read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrences {
    counts: Vec<u32>,
    /// Where the first and the last segment begin. `[kinds]`
    ends: Vec<Option<(usize, usize)>>,
}

impl Occurrences {
    /// Those of a path of states.
    pub fn of(states: &States, path: &[usize]) -> Self {
        let mut occurrences = Self::none(states);
        for (position, &state) in path.iter().enumerate() {
            states.begins(state).iter().for_each(|&kind| occurrences.begin(kind, position));
        }
        occurrences
    }

    /// Those of labels, some of which may be unknown: segments of names that the model does not
    /// have are of no kind.
    pub fn of_labels(states: &States, labels: &[&str]) -> Self {
        let mut occurrences = Self::none(states);
        for segment in segments(states.scheme(), labels) {
            let is_own =
                |kind: &SegmentKind| kind.level == segment.level && kind.name == segment.name;
            if let Some(kind) = states.kinds().iter().position(is_own) {
                occurrences.begin(kind, segment.start);
            }
        }
        occurrences
    }

    fn none(states: &States) -> Self {
        let kinds = states.kinds().len();
        Self { counts: vec![0; kinds], ends: vec![None; kinds] }
    }

    fn begin(&mut self, kind: usize, position: usize) {
        self.counts[kind] += 1;
        self.ends[kind].get_or_insert((position, position)).1 = position;
    }

    /// How many segments of a kind.
    pub fn count(&self, kind: usize) -> u32 {
        self.counts[kind]
    }

    /// Where the first segment of a kind begins.
    pub fn first(&self, kind: usize) -> Option<usize> {
        self.ends[kind].map(|(first, _)| first)
    }

    /// Where the last segment of a kind begins.
    pub fn last(&self, kind: usize) -> Option<usize> {
        self.ends[kind].map(|(_, last)| last)
    }
}

/// The greatest number of segments of each kind that one of the sequences has.
/// [`Compiled`](super::Compiled) needs it of the training sequences.
pub fn most_segments<P: AsRef<[usize]>>(
    states: &States,
    paths: impl IntoIterator<Item = P>,
) -> Vec<u32> {
    let mut most = vec![0; states.kinds().len()];
    for path in paths {
        let occurrences = Occurrences::of(states, path.as_ref());
        for (most, &count) in most.iter_mut().zip(&occurrences.counts) {
            *most = count.max(*most);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Scheme;

    #[test]
    fn labels_that_are_not_known_leave_the_others_counted() {
        let known = ["B-a:B-x", "I-a:B-x", "I-a", "O", "I-b", "B-b"];
        let states = States::learn(Scheme::Bio, [&known[..]]).unwrap();
        let path = states.encode(&known).unwrap();
        assert_eq!(Occurrences::of_labels(&states, &known), Occurrences::of(&states, &path));
        let further = ["B-a:B-x", "I-a:B-y", "I-a:B-x", "B-c", "I-b", "B-b"];
        let found = Occurrences::of_labels(&states, &further);
        assert_eq!((found.counts.iter().sum::<u32>(), found.counts.len()), (5, 3));
    }
}
