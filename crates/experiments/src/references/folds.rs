//! Parts of the data for cross-validation.

use super::data::{Reference, Source};

/// Blocks of a source that a fold holds.
const BLOCKS: usize = 4;

/// The references of one fold, and all others. A source is cut into contiguous blocks, since the
/// references of one document stand together and look alike.
pub fn split(
    references: &[Reference],
    folds: usize,
    fold: usize,
) -> (Vec<Reference>, Vec<Reference>) {
    let (mut test, mut train) = (Vec::new(), Vec::new());
    for source in [Source::AnyStyle, Source::Grobid, Source::Generated] {
        let own: Vec<&Reference> =
            references.iter().filter(|reference| reference.source == source).collect();
        let block = own.len().div_ceil(folds * BLOCKS).max(1);
        for (at, reference) in own.into_iter().enumerate() {
            let is_test = source != Source::Generated && at / block % folds == fold;
            let part = if is_test { &mut test } else { &mut train };
            part.push(reference.clone());
        }
    }
    (test, train)
}
