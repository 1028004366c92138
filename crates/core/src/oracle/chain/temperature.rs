//! Other temperatures: all potentials of a chain divided by one number.

use std::sync::Arc;

use super::model::ChainModel;
use super::oracle::Chain;
use super::sequence::Sequence;

/// The potentials as stated, while others take their place.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub(super) model: Arc<ChainModel>,
    sequence: Sequence,
    constant: f64,
}

impl Chain {
    /// Divides all potentials by `heat` from now on.
    pub(super) fn set_heat(&mut self, heat: f64) {
        if heat == self.heat {
            return;
        }
        let stated = self.stated.take().unwrap_or_else(|| {
            let (model, sequence) = (self.model.clone(), self.sequence.clone());
            Box::new(Stated { model, sequence, constant: self.constant })
        });
        self.heat = heat;
        if heat == 1.0 {
            (self.model, self.sequence, self.constant) =
                (stated.model, stated.sequence, stated.constant);
        } else {
            self.model = Arc::new(stated.model.warmed(heat));
            self.sequence = stated.sequence.warmed(heat, &self.model);
            self.constant = stated.constant / heat;
            self.stated = Some(stated);
        }
        let support = std::mem::take(&mut self.support);
        self.bind(support);
    }
}
