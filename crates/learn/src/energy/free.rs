/// The free weights among all weights.
pub(super) struct Free {
    places: Vec<usize>,
    all: Vec<f64>,
    slopes: Vec<f64>,
}

impl Free {
    pub fn new(fixed: &[bool], start: Vec<f64>) -> Self {
        let is_free = |&at: &usize| !fixed.get(at).is_some_and(|fixed| *fixed);
        let places = (0..start.len()).filter(is_free).collect();
        Self { places, slopes: vec![0.0; start.len()], all: start }
    }

    pub fn own(&self) -> Vec<f64> {
        self.places.iter().map(|&at| self.all[at]).collect()
    }

    /// How many free weights there are among the `first` of all weights.
    pub fn among(&self, first: usize) -> usize {
        self.places.partition_point(|&at| at < first)
    }

    /// All weights, given the free ones.
    pub fn with(&mut self, own: &[f64]) -> &[f64] {
        self.places.iter().zip(own).for_each(|(&at, &weight)| self.all[at] = weight);
        &self.all
    }

    /// The value of an objective at these free weights, and its gradient in them.
    pub fn evaluate(
        &mut self,
        own: &[f64],
        gradient: &mut [f64],
        objective: impl FnOnce(&[f64], &mut [f64]) -> f64,
    ) -> f64 {
        self.with(own);
        let value = objective(&self.all, &mut self.slopes);
        gradient.iter_mut().zip(&self.places).for_each(|(slope, &at)| *slope = self.slopes[at]);
        value
    }
}
