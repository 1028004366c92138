//! Nothing is allocated in a solver's loop: after the first call, an oracle call costs no
//! allocation, and after the first iterations no iteration of a solver does.

// A global allocator cannot be written without it.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use bethe_core::model::{BaseModel, Model};
use bethe_core::oracle::Oracle;
use bethe_core::oracle::chain::{Chain, ChainModel};
use bethe_core::solve::{Record, Task, solve};
use bethe_core::support::Support;
use bethe_core::{Energy, Method, Norm, Penalty, Problem, Settings, StepSchedule, Tables, Term};

thread_local! {
    /// Allocations of this thread; the test harness's other threads do not count.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every request is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `run` runs.
fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

/// Asks for marginals and an assignment at several tilts, some of them extreme.
fn assert_no_allocation(oracle: &mut dyn Oracle, variables: usize) {
    let mut tilt = vec![0.0; oracle.support().len()];
    let mut marginals = tilt.clone();
    let mut assignment = vec![0; variables];
    let mut call = |oracle: &mut dyn Oracle, reach: f64| {
        for (k, tilt) in tilt.iter_mut().enumerate() {
            *tilt = reach * ((k * 7 % 11) as f64 - 5.0);
        }
        oracle.tilted(&tilt, &mut marginals);
        oracle.decode(&tilt, &mut assignment);
    };
    call(oracle, 0.1);
    for reach in [0.1, 1.0, 20.0, 300.0, 0.0] {
        assert_eq!(allocations(|| call(oracle, reach)), 0, "with tilts up to {}", 5.0 * reach);
    }
}

/// Node scores or transitions that are far apart, so that some calls need the log domain.
fn spread(cells: usize, scale: f64) -> Vec<f64> {
    (0..cells).map(|k| scale * ((k * 5 % 13) as f64 - 6.0)).collect()
}

fn supports(length: usize, states: usize) -> [Support; 4] {
    let [mut nodes, mut counts, mut edges] = [(); 3].map(|()| Support::new());
    for t in 0..length {
        nodes.add(vec![t], states);
    }
    counts.add((0..length).collect(), states);
    edges.add((length..2 * length - 1).collect(), states * states);
    [Support::new(), nodes, counts, edges]
}

#[test]
fn a_chain_does_not_allocate_after_the_first_call() {
    let (length, states) = (12, 9);
    for scale in [0.5, 100.0] {
        let transitions = spread(states * states, scale);
        let model = Arc::new(ChainModel::homogeneous(states, &transitions).unwrap());
        let node_scores = spread(length * states, scale);
        for support in supports(length, states) {
            let mut chain = Chain::new(model.clone(), &node_scores, support).unwrap();
            assert_no_allocation(&mut chain, length);
        }
    }
}

#[test]
fn loading_a_sequence_that_fits_allocates_nothing_but_its_support() {
    let states = 9;
    let model = Arc::new(ChainModel::homogeneous(states, &spread(81, 0.5)).unwrap());
    for which in 0..4 {
        let [long, short] = [30, 11].map(|length| spread(length * states, 0.5));
        let [first, second, third] =
            [30, 11, 30].map(|length| supports(length, states)[which].clone());
        let mut chain = Chain::new(model.clone(), &long, first).unwrap();
        let count = allocations(|| {
            chain.load(&short, second).unwrap();
            chain.load(&long, third).unwrap();
        });
        assert_eq!(count, 0);
    }
}

#[test]
fn a_union_of_paths_does_not_allocate_after_the_first_call() {
    let mut model = Model::new(&[3, 4, 3, 2, 3]).unwrap();
    model.add_factor(&[2, 0], &spread(9, 1.0)).unwrap();
    model.add_factor(&[1, 2], &spread(12, 1.0)).unwrap();
    let base = BaseModel::new(&model, []).unwrap();
    let mut support = Support::new();
    support.add(vec![0, 2, 4], 3);
    support.add(vec![5], 9);
    let mut chain = Chain::from_base(&base, &support).unwrap();
    assert_no_allocation(&mut chain, 5);
}

/// A chain, or a cycle (which a junction tree serves), with counts and a coupling on it.
fn problem(cycle: bool, energies: Vec<Energy>) -> Problem {
    let (length, states) = (8, 3);
    let mut model = Model::new(&vec![states; length]).unwrap();
    for v in 0..length {
        model.add_factor(&[v], &spread(states, 0.1 * (v as f64 - 3.5))).unwrap();
        if v > 0 || cycle {
            model.add_factor(&[(v + length - 1) % length, v], &spread(9, 0.2)).unwrap();
        }
    }
    Problem::new(model, energies).unwrap()
}

fn count(penalty: Penalty, offset: f64) -> Energy {
    let terms = (0..8).map(|v| Term { scope: vec![v], coefficients: vec![0.0, 1.0, -0.5] });
    Energy::Measurement { weight: 4.0, penalty, offset, terms: terms.collect() }
}

fn coupling() -> Energy {
    let log_potentials = spread(9, 0.1);
    Energy::Product { scope: vec![0, 5], log_potentials }
}

fn dictionary() -> Energy {
    let one = |v: usize| vec![Term { scope: vec![v], coefficients: vec![0.0, 1.0, 0.0] }];
    Energy::Nearest {
        weight: 9.0,
        norm: Norm::Huber(0.2),
        cap: None,
        measurements: (0..8).map(one).collect(),
        points: vec![vec![0.5; 8], vec![0.1; 8]],
    }
}

/// Allocations between the third iteration and the last, and the number of iterations.
fn allocations_of_a_solve(problem: &Problem, method: Method) -> (usize, usize) {
    let mut bound = problem.bind().unwrap();
    let (mut at_third, mut at_last, mut iterations) = (0, 0, 0);
    let mut observer = |record: &Record, _: &[f64]| {
        iterations = record.iteration;
        at_last = ALLOCATIONS.get();
        if record.iteration == 3 {
            at_third = at_last;
        }
        ControlFlow::Continue(())
    };
    let task = Task { marginals: Tables::None, ..bound.task() };
    let settings = Settings { method, tolerance: 1e-14, max_iterations: 60, ..Settings::default() };
    solve(task, &settings, &mut observer).unwrap();
    (at_last - at_third, iterations)
}

#[test]
fn no_iteration_of_a_solver_allocates() {
    let smooth = || vec![count(Penalty::SmoothedHinge, -2.0), count(Penalty::Squared, -3.0)];
    let cases = [
        (Method::Rda { beta: 0.0 }, smooth()),
        (Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) }, smooth()),
        (Method::AcceleratedRda { smoothness: None }, smooth()),
        (Method::Adaptive, smooth()),
        (Method::Adaptive, vec![coupling(), count(Penalty::Squared, -3.0)]),
        (Method::Dual, vec![count(Penalty::Absolute, -2.0), count(Penalty::Hinge, -1.0)]),
        (Method::Dual, vec![count(Penalty::Poisson { rate: 2.0, count: 3.0 }, 5.0)]),
        (Method::Auto, vec![coupling(), count(Penalty::Squared, -3.0)]),
        (Method::Auto, vec![dictionary()]),
    ];
    for cycle in [false, true] {
        for (method, energies) in &cases {
            let (count, iterations) =
                allocations_of_a_solve(&problem(cycle, energies.clone()), *method);
            assert!(iterations > 3, "{method:?} took {iterations} iterations");
            assert_eq!(count, 0, "{method:?}, cycle {cycle}, {iterations} iterations");
        }
    }
}
