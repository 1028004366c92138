/// Counts per time and cell; some may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// `[times]`
    times: Vec<String>,
    cells: usize,
    /// `[times][cells]`
    counts: Vec<Option<f64>>,
    /// Whether nobody can be in a cell at a time; nothing if all are open. `[times][cells]`
    closed: Vec<bool>,
}

impl Observations {
    /// No times yet, for this many cells.
    pub fn new(cells: usize) -> Self {
        Self { times: Vec::new(), cells, counts: Vec::new(), closed: Vec::new() }
    }

    /// Adds a time with its counts.
    ///
    /// # Panics
    /// If there is not one for every cell, or one is negative or not finite.
    pub fn push(&mut self, time: impl Into<String>, counts: impl IntoIterator<Item = Option<f64>>) {
        let before = self.counts.len();
        self.counts.extend(counts);
        let own = &self.counts[before..];
        assert_eq!(own.len(), self.cells, "a count for every cell");
        let fits = |count: &Option<f64>| count.is_none_or(|y| y >= 0.0 && y.is_finite());
        assert!(own.iter().all(fits), "counts are finite and not negative");
        self.times.push(time.into());
        if !self.closed.is_empty() {
            self.closed.resize(self.counts.len(), false);
        }
    }

    /// Names of the times, in order.
    pub fn times(&self) -> &[String] {
        &self.times
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The counts at a time. `[cells]`
    pub fn at(&self, time: usize) -> &[Option<f64>] {
        &self.counts[time * self.cells..][..self.cells]
    }

    /// Removes a count, as if it had not been observed.
    pub fn forget(&mut self, time: usize, cell: usize) {
        self.counts[time * self.cells + cell] = None;
    }

    /// Says that nobody can be in a cell at a time, and removes the count.
    pub fn close(&mut self, time: usize, cell: usize) {
        self.forget(time, cell);
        self.closed.resize(self.counts.len(), false);
        self.closed[time * self.cells + cell] = true;
    }

    /// Whether somebody can be in a cell at a time.
    pub fn is_open(&self, time: usize, cell: usize) -> bool {
        !self.closed.get(time * self.cells + cell).is_some_and(|closed| *closed)
    }

    /// The observations of some times, in this order. A repeated time is named as such.
    pub fn select(&self, chosen: &[usize]) -> Self {
        let mut selected = Self::new(self.cells);
        for (place, &time) in chosen.iter().enumerate() {
            let name = &self.times[time];
            let again = if chosen[..place].contains(&time) { " again" } else { "" };
            selected.push(format!("{name}{again}"), self.at(time).iter().copied());
            (0..self.cells)
                .filter(|&cell| !self.is_open(time, cell))
                .for_each(|cell| selected.close(place, cell));
        }
        selected
    }

    /// The sum of the counts at a time, if all cells were counted.
    pub fn total(&self, time: usize) -> Option<f64> {
        self.at(time).iter().copied().sum()
    }

    /// The sum of what was counted at a time.
    pub fn counted(&self, time: usize) -> f64 {
        self.at(time).iter().flatten().sum()
    }

    /// The same observations with other counts: `change(time, count)`.
    pub fn map(&self, change: impl Fn(usize, f64) -> Option<f64>) -> Self {
        let mut changed = Self::new(self.cells);
        for (time, name) in self.times.iter().enumerate() {
            let counts = self.at(time).iter().map(|count| count.and_then(|y| change(time, y)));
            changed.push(name.clone(), counts);
        }
        changed.closed.clone_from(&self.closed);
        changed
    }

    /// The same observations with other names of times.
    ///
    /// # Panics
    /// If there is not one for each.
    pub fn renamed(&self, times: &[String]) -> Self {
        assert_eq!(times.len(), self.times.len(), "a name for each time");
        Self { times: times.to_vec(), ..self.clone() }
    }

    /// Names of times after the last one: the next whole numbers if the last is one, else `+1`,
    /// `+2` and so on.
    pub fn following(&self, number: usize) -> Vec<String> {
        let last = self.times.last().and_then(|time| time.parse::<i64>().ok());
        let name = |ahead: usize| match last.and_then(|last| last.checked_add(ahead as i64)) {
            Some(time) => time.to_string(),
            None => format!("+{ahead}"),
        };
        (1..=number).map(name).collect()
    }
}
