use pulp::Simd;

/// Doubles that a row of scores is padded to a multiple of: the widest vector we know.
const LINE: usize = 8;

/// Positions whose attributes are touched together before they are used.
pub(super) const AHEAD: usize = 4;

/// Which states each attribute has a weight for.
///
/// An attribute with few of the states keeps a list of them; one with many has a weight for every
/// state, in a row that is added whole, of which those that were never seen stay zero.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeRows {
    states: usize,
    /// `[attributes]`
    rows: Vec<Row>,
    /// States of all rows, ascending within a row. `[pairs]`
    pairs: Vec<u16>,
    /// Number of weights, those that stay zero included.
    weights: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// First weight.
    weight: u32,
    /// First entry of `pairs`.
    pair: u32,
    /// Number of pairs.
    len: u16,
    /// The first of their states: most rows have no more, and need not look further.
    states: [u16; 2],
    /// Whether there is a weight for every state.
    whole: bool,
}

impl AttributeRows {
    /// Rows with the states of each attribute, ascending: `pairs`, of which each attribute has those
    /// up to its end.
    pub(super) fn new(states: usize, ends: &[u32], pairs: Vec<u16>) -> Self {
        let mut rows = Self { states, rows: Vec::with_capacity(ends.len()), pairs, weights: 0 };
        let mut start = 0;
        for &end in ends {
            let len = (end - start) as usize;
            // Not tuned: a vector adds eight states of a row at once, a list one of its own.
            let whole = len * 4 >= states;
            let weight = rows.weights as u32;
            let own = &rows.pairs[start as usize..end as usize];
            let first = [0, 1].map(|i| own.get(i).copied().unwrap_or(0));
            rows.rows.push(Row { weight, pair: start, len: len as u16, states: first, whole });
            rows.weights += if whole { padded(states) } else { len };
            start = end;
        }
        assert!(rows.weights <= u32::MAX as usize, "at most 2³² weights");
        rows
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of weights, those that stay zero included.
    pub fn weights(&self) -> usize {
        self.weights
    }

    /// Number of weights that may differ from zero.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The states of an attribute, with the place of each one's weight.
    pub fn attribute(&self, attribute: usize) -> impl Iterator<Item = (u16, usize)> + '_ {
        let row = self.rows[attribute];
        let pairs = &self.pairs[row.pair as usize..][..usize::from(row.len)];
        pairs.iter().enumerate().map(move |(i, &state)| {
            let place = if row.whole { usize::from(state) } else { i };
            (state, row.weight as usize + place)
        })
    }

    /// Visits the weights that stay zero.
    pub fn for_each_unseen(&self, mut visit: impl FnMut(usize)) {
        for row in self.rows.iter().filter(|row| row.whole) {
            let mut seen =
                self.pairs[row.pair as usize..][..usize::from(row.len)].iter().peekable();
            for state in 0..padded(self.states) {
                if seen.next_if(|&&next| usize::from(next) == state).is_none() {
                    visit(row.weight as usize + state);
                }
            }
        }
    }

    /// Reads a little of what each attribute has in `values`, one value for each weight: whoever goes
    /// through them next waits for memory once for many of them, not for each. The answer is of no use.
    #[inline(always)]
    pub(super) fn touch(&self, attributes: &[u32], values: &[f64]) -> u64 {
        // So many fit the first cache with all that is near them.
        const TOGETHER: usize = 64;
        let mut mixed = 0;
        for attributes in attributes.chunks(TOGETHER) {
            let mut places = [(0, 0); TOGETHER];
            for (place, &attribute) in places.iter_mut().zip(attributes) {
                let row = self.rows[attribute as usize];
                let listed = if row.whole || row.len <= 2 { 0 } else { row.pair as usize };
                *place = (row.weight as usize, listed);
            }
            for &(weight, pair) in &places[..attributes.len()] {
                let value = values.get(weight).map_or(0, |value| value.to_bits());
                mixed ^= value ^ self.pairs.get(pair).map_or(0, |&state| u64::from(state));
            }
        }
        mixed
    }

    /// `scores += value · w_a`
    #[inline(always)]
    pub(super) fn add<S: Simd>(
        &self,
        simd: S,
        (attribute, value): (u32, f64),
        weights: &[f64],
        scores: &mut [f64],
    ) {
        let row = self.rows[attribute as usize];
        let weights = &weights[row.weight as usize..];
        if row.whole {
            add_scaled(simd, value, &weights[..scores.len()], scores);
        } else {
            for (&state, weight) in self.states_of(&row).iter().zip(weights) {
                scores[usize::from(state)] += value * weight;
            }
        }
    }

    /// `∂/∂w_a += value · residual`
    #[inline(always)]
    pub(super) fn add_gradient<S: Simd>(
        &self,
        simd: S,
        (attribute, value): (u32, f64),
        residual: &[f64],
        gradient: &mut [f64],
    ) {
        let row = self.rows[attribute as usize];
        let gradient = &mut gradient[row.weight as usize..];
        if row.whole {
            add_scaled(simd, value, residual, &mut gradient[..residual.len()]);
        } else {
            for (&state, slope) in self.states_of(&row).iter().zip(gradient) {
                *slope += value * residual[usize::from(state)];
            }
        }
    }

    /// The states that a row has a weight for.
    #[inline(always)]
    fn states_of<'a>(&'a self, row: &'a Row) -> &'a [u16] {
        match usize::from(row.len) {
            len if len <= row.states.len() => &row.states[..len],
            len => &self.pairs[row.pair as usize..][..len],
        }
    }

    /// Visits the weights of an attribute that a residual touches: those of its row.
    pub(super) fn weights_of(&self, attribute: u32) -> std::ops::Range<usize> {
        let row = self.rows[attribute as usize];
        let len = if row.whole { padded(self.states) } else { usize::from(row.len) };
        row.weight as usize..row.weight as usize + len
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
