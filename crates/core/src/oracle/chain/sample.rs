use super::oracle::{Chain, State};

impl Chain {
    /// Draws an assignment of the variables from the distribution at the tilt of the latest
    /// [`Oracle::tilted`] call. `uniform` returns independent numbers, uniform on `[0, 1)`; one is
    /// used per position.
    ///
    /// Going back, `P(y_t | y_{t+1}) ∝ α_t(y_t) e(y_t, y_{t+1})`.
    ///
    /// # Panics
    /// If no call has answered yet.
    ///
    /// [`Oracle::tilted`]: crate::oracle::Oracle::tilted
    pub fn sample(&self, uniform: &mut dyn FnMut() -> f64, assignment: &mut [usize]) {
        assert!(self.state != State::Nothing, "an answer to read from");
        let mut weights = Vec::new();
        let mut next = None;
        for t in (0..self.length()).rev() {
            weights.clear();
            self.conditional(t, next, &mut weights);
            let state = pick(&weights, uniform());
            assignment[self.numbering.variable_at[t]] = state;
            next = Some(state);
        }
    }

    /// The states of position `t` that may come before `next`, with their weights.
    fn conditional(&self, t: usize, next: Option<usize>, weights: &mut Vec<(usize, f64)>) {
        let position = &self.sequence.positions[t];
        let alpha = &self.messages.alpha[position.states()];
        let log = self.state == State::Log;
        match next.zip(position.table) {
            None => weights.extend(alpha.iter().copied().enumerate()),
            Some((next, table)) => {
                let table = &self.model.tables[table];
                let group = self.tilts.links[t].map(|group| &self.tilts.groups[group]);
                let values = match (log, group) {
                    (false, None) => &table.exp_forward[..],
                    (false, Some(group)) => &group.exp_forward,
                    (true, None) => &table.log_forward,
                    (true, Some(group)) => &group.log_forward,
                };
                table.forward.for_each_in_column(next, |state, slot| {
                    let (message, value) = (alpha[state], values[slot]);
                    weights.push((state, if log { message + value } else { message * value }));
                });
            }
        }
        if log {
            let logs = weights.iter().map(|(_, weight)| *weight);
            let highest = logs.fold(f64::NEG_INFINITY, f64::max);
            weights.iter_mut().for_each(|(_, weight)| *weight = (*weight - highest).exp());
        }
    }
}

/// The state at which the running sum of weights passes a share of their total.
fn pick(weights: &[(usize, f64)], share: f64) -> usize {
    let mut left = share * weights.iter().map(|(_, weight)| weight).sum::<f64>();
    let allowed = weights.iter().filter(|(_, weight)| *weight > 0.0);
    let mut last = weights[0].0;
    for &(state, weight) in allowed {
        last = state;
        if left < weight {
            break;
        }
        left -= weight;
    }
    last
}
