use std::collections::BTreeSet;

use anyhow::Result;
use bethe_experiments::ocr::data::Word;
use bethe_terminal::bad_input;

/// The folds to test on: those that `--folds` names, in order, or all.
pub fn chosen(stated: Option<&str>, words: &[Word]) -> Result<Vec<usize>> {
    let known: BTreeSet<usize> = words.iter().map(|word| word.fold).collect();
    let names: Vec<String> = known.iter().map(usize::to_string).collect();
    let names = names.join(", ");
    if known.len() < 2 {
        return Err(bad_input(format!(
            "the data has only the fold {names}, expected at least two"
        )));
    }
    let Some(stated) = stated else { return Ok(known.into_iter().collect()) };
    let wrong = |found: &str, expected: &str| {
        Err(bad_input(format!("--folds: found {found:?}, expected {expected}")))
    };
    let mut folds = BTreeSet::new();
    for part in stated.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
            (Ok(first), Ok(last)) if first <= last => {
                for fold in first..=last {
                    if !known.contains(&fold) {
                        return wrong(part, &format!("folds of the data: {names}"));
                    }
                    folds.insert(fold);
                }
            }
            _ => return wrong(stated, "numbers and ranges, such as 0-9 or 0,3,5"),
        }
    }
    Ok(folds.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<Word> {
        let word = |fold| Word { letters: Vec::new(), images: Vec::new(), fold };
        [0, 1, 2, 2, 5].map(word).into()
    }

    #[test]
    fn folds_are_ranges_and_numbers_or_all() {
        let chosen = |stated| chosen(stated, &words()).unwrap();
        assert_eq!(chosen(None), [0, 1, 2, 5]);
        assert_eq!(chosen(Some("0-2")), [0, 1, 2]);
        assert_eq!(chosen(Some("5,0,1-2,1")), [0, 1, 2, 5]);
    }

    #[test]
    fn folds_that_are_not_there_and_nonsense_are_refused() {
        for wrong in ["3", "0-5", "2-1", "", "a", "0-", "0,,1", "-1"] {
            assert!(chosen(Some(wrong), &words()).is_err(), "{wrong:?} was taken");
        }
        assert!(chosen(None, &words()[..1]).is_err());
    }
}
