use std::collections::HashMap;

use rayon::prelude::*;

use super::structure::{AttributeStates, Structure};

/// Weights as sums of parameters that states share.
///
/// Each state has *parts*: itself, and what it has in common with others. A parameter belongs to an
/// attribute and a part, or to two successive parts. The weight of an attribute and a state is the
/// sum over the state's parts. Training moves and penalises the parameters, so what holds for all
/// states of a part is learned once, for rare states too.
pub struct Sharing {
    /// The parameters of each weight.
    of_weight: Lists,
    /// The weights of each parameter.
    of_parameter: Lists,
}

impl Sharing {
    /// The parameters of a structure: one for every part of a state that an attribute was *seen*
    /// with, and one for every two parts at the same place in the lists of two states with a
    /// transition between them.
    ///
    /// `parts` are those of each state, `seen` the states of each attribute: the structure has
    /// these and may have more.
    ///
    /// # Panics
    /// If there is not one list per state and per attribute.
    pub fn new(structure: &Structure, parts: &[Vec<u16>], seen: &AttributeStates) -> Self {
        let rows = structure.rows();
        assert_eq!(parts.len(), structure.states(), "parts of every state");
        assert_eq!(seen.ends.len(), rows.len(), "states of every attribute");
        let kinds = parts.iter().flatten().map(|&part| usize::from(part) + 1).max().unwrap_or(0);
        let parts_of = |state: u16| parts[usize::from(state)].iter().map(|&part| usize::from(part));
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut count = 0;
        let mut own = vec![None; kinds];
        for (attribute, seen) in seen.lists().enumerate() {
            own.fill(None);
            for &state in seen {
                parts_of(state).for_each(|part| number(&mut own[part], &mut count));
            }
            for (state, weight) in rows.attribute(attribute) {
                let parameters = parts_of(state).filter_map(|part| own[part]);
                pairs.extend(parameters.map(|parameter| (weight as u32, parameter)));
            }
        }
        let mut steps: HashMap<(usize, usize), Option<u32>> = HashMap::new();
        for (place, &(from, to)) in structure.transitions().weighted.iter().enumerate() {
            let weight = (rows.weights() + place) as u32;
            for both in parts_of(from).zip(parts_of(to)) {
                let step = steps.entry(both).or_default();
                number(step, &mut count);
                pairs.extend(step.map(|parameter| (weight, parameter)));
            }
        }
        let of_weight = Lists::new(structure.weights(), pairs.iter().copied());
        let of_parameter = Lists::new(
            count as usize,
            pairs.iter().map(|&(weight, parameter)| (parameter, weight)),
        );
        Self { of_weight, of_parameter }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.of_parameter.ends.len()
    }

    /// The weights for these parameters.
    pub fn write_weights(&self, parameters: &[f64], weights: &mut [f64]) {
        self.of_weight.write_sums(parameters, weights);
    }

    /// The gradient in the parameters, from that in the weights.
    pub fn write_gradient(&self, of_weights: &[f64], gradient: &mut [f64]) {
        self.of_parameter.write_sums(of_weights, gradient);
    }
}

/// Sets a missing number to the next one.
fn number(one: &mut Option<u32>, count: &mut u32) {
    if one.is_none() {
        *one = Some(*count);
        *count += 1;
    }
}

/// Lists of numbers in flat arrays.
struct Lists {
    /// Where each list ends.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// `count` lists, from pairs of a list and an item.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut ends = vec![0; count];
        pairs.clone().for_each(|(one, _)| ends[one as usize] += 1);
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        let mut items = vec![0; next as usize];
        for (one, item) in pairs {
            let place = &mut ends[one as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Self { ends, items }
    }

    /// For each list, the sum of the values it names.
    fn write_sums(&self, values: &[f64], sums: &mut [f64]) {
        const CHUNK: usize = 1 << 14;
        assert_eq!(sums.len(), self.ends.len(), "a sum for every list");
        let chunks = sums.par_chunks_mut(CHUNK).zip(self.ends.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (sums, ends))| {
            let before = (chunk * CHUNK).checked_sub(1);
            let mut start = before.map_or(0, |before| self.ends[before]) as usize;
            for (sum, &end) in sums.iter_mut().zip(ends) {
                let own = &self.items[start..end as usize];
                *sum = own.iter().map(|&item| values[item as usize]).sum();
                start = end as usize;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Borders, Transitions};
    use super::*;

    /// Three states; the first two share part 3. One attribute was seen with state 0 only and has
    /// weights for the first two.
    fn sharing() -> (Structure, Sharing) {
        let transitions = Transitions { forbidden: vec![false; 9], weighted: vec![(0, 2), (1, 2)] };
        let free = Borders { not_first: vec![false; 3], not_last: vec![false; 3] };
        let weighted = AttributeStates { ends: vec![2], states: vec![0, 1] };
        let structure = Structure::new(3, weighted, transitions, free).unwrap();
        let parts = [vec![0, 3], vec![1, 3], vec![2, 4]];
        let sharing =
            Sharing::new(&structure, &parts, &AttributeStates { ends: vec![1], states: vec![0] });
        (structure, sharing)
    }

    #[test]
    fn states_of_a_part_share_what_was_seen_with_one_of_them() {
        let (structure, sharing) = sharing();
        // Of the attribute: state 0 and part 3. Of transitions: 0 → 2, 3 → 4, 1 → 2.
        assert_eq!(sharing.parameters(), 5);
        let mut weights = vec![0.0; structure.weights()];
        sharing.write_weights(&[1.0, 10.0, 100.0, 1000.0, 10_000.0], &mut weights);
        let at: Vec<f64> = structure.rows().attribute(0).map(|(_, at)| weights[at]).collect();
        assert_eq!(at, [11.0, 10.0]);
        assert_eq!(weights[structure.rows().weights()..], [1100.0, 11_000.0]);
    }

    #[test]
    fn the_gradient_is_that_of_the_weights_transposed() {
        let (structure, sharing) = sharing();
        let of_weights: Vec<f64> = (0..structure.weights()).map(|at| (at as f64).sin()).collect();
        let mut gradient = vec![0.0; sharing.parameters()];
        sharing.write_gradient(&of_weights, &mut gradient);
        for parameter in 0..sharing.parameters() {
            let mut unit = vec![0.0; sharing.parameters()];
            unit[parameter] = 1.0;
            let mut weights = vec![0.0; structure.weights()];
            sharing.write_weights(&unit, &mut weights);
            let slope: f64 = weights.iter().zip(&of_weights).map(|(a, b)| a * b).sum();
            assert!((slope - gradient[parameter]).abs() < 1e-12);
        }
    }
}
