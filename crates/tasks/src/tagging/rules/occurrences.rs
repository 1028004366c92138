use crate::tagging::labels::States;

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
        let kinds = states.kinds().len();
        let mut occurrences = Self { counts: vec![0; kinds], ends: vec![None; kinds] };
        for (position, &state) in path.iter().enumerate() {
            for &kind in states.begins(state) {
                occurrences.counts[kind] += 1;
                occurrences.ends[kind].get_or_insert((position, position)).1 = position;
            }
        }
        occurrences
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
