use std::cell::Cell;

/// Keeps the first error of an objective that may fail, for a minimiser that takes one that cannot.
/// The caller of the minimiser asks [`check`](Self::check) after every step.
pub struct FirstError<E>(Cell<Option<E>>);

impl<E> Default for FirstError<E> {
    fn default() -> Self {
        Self(Cell::new(None))
    }
}

impl<E> FirstError<E> {
    /// The value, or after an error one that no step is taken to.
    pub fn value(&self, evaluated: Result<f64, E>) -> f64 {
        evaluated.unwrap_or_else(|error| {
            self.0.set(Some(self.0.take().unwrap_or(error)));
            f64::NAN
        })
    }

    /// The first error, if there was one since.
    pub fn check(&self) -> Result<(), E> {
        self.0.take().map_or(Ok(()), Err)
    }
}
