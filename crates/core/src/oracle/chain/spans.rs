use super::forward_backward::Messages;
use super::log_domain::LogAnswer;
use super::oracle::{Chain, State};

impl Chain {
    /// The probability, at the tilt of the latest [`Oracle::tilted`](crate::Oracle::tilted) call,
    /// that each of `length` positions from `first` on has one of the states that `allowed` writes
    /// for it.
    ///
    /// A chain is a Markov process, so this is `p(y_first) Π p(y_{t+1} | y_t)`, with conditionals
    /// from the messages of the call. The cost follows `length`, not the whole sequence.
    ///
    /// # Panics
    /// If the chain is not homogeneous, no call has answered yet, or there is no such position or
    /// state.
    pub fn span_probability(
        &mut self,
        (first, length): (usize, usize),
        allowed: &mut dyn FnMut(usize, &mut Vec<usize>),
    ) -> f64 {
        assert!(self.model.length().is_none(), "a homogeneous chain");
        assert!(self.state != State::Nothing, "an answer to read from");
        if length == 0 {
            return 1.0;
        }
        let mut states = Vec::new();
        allowed(first, &mut states);
        let mut node = vec![0.0; self.model.states(first)];
        self.node_marginal(first, &mut node);
        // States that are possible so far, with the probability of all that leads to each.
        let mut reached: Vec<(usize, f64)> = states.iter().map(|&s| (s, node[s])).collect();
        for t in first..first + length - 1 {
            states.clear();
            allowed(t + 1, &mut states);
            let mut next: Vec<(usize, f64)> = states.iter().map(|&state| (state, 0.0)).collect();
            let mut chances = vec![0.0; self.model.states(t + 1)];
            for &(state, probability) in reached.iter().filter(|(_, p)| *p > 0.0) {
                if !self.write_chances(t, state, &mut chances) {
                    // What the scaled messages lost does not matter to marginals, but here it is
                    // all.
                    self.answer_in_log_domain();
                    self.write_chances(t, state, &mut chances);
                }
                for (state, sum) in &mut next {
                    *sum += probability * chances[*state];
                }
            }
            reached = next;
        }
        reached.iter().map(|(_, probability)| probability).sum::<f64>().min(1.0)
    }

    fn node_marginal(&mut self, t: usize, out: &mut [f64]) {
        let position = self.sequence.positions[t];
        let Messages { alpha, beta, nodes, .. } = &self.messages;
        match self.state {
            State::Log => out.copy_from_slice(&nodes[position.states()]),
            _ => {
                let both = alpha[position.states()].iter().zip(&beta[position.states()]);
                out.iter_mut().zip(both).for_each(|(out, (alpha, beta))| *out = alpha * beta);
                normalise(out);
            }
        }
    }

    /// Writes `p(y_{t+1} | y_t = state)`; `false` if the messages have lost it.
    fn write_chances(&mut self, t: usize, state: usize, out: &mut [f64]) -> bool {
        let Self { model, sequence, tilts, messages, .. } = self;
        if self.state == State::Log {
            LogAnswer { model, sequence, tilts, messages }.write_chances(t, state, out);
            return normalise(out);
        }
        let after = sequence.positions[t + 1];
        let beta = &messages.beta[after.states()];
        out.fill(0.0);
        let Some(table) = sequence.positions[t].table.map(|table| &model.tables[table]) else {
            unreachable!("homogeneous chains have no free links");
        };
        let group = tilts.links[t].map(|group| &tilts.groups[group]);
        let [ahead, back] = group.map_or([&table.exp_forward, &table.exp_backward], |group| {
            [&group.exp_forward, &group.exp_backward]
        });
        let weights = &tilts.nodes.weights(sequence)[after.states()];
        let chance = |to: usize, potential: f64| potential * weights[to] * beta[to];
        match &table.backward {
            Some(layout) => {
                layout.for_each_in_column(state, |to, slot| out[to] = chance(to, back[slot]))
            }
            None => {
                table.forward.for_each_in_row(state, |to, slot| out[to] = chance(to, ahead[slot]))
            }
        }
        normalise(out)
    }
}

/// Normalises values to sum to 1; `false` if they are too small.
fn normalise(values: &mut [f64]) -> bool {
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= total);
    total > 1e-250 && total.is_finite()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use crate::oracle::{Chain, ChainModel, Oracle};
    use crate::support::Support;

    /// `Σ exp(score)` over all assignments that `allowed` allows, relative to `reference`.
    fn total(
        (states, length): (usize, usize),
        score: impl Fn(&[usize]) -> f64,
        reference: f64,
        allowed: impl Fn(usize, usize) -> bool,
    ) -> f64 {
        let mut sum = 0.0;
        for code in 0..states.pow(length as u32) {
            let path: Vec<usize> =
                (0..length as u32).map(|t| code / states.pow(t) % states).collect();
            if path.iter().enumerate().all(|(t, &state)| allowed(t, state)) {
                sum += (score(&path) - reference).exp();
            }
        }
        sum
    }

    #[test]
    fn span_probabilities_match_brute_force() {
        let mut rng = StdRng::seed_from_u64(5);
        let (mut answered, mut in_logs) = (0, 0);
        for round in 0..600 {
            let (states, length) = match round % 50 {
                // A table that is kept once.
                49 => (rng.random_range(75..=90), 2),
                _ => (rng.random_range(1..=4), rng.random_range(1..=5)),
            };
            let scale = [1.0, 10.0, 60.0, 700.0][round % 4];
            let mut entries = |count: usize, forbidden: f64| -> Vec<f64> {
                let entry = |_| match rng.random_bool(forbidden) {
                    true => f64::NEG_INFINITY,
                    false => rng.random_range(-scale..=scale),
                };
                (0..count).map(entry).collect()
            };
            let forbidden = [0.0, 0.2][round / 4 % 2];
            let (table, nodes) =
                (entries(states * states, forbidden), entries(length * states, 0.1));
            let tilt = entries(states, 0.0);
            let mut support = Support::new();
            support.add((0..length).collect(), states);
            let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
            let mut chain = Chain::new(model, &nodes, support).unwrap();
            let log_partition = chain.tilted(&tilt, &mut vec![0.0; states]);
            if log_partition == f64::NEG_INFINITY {
                continue;
            }
            answered += 1;
            let first = rng.random_range(0..length);
            let span = rng.random_range(0..=length - first);
            let allowed: Vec<bool> = (0..length * states).map(|_| rng.random_bool(0.6)).collect();
            let inside = |t: usize| (first..first + span).contains(&t);
            let score = |path: &[usize]| {
                let own = path.iter().enumerate().map(|(t, &s)| nodes[t * states + s] + tilt[s]);
                own.sum::<f64>() + path.windows(2).map(|p| table[p[0] * states + p[1]]).sum::<f64>()
            };
            let expected = total((states, length), score, log_partition, |t, state| {
                !inside(t) || allowed[t * states + state]
            });
            let found = chain.span_probability((first, span), &mut |t, list| {
                list.extend((0..states).filter(|&state| allowed[t * states + state]));
            });
            in_logs += usize::from(chain.used_log_domain());
            assert!((found - expected).abs() < 1e-9, "round {round}: {found}, expected {expected}");
        }
        assert!(answered > 400 && in_logs > 20, "{answered} {in_logs}");
    }
}
