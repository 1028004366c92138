//! Sequences of thousands of positions with hundreds of segments.

use super::*;

/// Entries that taggers allow.
const BUDGET: usize = 4 << 20;

/// `B` and `I` of some kinds, and `O`, in a chain with segments of a few positions each. Kind `k`
/// begins in state `2 k`.
fn segments(seed: u64, length: usize, kinds: usize) -> Chain {
    let mut rng = StdRng::seed_from_u64(seed);
    let states = 2 * kinds + 1;
    let goes_on = |state: usize| state % 2 == 1;
    let allowed = |from: usize, to: usize| !goes_on(to) || from == to || from + 1 == to;
    let table: Vec<f64> = (0..states * states)
        .map(|cell| match allowed(cell / states, cell % states) {
            true => rng.random_range(-1.0..1.0),
            false => FORBIDDEN,
        })
        .collect();
    let scores: Vec<f64> = (0..length * states).map(|_| rng.random_range(-2.0..2.0)).collect();
    let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
    Chain::new(model, &scores, Support::new()).unwrap()
}

/// Increments of the states where kinds begin.
fn of(kinds: usize, terms: &[(usize, i32)]) -> Vec<i32> {
    let mut increments = vec![0; 2 * kinds + 1];
    terms.iter().for_each(|&(kind, step)| increments[2 * kind] = step);
    increments
}

/// What decoding has of each kind.
fn decoded(chain: &mut Chain, kinds: usize) -> Vec<i64> {
    let mut plain = vec![0; chain.length()];
    chain.decode(&[], &mut plain);
    (0..kinds).map(|kind| counter(&of(kinds, &[(kind, 1)]), 0, 0).total(&plain)).collect()
}

fn assert_proved(chain: &mut Chain, counters: &[Counter]) {
    let Counted::Best(path) = chain.decode_counted(&[], counters, BUDGET) else {
        panic!("no proof")
    };
    assert!(obeys(counters, &path));
}

#[test]
fn hundreds_of_segments_obey_every_kind_of_rule() {
    for seed in 0..2 {
        let mut chain = segments(seed, 2000, 8);
        let has = decoded(&mut chain, 8);
        assert!(has.iter().sum::<i64>() > 1000, "{has:?}");
        let of = |terms| of(8, terms);
        let equal = counter(&of(&[(0, 1), (1, -1)]), 0, 0);
        let at_most = counter(&of(&[(2, 1)]), ANY_LESS, 1);
        let exactly = counter(&of(&[(3, 1)]), 50, 50);
        let at_least = counter(&of(&[(6, 1), (7, 1)]), has[6] + has[7] + 30, ANY_MORE);
        let implies = counter(&of(&[(4, 1), (2, -10_000)]), ANY_LESS, 0);
        for one in [&equal, &at_most, &exactly, &at_least] {
            assert!(!one.allows(&chain.n_best(&[], 1)[0].assignment));
            assert_proved(&mut chain, std::slice::from_ref(one));
        }
        assert_proved(&mut chain, &[equal, at_most, exactly, at_least, implies]);
    }
}

#[test]
fn rules_that_hang_together_are_proved_too() {
    let mut chain = segments(0, 2000, 8);
    let of = |terms| of(8, terms);
    let counters = [
        counter(&of(&[(0, 1), (1, -1)]), 0, 0),
        counter(&of(&[(1, 1), (2, -1)]), 0, 0),
        counter(&of(&[(2, 1), (3, -1)]), 0, 0),
        counter(&of(&[(4, 1), (5, -1)]), 0, 0),
        counter(&of(&[(5, 1)]), 77, 77),
        counter(&of(&[(6, 1)]), ANY_LESS, 10),
        counter(&of(&[(7, 1)]), 3, 3),
    ];
    assert_proved(&mut chain, &counters);
}

#[test]
fn a_small_budget_finds_an_assignment_that_obeys() {
    let mut chain = segments(1, 2000, 8);
    let of = |terms| of(8, terms);
    let counters = [
        counter(&of(&[(0, 1), (1, -1)]), 0, 0),
        counter(&of(&[(2, 1)]), ANY_LESS, 1),
        counter(&of(&[(3, 1)]), 50, 50),
    ];
    match chain.decode_counted(&[], &counters, 20_000) {
        Counted::Best(path) | Counted::OverBudget { best: Some(path) } => {
            assert!(obeys(&counters, &path));
        }
        nothing => panic!("{nothing:?}"),
    }
}
