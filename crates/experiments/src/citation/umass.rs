//! The table of the UMass references.

use bethe_core::Method;
use bethe_learn::energy::Learner;
use rayon::prelude::*;

use super::Event;
use super::convergence::{Effort, Efforts, Run, efforts};
use super::data::Splits;
use super::error::ExperimentError;
use super::families::Family;
use super::recipe::Recipe;
use super::soft_dd::{SoftDual, learn_costs};
use super::table::Row;
use super::trial::{Judge, Trial};
use bethe_tagging::data::Sequence;
use bethe_tagging::rules::{Candidates, Compiled, Rule, Weight, most_segments};
use bethe_tagging::train::{Base, HeldOut, Labelled, LearnedRules};
use bethe_tagging::{RuleTraining, TagOptions, Tagger};

/// Caps on iterations that the first figure is about.
pub(super) const CAPS: [usize; 9] = [1, 2, 3, 5, 7, 10, 15, 20, 40];

/// What the experiment found on these references.
pub(super) struct Outcome {
    pub rows: Vec<Row>,
    /// References to train on, to choose on, to score, and how many of these leaked.
    pub references: [usize; 4],
    pub ours: Ours,
}

/// Models with all rules, looked at more closely.
pub(super) struct Ours {
    /// How the rules of `all-fenchel-young` came about.
    pub rules: RuleTraining,
    /// Its rules in words with their weights, the heaviest first.
    pub weights: Vec<(String, f64)>,
    /// All-level F1 of `all` at each of [`CAPS`], by `rda` and by `auto`.
    pub capped: [Vec<f64>; 2],
    /// What each way to converge took for each reference, under the rules of `all`.
    pub efforts: Vec<Efforts>,
}

/// A table being filled.
struct Table<'a> {
    judge: Judge<'a>,
    recipe: &'a Recipe,
    rows: Vec<Row>,
    observe: &'a mut dyn FnMut(Event),
}

/// Trains and scores all models.
pub(super) fn run(
    splits: &Splits,
    recipe: &Recipe,
    observe: &mut dyn FnMut(Event),
) -> Result<Outcome, ExperimentError> {
    let judge = Judge { sequences: &splits.test, leaked: &splits.leaked, seed: recipe.seed };
    let mut table = Table { judge, recipe, rows: Vec::new(), observe };
    table.paper_recipe(splits)?;
    let learned_from = splits.train_and_dev();
    let ours = table.best_protocol(&learned_from)?;
    let leaked = splits.leaked.iter().filter(|leaked| **leaked).count();
    let references = [splits.train.len(), splits.dev.len(), splits.test.len(), leaked];
    Ok(Outcome { rows: table.rows, references, ours })
}

impl Table<'_> {
    fn stage(&mut self, text: &str) {
        (self.observe)(Event::Stage(text.to_string()));
    }

    fn add(&mut self, model: &str, trial: &Trial, base: Option<&Trial>) {
        let row = self.judge.row(model, trial, base);
        (self.observe)(Event::Row(row.clone()));
        self.rows.push(row);
    }

    /// A base model of training references alone, weights of constraints from the development ones.
    fn paper_recipe(&mut self, splits: &Splits) -> Result<(), ExperimentError> {
        self.stage("base-simple: simple attributes, trained on train");
        let recipe = self.recipe;
        let observe = &mut *self.observe;
        let mut training = |event| observe(Event::Training(event));
        let base = Base::train(labelled(&splits.train), None, recipe.simple(), &mut training)?;
        let plain = base.tagger(LearnedRules::default())?;
        let trial = self.trial(&plain, &[])?;
        self.add("base-simple", &trial, None);
        self.stage("paper-recipe: weights of constraints learned on dev by Algorithm 3");
        let dev = base.predict(labelled(&splits.dev))?;
        let Candidates { rules, considered } = base.candidates();
        let kept = dev.worthwhile(&rules, base.states(), &recipe.paper_pruning());
        let kept = Candidates { rules: kept, considered };
        let observe = &mut *self.observe;
        let mut training = |event| observe(Event::Training(event));
        let learned = base.learn(&dev, kept, &recipe.paper_rules(), &mut training)?;
        let tagger = base.tagger(learned)?;
        let test = base.predict(labelled(self.judge.sequences))?;
        let ruled = self.trial(&tagger, &efforts(&tagger, &test.predictions, Run::Auto))?;
        self.add("paper-recipe", &ruled, Some(&trial));
        Ok(())
    }

    /// Everything learned from train and dev together: the base model directly, weights of
    /// constraints from predictions of models that did not see the truth.
    fn best_protocol(&mut self, learned_from: &[Sequence]) -> Result<Ours, ExperimentError> {
        self.stage("base: all attributes, trained on train and dev");
        let recipe = self.recipe;
        let observe = &mut *self.observe;
        let mut training = |event| observe(Event::Training(event));
        let mut base = Base::train(labelled(learned_from), None, recipe.rich(), &mut training)?;
        let plain = base.tagger(LearnedRules::default())?;
        let base_trial = self.trial(&plain, &[])?;
        self.add("base", &base_trial, None);
        self.stage("predictions for train and dev by models that did not see them");
        let observe = &mut *self.observe;
        let held_out = base.hold_out(&mut |event| observe(Event::Training(event)))?;
        let Candidates { rules, considered } = base.candidates();
        let kept = held_out.worthwhile(&rules, base.states(), &recipe.pruning());
        let test = base.predict(labelled(self.judge.sequences))?;
        let mut bench = Bench { table: self, base, held_out, considered, test, base_trial };
        for family in [Family::Singleton, Family::Hierarchical, Family::Pairwise] {
            let own = family.select(&kept, bench.base.states());
            bench.learned(family.name(), own, Learner::Surrogate)?;
        }
        let all = bench.learned("all", kept.clone(), Learner::Surrogate)?;
        let ours = bench.learned("all-fenchel-young", kept.clone(), Learner::FenchelYoung)?;
        bench.hard(&kept)?;
        bench.soft_dd(&kept)?;
        bench.look_at(&all, &ours)
    }

    /// Tags and scores test references.
    fn trial(&self, tagger: &Tagger, efforts: &[Effort]) -> Result<Trial, ExperimentError> {
        let paths = self.judge.tag(tagger, &TagOptions::default())?;
        Ok(self.judge.judge(tagger.states(), &paths, efforts.to_vec()))
    }
}

/// A base model with what rules for it are learned from and scored on.
struct Bench<'a, 'b> {
    table: &'a mut Table<'b>,
    base: Base,
    held_out: HeldOut,
    /// Rules there were in the beginning.
    considered: usize,
    test: HeldOut,
    base_trial: Trial,
}

impl Bench<'_, '_> {
    /// A row with the weights of some rules learned.
    fn learned(
        &mut self,
        model: &str,
        rules: Vec<Rule>,
        learner: Learner,
    ) -> Result<Tagger, ExperimentError> {
        self.table.stage(&format!("{model}: {} constraints worth a weight", rules.len()));
        let settings = self.table.recipe.rules(learner);
        let observe = &mut *self.table.observe;
        let mut training = |event| observe(Event::Training(event));
        let rules = Candidates { rules, considered: self.considered };
        let learned = self.base.learn(&self.held_out, rules, &settings, &mut training)?;
        let tagger = self.base.tagger(learned)?;
        let efforts = efforts(&tagger, &self.test.predictions, Run::Auto);
        let trial = self.table.trial(&tagger, &efforts)?;
        self.table.add(model, &trial, Some(&self.base_trial));
        Ok(tagger)
    }

    /// All rules as hard ones.
    fn hard(&mut self, rules: &[Rule]) -> Result<(), ExperimentError> {
        self.table.stage("all-hard: no output may break a constraint");
        let hard = |rule: &Rule| Rule { weight: Weight::Hard, ..rule.clone() };
        let hard: Vec<Rule> = rules.iter().map(hard).collect();
        let settings = self.table.recipe.rules(Learner::FenchelYoung);
        let rules = Candidates { rules: hard, considered: self.considered };
        let learned = self.base.learn(&self.held_out, rules, &settings, &mut |_| ())?;
        let tagger = self.base.tagger(learned)?;
        let efforts = efforts(&tagger, &self.test.predictions, Run::Auto);
        let trial = self.table.trial(&tagger, &efforts)?;
        self.table.add("all-hard", &trial, Some(&self.base_trial));
        Ok(())
    }

    /// Anzaroot et al.: labels by soft dual decomposition, costs by a perceptron.
    fn soft_dd(&mut self, rules: &[Rule]) -> Result<(), ExperimentError> {
        self.table.stage("soft-dd: costs by a perceptron, labels by dual decomposition");
        let states = self.base.states();
        let truths = self.held_out.predictions.iter().map(|one| &one.truth);
        let compiled = Compiled::new(rules, states, &most_segments(states, truths))?;
        let costs = learn_costs(&compiled.rules, &self.held_out.examples(&compiled.space));
        let model = std::sync::Arc::new(compiled.space.chain_model(&self.test.tables[0]));
        let memory = || (SoftDual::new(&compiled.rules), Vec::new());
        let decode = |(decoder, wide): &mut (SoftDual, Vec<f64>), scores: &Vec<f64>| {
            compiled.space.widen(scores, wide);
            let (path, calls, converged) = decoder.decode(&model, wide, &costs);
            let path: Vec<usize> = path.iter().map(|&state| compiled.space.state(state)).collect();
            (path, Effort { iterations: calls, calls, converged, active: calls > 1 })
        };
        let scores: Vec<&Vec<f64>> = self.test.predictions.iter().map(|one| &one.scores).collect();
        let decoded = scores.into_par_iter().map_init(memory, decode);
        let (paths, efforts): (Vec<Vec<usize>>, Vec<Effort>) = decoded.unzip();
        let trial = self.table.judge.judge(states, &paths, efforts);
        self.table.add("soft-dd", &trial, Some(&self.base_trial));
        Ok(())
    }

    /// Iterations of the paper's model, rules of ours.
    fn look_at(self, all: &Tagger, ours: &Tagger) -> Result<Ours, ExperimentError> {
        self.table.stage("iterations of all");
        let capped = [Method::Rda { beta: 0.0 }, Method::Auto].map(|method| {
            let at = |&cap: &usize| {
                let mut options = TagOptions::default();
                options.inference.method = method;
                options.inference.max_iterations = cap;
                let paths = self.table.judge.tag(all, &options)?;
                Ok(self.table.judge.judge(all.states(), &paths, Vec::new()).all_f1())
            };
            CAPS.iter().map(at).collect::<Result<Vec<f64>, ExperimentError>>()
        });
        let [rda, auto] = capped;
        let of = |run| Efforts { run, all: efforts(all, &self.test.predictions, run) };
        let efforts = Run::ALL.map(of).into();
        let words = |&(rule, weight): &(&Rule, f64)| (rule.in_words(ours.states()), weight);
        Ok(Ours {
            rules: ours.parts().training.rules.clone().unwrap_or_default(),
            weights: ours.rules().iter().map(words).collect(),
            capped: [rda?, auto?],
            efforts,
        })
    }
}

pub(super) fn labelled(sequences: &[Sequence]) -> Labelled<'_> {
    Labelled { sequences, scores: None }
}
