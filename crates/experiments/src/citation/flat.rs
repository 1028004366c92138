//! Five-fold cross-validation on references with flat labels, with the same pipeline and settings.

use std::path::Path;

use bethe_learn::energy::Learner;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::Event;
use super::convergence::{Run, efforts};
use super::data::read;
use super::error::ExperimentError;
use super::recipe::Recipe;
use super::table::Row;
use super::trial::{Judge, Trial};
use super::umass::labelled;
use bethe_tagging::data::Sequence;
use bethe_tagging::rules::Candidates;
use bethe_tagging::train::{Base, LearnedRules, RuleSettings, TrainSettings};
use bethe_tagging::{TagOptions, Tagger};

/// Folds; each is scored by models of the others.
const FOLDS: usize = 5;
/// Inner folds, to learn weights of rules.
const INNER_FOLDS: usize = 3;

/// The references of a file, if they are enough.
pub(super) fn read_enough(path: &Path) -> Result<Vec<Sequence>, ExperimentError> {
    let references = read(path)?;
    let (found, least) = (references.len(), 2 * FOLDS);
    if found < least {
        return Err(ExperimentError::TooFew { path: path.to_path_buf(), found, least });
    }
    Ok(references)
}

/// Their table.
pub(super) fn run(
    name: &str,
    mut references: Vec<Sequence>,
    recipe: &Recipe,
    observe: &mut dyn FnMut(Event),
) -> Result<Vec<Row>, ExperimentError> {
    references.shuffle(&mut StdRng::seed_from_u64(recipe.seed));
    let (mut base, mut ruled) = (Trial::empty(), Trial::empty());
    for fold in 0..FOLDS {
        observe(Event::Stage(format!("{name}: part {} of {FOLDS}", fold + 1)));
        let of_fold = |(at, _): &(usize, Sequence)| at % FOLDS == fold;
        let (own, others): (Vec<_>, Vec<_>) =
            references.iter().cloned().enumerate().partition(of_fold);
        let [own, others] = [own, others]
            .map(|part| part.into_iter().map(|(_, sequence)| sequence).collect::<Vec<_>>());
        let judge = Judge { sequences: &own, leaked: &[], seed: recipe.seed };
        let [plain, with_rules] = part(&judge, &others, recipe, observe)?;
        base.extend(plain);
        ruled.extend(with_rules);
    }
    let judge = Judge { sequences: &references, leaked: &[], seed: recipe.seed };
    let rows =
        vec![judge.row("base", &base, None), judge.row("all-fenchel-young", &ruled, Some(&base))];
    rows.iter().for_each(|row| observe(Event::Row(row.clone())));
    Ok(rows)
}

/// The base model and that with rules, on one part.
fn part(
    judge: &Judge,
    others: &[Sequence],
    recipe: &Recipe,
    observe: &mut dyn FnMut(Event),
) -> Result<[Trial; 2], ExperimentError> {
    let rich = recipe.rich();
    let settings = TrainSettings {
        rules: RuleSettings { folds: Some(INNER_FOLDS), ..rich.rules },
        ..rich.clone()
    };
    let mut training = |event| observe(Event::Training(event));
    let mut base = Base::train(labelled(others), None, &settings, &mut training)?;
    let held_out = base.hold_out(&mut training)?;
    let Candidates { rules, considered } = base.candidates();
    let kept = held_out.worthwhile(&rules, base.states(), &recipe.pruning());
    let rules = recipe.rules(Learner::FenchelYoung);
    let kept = Candidates { rules: kept, considered };
    let learned = base.learn(&held_out, kept, &rules, &mut training)?;
    let test = base.predict(labelled(judge.sequences))?;
    let score = |tagger: &Tagger, efforts| {
        let paths = judge.tag(tagger, &TagOptions::default())?;
        Ok::<Trial, ExperimentError>(judge.judge(tagger.states(), &paths, efforts))
    };
    let (plain, ruled) = (base.tagger(LearnedRules::default())?, base.tagger(learned)?);
    let efforts = efforts(&ruled, &test.predictions, Run::Auto);
    Ok([score(&plain, Vec::new())?, score(&ruled, efforts)?])
}
