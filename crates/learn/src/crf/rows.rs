use std::ops::Range;

use pulp::Simd;

use crate::corpus::{Corpus, Observations};

/// Rows of scores are padded to a multiple of this many doubles, the widest vector.
const LINE: usize = 8;

/// How many positions to prefetch together.
pub(super) const AHEAD: usize = 4;

/// A sequence, with the places of its attributes.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) observations: Observations<'a>,
    /// Places of all its positions in order. `[attributes]`
    pub(super) places: &'a [u32],
}

impl<'a> Placed<'a> {
    /// A sequence of a corpus with known places.
    pub(super) fn of(corpus: &'a Corpus, sequence: usize, places: &'a [u32]) -> Self {
        let observations = corpus.sequence(sequence);
        Self { observations, places: &places[observations.range(0, observations.len())] }
    }

    /// The places of the next `count` positions, or as many as there are.
    #[inline(always)]
    pub(super) fn run(&self, position: usize, count: usize) -> &'a [u32] {
        let first = self.observations.range(0, 0).start;
        let range = self.observations.range(position, count);
        &self.places[range.start - first..range.end - first]
    }
}

/// Which states each attribute has a weight for.
///
/// An attribute with few states keeps a list of them. One with many has a weight for every state,
/// in a row that is added whole; weights of pairs never seen stay zero. In passes over a corpus an
/// attribute is known by its *place*, the index of its first weight. From there, weights and marks
/// hold everything, and nothing else is read.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeRows {
    states: usize,
    /// The place of each attribute; [`NOWHERE`] for one without states. `[attributes]`
    places: Vec<u32>,
    /// The state of each weight, with the bits below. `[weights]`
    marks: Vec<u16>,
    /// Number of weights that may differ from zero.
    pairs: usize,
}

/// Most states that a mark can hold.
pub const MOST_STATES: usize = 0x1fff;
/// The mark of every weight of a whole row.
const WHOLE: u16 = 0x8000;
/// Another weight of the row follows.
const MORE: u16 = 0x4000;
/// The weight stays zero: the attribute was never seen with the state.
const UNSEEN: u16 = 0x2000;
/// The place of an attribute without states.
const NOWHERE: u32 = u32::MAX;

impl AttributeRows {
    /// Rows from the states of each attribute, ascending: attribute `a` has the `pairs` up to its
    /// end.
    pub(super) fn new(states: usize, ends: &[u32], pairs: &[u16]) -> Self {
        let (mut places, mut marks) = (Vec::with_capacity(ends.len()), Vec::new());
        let mut start = 0;
        for &end in ends {
            let own = &pairs[start as usize..end as usize];
            start = end;
            places.push(if own.is_empty() { NOWHERE } else { marks.len() as u32 });
            // A vector adds eight states of a row at once, a list one state.
            if own.len() * 4 >= states {
                let first = marks.len();
                marks.extend((0..padded(states)).map(|s| s as u16 | WHOLE | MORE | UNSEEN));
                own.iter().for_each(|&state| marks[first + usize::from(state)] &= !UNSEEN);
            } else {
                marks.extend(own.iter().map(|state| state | MORE));
            }
            if !own.is_empty() {
                *marks.last_mut().expect("a weight of its own") &= !MORE;
            }
            assert!(marks.len() < NOWHERE as usize, "fewer than 2³² weights");
        }
        marks.shrink_to_fit();
        Self { states, places, marks, pairs: pairs.len() }
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Number of weights, including those that stay zero.
    pub fn weights(&self) -> usize {
        self.marks.len()
    }

    /// Number of weights that may differ from zero.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The states of an attribute, each with the place of its weight.
    pub fn attribute(&self, attribute: usize) -> impl Iterator<Item = (u16, usize)> + '_ {
        let weights = self.weights_of(attribute as u32);
        let marked = weights.clone().zip(&self.marks[weights]);
        let seen = marked.filter(|(_, mark)| **mark & UNSEEN == 0);
        seen.map(|(weight, mark)| (mark & MOST_STATES as u16, weight))
    }

    /// Visits the weights that stay zero.
    pub fn for_each_unseen(&self, mut visit: impl FnMut(usize)) {
        let unseen = self.marks.iter().enumerate().filter(|(_, mark)| **mark & UNSEEN != 0);
        unseen.for_each(|(weight, _)| visit(weight));
    }

    /// The weights of an attribute, including those that stay zero.
    pub(crate) fn weights_of(&self, attribute: u32) -> Range<usize> {
        let first = self.places[attribute as usize];
        if first == NOWHERE {
            return 0..0;
        }
        let first = first as usize;
        let len = match self.marks[first] & WHOLE {
            0 => 1 + self.marks[first..].iter().take_while(|mark| **mark & MORE != 0).count(),
            _ => padded(self.states),
        };
        first..first + len
    }

    /// Writes the place of each attribute.
    pub(super) fn write_places(&self, attributes: &[u32], places: &mut Vec<u32>) {
        places.clear();
        places.extend(attributes.iter().map(|&attribute| self.places[attribute as usize]));
    }

    /// Touches the `values` of attributes at these places, one per weight, so that the next pass
    /// waits for memory once and not for each. The result is meaningless.
    #[inline(always)]
    pub(super) fn touch(&self, places: &[u32], values: &[f64]) -> u64 {
        let mut mixed = 0;
        for &place in places {
            let value = values.get(place as usize).map_or(0, |value| value.to_bits());
            let mark = self.marks.get(place as usize).map_or(0, |&mark| u64::from(mark));
            mixed ^= value ^ mark;
        }
        mixed
    }

    /// `scores += value · w_a`
    #[inline(always)]
    pub(super) fn add<S: Simd>(
        &self,
        simd: S,
        place: u32,
        value: f64,
        weights: &[f64],
        scores: &mut [f64],
    ) {
        let Some(marks) = self.marks.get(place as usize..).filter(|marks| !marks.is_empty()) else {
            return;
        };
        let weights = &weights[place as usize..];
        if marks[0] & WHOLE != 0 {
            return add_scaled(simd, value, &weights[..scores.len()], scores);
        }
        for (mark, weight) in marks.iter().zip(weights) {
            scores[usize::from(mark & MOST_STATES as u16)] += value * weight;
            if mark & MORE == 0 {
                return;
            }
        }
    }

    /// `∂/∂w_a += value · residual`
    #[inline(always)]
    pub(super) fn add_gradient<S: Simd>(
        &self,
        simd: S,
        place: u32,
        value: f64,
        residual: &[f64],
        gradient: &mut [f64],
    ) {
        let Some(marks) = self.marks.get(place as usize..).filter(|marks| !marks.is_empty()) else {
            return;
        };
        let gradient = &mut gradient[place as usize..];
        if marks[0] & WHOLE != 0 {
            return add_scaled(simd, value, residual, &mut gradient[..residual.len()]);
        }
        for (mark, slope) in marks.iter().zip(gradient) {
            *slope += value * residual[usize::from(mark & MOST_STATES as u16)];
            if mark & MORE == 0 {
                return;
            }
        }
    }
}

/// Doubles of a row of scores.
pub(super) fn padded(states: usize) -> usize {
    states.next_multiple_of(LINE)
}

/// `out += factor · values`, all of whole vectors.
#[inline(always)]
fn add_scaled<S: Simd>(simd: S, factor: f64, values: &[f64], out: &mut [f64]) {
    let factors = simd.splat_f64s(factor);
    let (values, out) = (S::as_simd_f64s(values).0, S::as_mut_simd_f64s(out).0);
    for (out, &value) in out.iter_mut().zip(values) {
        *out = simd.mul_add_e_f64s(factors, value, *out);
    }
}
