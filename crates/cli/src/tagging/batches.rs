use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_io::{Position, open, open_with_position};
use bethe_tagging::data::{DataError, Format, Sequence, Sequences};
use bethe_tagging::{TagError, TagOptions, Tagged, Tagger, Tagging};
use bethe_terminal::bad_input;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::Scores;

/// How many sequences to tag before writing.
const BATCH: usize = 256;
/// How many sequences a thread takes at once, to reuse its memory.
pub const SHARE: usize = 8;

/// The content of a file in batches. A batch of standard input holds what has arrived, so that a
/// slow writer does not have to wait.
pub enum Batches<T> {
    File(Box<dyn Iterator<Item = Result<T, DataError>>>, Option<Position>),
    Stream(Receiver<Result<T, DataError>>),
}

impl Batches<Sequence> {
    /// Opens a file of sequences, or standard input for `-`. Lines that begin a document are sequences
    /// of their own.
    pub fn open(
        path: &Path,
        format: Format,
        comments: Option<char>,
        memory: MemoryLimit,
    ) -> Result<Self> {
        Self::of(path, move |input, name| {
            Sequences::new(input, name, format).comments(comments).with_documents().within(memory)
        })
    }
}

impl<T: Send + 'static> Batches<T> {
    /// Opens a file, or standard input for `-`; `read` gets its text and name.
    pub fn of<I>(
        path: &Path,
        read: impl FnOnce(Box<dyn BufRead + Send>, &Path) -> I + Send + 'static,
    ) -> Result<Self>
    where
        I: Iterator<Item = Result<T, DataError>> + 'static,
    {
        if path != Path::new("-") {
            let opened = open_with_position(path);
            let (input, position) = opened.map_err(|error| bad_input(error.to_string()))?;
            return Ok(Self::File(Box::new(read(input, path)), position));
        }
        let (sender, receiver) = sync_channel(BATCH);
        thread::spawn(move || {
            let items = match open("-") {
                Ok(input) => read(input, Path::new("standard input")),
                Err(error) => return drop(sender.send(Err(error.into()))),
            };
            for item in items {
                if sender.send(item).is_err() {
                    return;
                }
            }
        });
        Ok(Self::Stream(receiver))
    }

    /// The share of the file that was read, if that is known.
    pub fn share(&mut self) -> Option<f64> {
        match self {
            Self::File(_, position) => position.as_mut()?.share(),
            Self::Stream(_) => None,
        }
    }

    /// The next batch; empty at the end. A mistake in the file has exit code 2.
    pub fn next(&mut self) -> Result<Vec<T>> {
        self.read().map_err(|error| bad_input(error.to_string()))
    }

    /// The same, with the mistake as it is.
    pub fn read(&mut self) -> Result<Vec<T>, DataError> {
        match self {
            Self::File(items, _) => items.take(BATCH).collect(),
            Self::Stream(receiver) => {
                let first = receiver.recv().ok().into_iter();
                first.chain(receiver.try_iter()).take(BATCH).collect()
            }
        }
    }
}

/// A sequence to tag.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    /// By the attributes of its rows.
    Rows(&'a Sequence),
    /// By scores `[positions][labels]`, with or without rows.
    Scores(&'a [f64], Option<&'a Sequence>),
}

impl<'a> Item<'a> {
    /// The items of a batch that begins with sequence `first` of a file; those that begin a document
    /// are none.
    pub fn of_batch(
        batch: &'a [Sequence],
        first: usize,
        scores: Option<&'a Scores>,
    ) -> Result<Vec<Self>> {
        let item = |(index, sequence): (usize, &'a Sequence)| match scores {
            None => Ok(Self::Rows(sequence)),
            Some(scores) => {
                let place = format!("{}:{}", sequence.path().display(), sequence.line(0));
                let scores = scores.for_rows(first + index, &place, sequence.len())?;
                Ok(Self::Scores(scores, Some(sequence)))
            }
        };
        let sequences = batch.iter().filter(|sequence| !sequence.begins_document());
        sequences.enumerate().map(item).collect()
    }
}

/// Tags a batch on all threads; the results are in order.
pub fn tag_all(
    pool: &ThreadPool,
    tagger: &Tagger,
    items: &[Item],
    options: &TagOptions,
) -> Result<Vec<Tagged>, TagError> {
    let tag = |tagging: &mut Tagging, item: &Item| match item {
        Item::Rows(sequence) => tagging.tag(sequence, options),
        Item::Scores(scores, rows) => tagging.tag_scores_of(scores, *rows, options),
    };
    let items = || items.par_iter().with_min_len(SHARE);
    let tagged: Vec<_> = pool.install(|| items().map_init(|| Tagging::new(tagger), tag).collect());
    // The first error in file order, on any number of threads.
    tagged.into_iter().collect()
}
