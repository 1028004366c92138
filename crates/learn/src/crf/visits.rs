use crate::corpus::Corpus;

/// Which attributes a batch of sequences has, and how many batches of a pass have each.
pub(crate) struct Visits {
    /// Batches of a pass that are expected to have each attribute. `[attributes]`
    expected: Vec<f64>,
    /// Attributes of the current batch, and the batch that each was last seen in.
    touched: Vec<u32>,
    seen_in: Vec<u32>,
    batches: u32,
}

impl Visits {
    /// For batches of this many sequences, drawn at random.
    pub(crate) fn new(corpus: &Corpus, attributes: usize, batch: usize) -> Self {
        let (expected, seen_in) = (vec![0.0; attributes], vec![0; attributes]);
        let mut visits = Self { expected, touched: Vec::new(), seen_in, batches: 0 };
        for sequence in 0..corpus.len() {
            visits.touch(corpus, &[sequence]);
            for &attribute in &visits.touched {
                visits.expected[attribute as usize] += 1.0;
            }
        }
        let batches = corpus.len().div_ceil(batch) as f64;
        for expected in &mut visits.expected {
            *expected = batches * (1.0 - (1.0 - 1.0 / batches).powf(*expected));
        }
        visits
    }

    /// Lists the attributes of some sequences, each once.
    pub(crate) fn touch(&mut self, corpus: &Corpus, sequences: &[usize]) {
        self.batches += 1;
        self.touched.clear();
        for &sequence in sequences {
            let observations = corpus.sequence(sequence);
            for position in 0..observations.len() {
                for &attribute in observations.attributes(position) {
                    let seen_in = &mut self.seen_in[attribute as usize];
                    if std::mem::replace(seen_in, self.batches) != self.batches {
                        self.touched.push(attribute);
                    }
                }
            }
        }
    }

    /// The attributes that were listed last.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Batches of a pass that are expected to have an attribute.
    pub(crate) fn expected(&self, attribute: u32) -> f64 {
        self.expected[attribute as usize]
    }
}
