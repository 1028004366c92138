//! The table of the UMass references.

use bethe_learn::energy::Learner;

use super::Event;
use super::convergence::{Answer, CAPS, Effort, Efforts, Look, Run, decodings, efforts};
use super::data::Splits;
use super::error::ExperimentError;
use super::families::Family;
use super::recipe::Recipe;
use super::table::Row;
use super::trial::{Judge, Trial};
use bethe_tagging::data::Sequence;
use bethe_tagging::rules::{Candidates, Rule, Weight};
use bethe_tagging::train::{Base, HeldOut, Labelled, LearnedRules};
use bethe_tagging::{RuleTraining, TagOptions, Tagger};

/// What the experiment found on these references.
pub(super) struct Outcome {
    pub rows: Vec<Row>,
    /// References to train on, to choose on, to score, and how many of these leaked.
    pub references: [usize; 4],
    pub ours: Ours,
    /// How inference goes under the rules of `paper-recipe`, and of `all`.
    pub looks: Vec<Look>,
}

/// The rules of `all-fenchel-young`.
pub(super) struct Ours {
    /// How they came about.
    pub rules: RuleTraining,
    /// In words with their weights, the heaviest first.
    pub weights: Vec<(String, f64)>,
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
    let paper = table.paper_recipe(splits)?;
    let learned_from = splits.train_and_dev();
    let (ours, all) = table.best_protocol(&learned_from)?;
    let leaked = splits.leaked.iter().filter(|leaked| **leaked).count();
    let references = [splits.train.len(), splits.dev.len(), splits.test.len(), leaked];
    Ok(Outcome { rows: table.rows, references, ours, looks: vec![paper, all] })
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
    fn paper_recipe(&mut self, splits: &Splits) -> Result<Look, ExperimentError> {
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
        self.stage("iterations of paper-recipe");
        self.look("paper-recipe", &tagger, &test)
    }

    /// Everything learned from train and dev together: the base model directly, weights of
    /// constraints from predictions of models that did not see the truth.
    fn best_protocol(
        &mut self,
        learned_from: &[Sequence],
    ) -> Result<(Ours, Look), ExperimentError> {
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
        bench.table.stage("iterations of all");
        let look = bench.table.look("all", &all, &bench.test)?;
        let words = |&(rule, weight): &(&Rule, f64)| (rule.in_words(ours.states()), weight);
        let rules = ours.parts().training.rules.clone().unwrap_or_default();
        Ok((Ours { rules, weights: ours.rules().iter().map(words).collect() }, look))
    }

    /// How inference goes under the rules of a model.
    fn look(
        &self,
        model: &'static str,
        tagger: &Tagger,
        test: &HeldOut,
    ) -> Result<Look, ExperimentError> {
        let at = |answer: Answer, cap: usize| {
            let mut options = TagOptions::default();
            (options.inference.method, options.inference.returned) = answer.settings();
            options.inference.max_iterations = cap;
            let paths = self.judge.tag(tagger, &options)?;
            Ok(self.judge.judge(tagger.states(), &paths, Vec::new()).all_f1())
        };
        let capped = |&answer: &Answer| CAPS.iter().map(|&cap| at(answer, cap)).collect();
        let capped: Result<_, ExperimentError> = Answer::ALL.iter().map(capped).collect();
        let of = |run| Efforts { run, all: efforts(tagger, &test.predictions, run) };
        Ok(Look { model, capped: capped?, efforts: Run::ALL.map(of).into() })
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
        let settings = self.table.recipe.soft_dd();
        let rules = Candidates { rules: rules.to_vec(), considered: self.considered };
        let learned = self.base.learn(&self.held_out, rules, &settings, &mut |_| ())?;
        let tagger = self.base.tagger(learned)?;
        let efforts = decodings(&tagger, &self.test.predictions);
        let trial = self.table.trial(&tagger, &efforts)?;
        self.table.add("soft-dd", &trial, Some(&self.base_trial));
        Ok(())
    }
}

pub(super) fn labelled(sequences: &[Sequence]) -> Labelled<'_> {
    Labelled { sequences, scores: None }
}
