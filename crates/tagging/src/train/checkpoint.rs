//! The state of training on disk, to continue after an interruption.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bethe_learn::archive::{Archive, ArchiveError};
use bethe_learn::optimise::{AdaGrad, QuasiNewton, State};
use serde::{Deserialize, Serialize};

use super::TrainError;
use super::base::{BestOnDev, Fitted};
use super::settings::TrainSettings;

/// Models that were trained in full, and the one that is being trained.
pub(super) struct Checkpoint {
    path: Option<PathBuf>,
    /// A fingerprint of data and settings; a checkpoint of others is refused.
    fingerprint: String,
    /// Weights of the models that are done, with their loss and iterations.
    done: Vec<Fitted>,
    /// The model in training, until it is resumed.
    current: Option<Current>,
    written: Instant,
    interval: Duration,
    interrupt: Option<Arc<AtomicBool>>,
}

/// A model in training.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) progress: Progress,
    pub(super) best: Option<BestOnDev>,
}

#[derive(Clone, Debug)]
pub(super) enum Progress {
    QuasiNewton(State),
    /// With the passes that are done, and the loss of the latest.
    AdaGrad(AdaGrad, usize, f64),
}

/// A model in training as it is saved: what [`Current`] will be, without a copy.
pub(super) struct Running<'a> {
    pub(super) optimiser: RunningOptimiser<'a>,
    pub(super) best: Option<&'a BestOnDev>,
}

pub(super) enum RunningOptimiser<'a> {
    QuasiNewton(&'a QuasiNewton),
    AdaGrad(&'a AdaGrad, usize, f64),
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    checkpoint: String,
    done: Vec<(f64, usize)>,
    current: Option<StoredOptimiser>,
    best: Option<(f64, usize)>,
}

#[derive(Serialize, Deserialize)]
enum StoredOptimiser {
    QuasiNewton { pairs: usize, iterations: usize },
    AdaGrad { rate: f64, steps: u64, passes: usize, loss: f64 },
}

impl StoredOptimiser {
    fn of(optimiser: &RunningOptimiser) -> Self {
        match optimiser {
            RunningOptimiser::QuasiNewton(minimiser) => {
                let pairs = minimiser.pairs().count();
                Self::QuasiNewton { pairs, iterations: minimiser.iterations() }
            }
            &RunningOptimiser::AdaGrad(descent, passes, loss) => {
                Self::AdaGrad { rate: descent.rate, steps: descent.steps, passes, loss }
            }
        }
    }
}

impl Checkpoint {
    /// Reads what an interrupted run of the same data and settings left, if anything. Any other file
    /// of that name is refused: it is not ours to replace.
    pub(super) fn open(settings: &TrainSettings, fingerprint: String) -> Result<Self, TrainError> {
        let path = settings.checkpoint.as_deref();
        let mut checkpoint = Self {
            path: path.map(Path::to_path_buf),
            fingerprint,
            done: Vec::new(),
            current: None,
            written: Instant::now(),
            interval: settings.checkpoint_interval,
            interrupt: settings.interrupt.clone(),
        };
        if let Some(path) = path.filter(|path| path.symlink_metadata().is_ok()) {
            let not_ours = |error| TrainError::NotACheckpoint { path: path.to_path_buf(), error };
            let archive = Archive::read_within(path, settings.memory_limit).map_err(not_ours)?;
            if !checkpoint.take_up(&archive).map_err(not_ours)? {
                return Err(TrainError::OtherCheckpoint { path: path.to_path_buf() });
            }
        }
        Ok(checkpoint)
    }

    /// Whether an earlier run is being continued.
    pub(super) fn resumes(&self) -> bool {
        !self.done.is_empty() || self.current.is_some()
    }

    /// A model that is done.
    pub(super) fn done(&self, model: usize) -> Option<Fitted> {
        self.done.get(model).cloned()
    }

    /// The model that was being trained.
    pub(super) fn take_current(&mut self) -> Option<Current> {
        self.current.take()
    }

    /// Records a finished model.
    pub(super) fn finish(&mut self, model: &Fitted) -> Result<(), TrainError> {
        self.current = None;
        if self.path.is_some() {
            self.done.push(model.clone());
            self.write(None)?;
        }
        self.go_on()
    }

    /// Writes the state of the model in training, if it is time or training is to stop.
    pub(super) fn note(&mut self, running: Running) -> Result<(), TrainError> {
        let due = self.is_interrupted() || self.written.elapsed() >= self.interval;
        if due && self.path.is_some() {
            self.write(Some(running))?;
        }
        self.go_on()
    }

    /// Whether training should stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }

    /// An error if training should stop; the state is on disk.
    pub(super) fn go_on(&self) -> Result<(), TrainError> {
        if self.is_interrupted() { Err(TrainError::Interrupted) } else { Ok(()) }
    }

    fn write(&mut self, running: Option<Running>) -> Result<(), ArchiveError> {
        let Some(path) = &self.path else { return Ok(()) };
        let metadata = Metadata {
            checkpoint: self.fingerprint.clone(),
            done: self.done.iter().map(|model| (model.loss, model.iterations)).collect(),
            current: running.as_ref().map(|running| StoredOptimiser::of(&running.optimiser)),
            best: running
                .as_ref()
                .and_then(|running| running.best)
                .map(|best| (best.f1, best.since)),
        };
        let mut archive = Archive::new(&metadata);
        for (model, Fitted { weights, .. }) in self.done.iter().enumerate() {
            archive.insert(&format!("done.{model}"), &[weights.len()], weights);
        }
        if let Some(Running { optimiser, best }) = &running {
            match optimiser {
                RunningOptimiser::QuasiNewton(minimiser) => {
                    let values: Vec<f64> = minimiser.values().collect();
                    archive.insert("weights", &[minimiser.weights().len()], minimiser.weights());
                    archive.insert("gradient", &[minimiser.gradient().len()], minimiser.gradient());
                    archive.insert("values", &[values.len()], &values);
                    for (pair, (step, change)) in minimiser.pairs().enumerate() {
                        archive.insert(&format!("step.{pair}"), &[step.len()], step);
                        archive.insert(&format!("change.{pair}"), &[change.len()], change);
                    }
                }
                RunningOptimiser::AdaGrad(descent, ..) => {
                    let AdaGrad { weights, squares, moves, .. } = descent;
                    archive.insert("weights", &[weights.len()], weights);
                    archive.insert("squares", &[squares.len()], squares);
                    archive.insert("moves", &[moves.len()], moves);
                }
            }
            if let Some(BestOnDev { weights, .. }) = best {
                archive.insert("best", &[weights.len()], weights);
            }
        }
        self.written = Instant::now();
        archive.write(path)
    }

    /// Goes on where the archive stops; false if it is of other data or settings.
    fn take_up(&mut self, archive: &Archive) -> Result<bool, ArchiveError> {
        let metadata: Metadata = archive.metadata()?;
        if metadata.checkpoint != self.fingerprint {
            return Ok(false);
        }
        let mut done = Vec::new();
        for (model, &(loss, iterations)) in metadata.done.iter().enumerate() {
            let weights = archive.values(&format!("done.{model}"))?;
            done.push(Fitted { weights, loss, iterations });
        }
        let progress = match metadata.current {
            None => None,
            Some(StoredOptimiser::QuasiNewton { pairs, iterations }) => {
                let pair = |pair: usize| {
                    let step = archive.values(&format!("step.{pair}"))?;
                    Ok((step, archive.values(&format!("change.{pair}"))?))
                };
                Some(Progress::QuasiNewton(State {
                    weights: archive.values("weights")?,
                    gradient: archive.values("gradient")?,
                    values: archive.values("values")?,
                    pairs: (0..pairs).map(pair).collect::<Result<_, ArchiveError>>()?,
                    iterations,
                }))
            }
            Some(StoredOptimiser::AdaGrad { rate, steps, passes, loss }) => {
                let descent = AdaGrad {
                    rate,
                    weights: archive.values("weights")?,
                    squares: archive.values("squares")?,
                    moves: archive.values("moves")?,
                    steps,
                };
                Some(Progress::AdaGrad(descent, passes, loss))
            }
        };
        let best = match metadata.best {
            Some((f1, since)) => Some(BestOnDev { weights: archive.values("best")?, f1, since }),
            None => None,
        };
        self.done = done;
        self.current = progress.map(|progress| Current { progress, best });
        Ok(true)
    }
}
