//! The module `pybethe._engine`: the Rust crates, with the same words, for Python.
//!
//! [`problem`] states problems, [`options`] reads what a caller asks of a solve, [`run`] solves with the
//! interpreter released, [`answer`] shows what was found. Python adds nothing but names and types.

mod answer;
mod cite;
mod command;
mod energy;
mod files;
mod flows;
mod gradients;
mod html;
mod keywords;
mod layers;
mod marginals;
mod options;
mod problem;
mod reference;
mod run;
mod sequences;
mod solving;
mod tagger;
mod trace;
mod training;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of `pybethe`.
#[pyo3::pymodule]
mod _engine {
    #[pymodule_export]
    use crate::answer::{Answer, Map};
    #[pymodule_export]
    use crate::cite::Bibliography;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::flows::InferredFlows;
    #[pymodule_export]
    use crate::layers::{Projection, fenchel_young};
    #[pymodule_export]
    use crate::marginals::Tables;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::solving::{solve, solve_many};
    #[pymodule_export]
    use crate::tagger::TrainedTagger;
    #[pymodule_export]
    use crate::trace::{Picture, Record};

    /// The version of the engine.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
