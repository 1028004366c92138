use std::sync::Arc;

use bethe_core::{Method, Norm, Settings};
use bethe_experiments::ocr::data::LETTERS;
use bethe_experiments::ocr::energy::{Energy, Search, Statistic};
use bethe_experiments::ocr::lexicon::{Lexicon, counts};
use bethe_experiments::ocr::model::Model;
use bethe_experiments::ocr::reader::{self, Found, Reader};

use super::small::{assignments, lexicon, model, optimum, problem, scores};

const WORDS: [&[u8]; 6] = [&[0, 1, 2], &[2, 1, 0], &[3, 3, 1], &[5, 0, 4], &[1, 4], &[0, 2, 3, 1]];
const STATISTICS: [Statistic; 3] = [
    Statistic::Letters,
    Statistic::Counts { any_length: false },
    Statistic::Counts { any_length: true },
];

fn limits() -> Settings {
    Settings { tolerance: 1e-9, ..reader::settings() }
}

fn infer(model: &Model, energy: &Energy, scores: &[f64], weight: f64) -> (Found, Vec<u8>) {
    let mut reader = Reader::new(model, Some(Arc::new(energy.clone())), limits());
    let found = reader.infer(scores, weight);
    let read = reader.decode(&found);
    (found, read)
}

/// `min_w (2ψT − log Σ_y exp(score(y) + 2ψ·matches(y, w)))`, by enumeration.
fn enumerated_letters(model: &Model, lexicon: &Lexicon, scores: &[f64], weight: f64) -> f64 {
    let length = scores.len() / LETTERS;
    let all = assignments(model, scores);
    let value = |word: &Vec<u8>| {
        let matches = |y: &[u8]| y.iter().zip(word).filter(|(a, b)| a == b).count() as f64;
        let total: f64 = all.iter().map(|(y, s)| (s + 2.0 * weight * matches(y)).exp()).sum();
        2.0 * weight * length as f64 - total.ln()
    };
    let words = lexicon.words().iter().filter(|word| word.len() == length);
    words.map(value).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_best_word_is_that_of_enumeration_over_assignments_and_words() {
    let lexicon = lexicon(&WORDS);
    for seed in 0..6 {
        let (model, scores) = (model(seed), scores(3, seed));
        for weight in [0.3, 1.0, 4.0] {
            let energy = Energy::new(lexicon.clone(), Statistic::Letters, Search::Exact);
            let found = infer(&model, &energy, &scores, weight).0;
            let expected = enumerated_letters(&model, &lexicon, &scores, weight);
            assert!((found.objective - expected).abs() < 1e-9, "{} {expected}", found.objective);
            let local = Energy { search: Search::Local, ..energy };
            assert!(infer(&model, &local, &scores, weight).0.objective >= expected - 1e-9);
        }
    }
}

#[test]
fn exact_search_finds_the_optimum_that_the_core_certifies() {
    let lexicon = lexicon(&WORDS);
    for statistic in STATISTICS {
        for (norm, cap) in [
            (Norm::L1, None),
            (Norm::Huber(0.1), None),
            (Norm::L1, Some(1.1)),
            (Norm::L1, Some(3.0)),
        ] {
            for seed in 0..4 {
                let (model, scores, weight) =
                    (model(seed), scores(3, 10 + seed), 0.7 + seed as f64);
                let search = Search::Exact;
                let energy = Energy { lexicon: lexicon.clone(), statistic, norm, cap, search };
                let found = infer(&model, &energy, &scores, weight).0;
                let expected = optimum(&problem(&model, &scores, &energy, weight));
                let off = found.objective - expected;
                assert!(off.abs() < 1e-5, "{statistic:?} {norm:?} {cap:?} {seed}: {off}");
            }
        }
    }
}

#[test]
fn exact_search_is_the_best_of_searches_with_one_word_each() {
    for statistic in STATISTICS {
        for seed in 0..5 {
            let (model, scores) = (model(seed), scores(3, 20 + seed));
            let of = |words: &[&[u8]]| {
                let energy = Energy::new(lexicon(words), statistic, Search::Exact);
                infer(&model, &energy, &scores, 1.5)
            };
            let fits = |word: &&&[u8]| word.len() == 3 || statistic == STATISTICS[2];
            let single: Vec<_> = WORDS.iter().filter(fits).map(|word| of(&[*word])).collect();
            let best =
                single.iter().min_by(|a, b| a.0.objective.total_cmp(&b.0.objective)).unwrap();
            let (found, read) = of(&WORDS);
            assert!((found.objective - best.0.objective).abs() < 1e-6, "{statistic:?} {seed}");
            assert_eq!(read, best.1, "{statistic:?} {seed}");
        }
    }
}

#[test]
fn a_local_answer_is_the_optimum_of_the_word_it_is_nearest_to() {
    for statistic in STATISTICS {
        for seed in 0..5 {
            let (model, scores, weight) = (model(seed), scores(3, 30 + seed), 2.0);
            let energy = Energy::new(lexicon(&WORDS), statistic, Search::Local);
            let found = infer(&model, &energy, &scores, weight).0;
            let measured = energy.measured(&found.marginals);
            let words = energy.lexicon.words().iter();
            let words = words.filter(|word| word.len() == 3 || statistic == STATISTICS[2]);
            let apart = |word: &Vec<u8>| energy.apart(&measured, &energy.point(word));
            let nearest = words.min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap();
            let alone = Energy { lexicon: lexicon(&[&nearest[..]]), ..energy };
            let expected = optimum(&problem(&model, &scores, &alone, weight));
            assert!((found.objective - expected).abs() < 1e-5, "{statistic:?} {seed}");
        }
    }
}

#[test]
fn the_cores_solvers_end_where_our_own_ways_do() {
    for statistic in STATISTICS {
        let (model, scores) = (model(3), scores(3, 41));
        let energy = Arc::new(Energy::new(lexicon(&WORDS[..1]), statistic, Search::Local));
        let own = infer(&model, &energy, &scores, 1.2).0;
        let rda = Settings {
            method: Method::Rda { beta: 0.0 },
            tolerance: f64::MIN_POSITIVE,
            max_iterations: 4000,
            ..Settings::default()
        };
        let mut reader = Reader::new(&model, Some(energy), rda);
        let theirs = reader.infer(&scores, 1.2);
        let off = (theirs.objective - own.objective).abs();
        assert!(off < 5e-3, "{statistic:?}: {} {}", theirs.objective, own.objective);
    }
}

#[test]
fn marginals_objective_and_distance_belong_together() {
    for statistic in STATISTICS {
        let (model, scores, weight) = (model(1), scores(3, 50), 1.7);
        let energy = Energy::new(lexicon(&WORDS), statistic, Search::Local);
        let found = infer(&model, &energy, &scores, weight).0;
        // The marginals at the tilt, by enumeration.
        let tilted: Vec<f64> = scores.iter().zip(&found.tilt).map(|(s, t)| s + t).collect();
        let all = assignments(&model, &tilted);
        let total: f64 = all.iter().map(|(_, score)| score.exp()).sum();
        let mut marginals = vec![0.0; scores.len()];
        for (letters, score) in &all {
            for (t, &letter) in letters.iter().enumerate() {
                marginals[t * LETTERS + usize::from(letter)] += score.exp() / total;
            }
        }
        assert!((found.log_partition - total.ln()).abs() < 1e-9);
        for (found, expected) in found.marginals.iter().zip(&marginals) {
            assert!((found - expected).abs() < 1e-9);
        }
        let moved: f64 = found.tilt.iter().zip(&marginals).map(|(t, m)| t * m).sum();
        let objective = moved - total.ln() + weight * energy.distance(&marginals);
        assert!((found.objective - objective).abs() < 1e-9, "{statistic:?}");
    }
}

#[test]
fn without_words_or_weight_the_base_model_is_the_answer() {
    let (model, scores) = (model(2), scores(5, 3));
    let base: Vec<u8> = {
        let mut reader = Reader::new(&model, None, limits());
        reader.decode_base(&scores).unwrap().iter().map(|&l| l as u8).collect()
    };
    for statistic in STATISTICS {
        for search in [Search::Local, Search::Exact] {
            let energy = Energy::new(lexicon(&WORDS), statistic, search);
            assert_eq!(infer(&model, &energy, &scores, 0.0).1, base);
            let shorter = Energy { lexicon: lexicon(&[]), ..energy };
            let (found, read) = infer(&model, &shorter, &scores, 2.0);
            assert_eq!((read, found.distance), (base.clone(), 0.0));
        }
    }
}

#[test]
fn a_heavy_weight_reads_the_best_word_of_the_lexicon() {
    for seed in 0..5 {
        let (model, scores) = (model(seed), scores(3, 60 + seed));
        let reader = Reader::new(&model, None, limits());
        let expected = reader.best_of(&lexicon(&WORDS), &scores).unwrap();
        let energy = Energy::new(lexicon(&WORDS), Statistic::Letters, Search::Exact);
        assert_eq!(infer(&model, &energy, &scores, 50.0).1, expected);
        let all = assignments(&model, &scores);
        let known = all.iter().filter(|(letters, _)| WORDS.contains(&&letters[..]));
        let best = known.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(best.0, expected);
    }
}

#[test]
fn a_cap_of_zero_is_no_energy_and_a_wide_one_no_cap() {
    let (model, scores) = (model(4), scores(3, 70));
    for statistic in STATISTICS {
        for search in [Search::Local, Search::Exact] {
            let free = Energy::new(lexicon(&WORDS), statistic, search);
            let capped = |cap| Energy { cap: Some(cap), ..free.clone() };
            let (none, wide) = (capped(0.0), capped(1e3));
            let base = infer(&model, &free, &scores, 0.0).0;
            let found = infer(&model, &none, &scores, 2.0).0;
            assert!((found.objective - base.objective).abs() < 1e-9 && found.tilt == base.tilt);
            let [found, expected] = [&wide, &free].map(|e| infer(&model, e, &scores, 2.0).0);
            assert!((found.objective - expected.objective).abs() < 1e-9);
        }
    }
}

#[test]
fn counts_of_letters_are_those_of_the_word() {
    let found = counts(&[2, 0, 2]);
    assert_eq!((found[0], found[1], found[2], found.iter().sum::<f64>()), (1.0, 0.0, 2.0, 3.0));
}
