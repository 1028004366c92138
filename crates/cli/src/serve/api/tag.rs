//! Sequences to labels.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use bethe_cite::clean;
use bethe_core::Cancel;
use bethe_tagging::data::{Sequence, Sequences};
use bethe_tagging::labels::leaf_segments;
use bethe_tagging::{Input, TagOptions, Tagged, Tagger, Tagging};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::asked::{check_labels, check_number};
use crate::serve::Service;
use crate::serve::failure::Failure;
use crate::tagging::SHARE;

/// The most label sequences that are listed.
const MOST_BEST: usize = 100;

/// A request: one sequence per line, or a column file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    model: Option<String>,
    text: Option<String>,
    columns: Option<String>,
    n_best: Option<usize>,
    rules: Option<bool>,
}

pub async fn tag(State(service): State<Arc<Service>>, body: Body) -> Result<Json<Value>, Failure> {
    let (asked, room): (Asked, _) = service.bodies.read_json(body).await?;
    let place = service.work.place(room)?;
    let own = Arc::clone(&service);
    service.work.run(place, move |cancel| tagged(&own, asked, cancel)).await.map(Json)
}

fn tagged(service: &Service, asked: Asked, cancel: &Cancel) -> Result<Value, Failure> {
    let model = service.models.find(asked.model.as_deref())?;
    let n_best = asked.n_best.unwrap_or(1);
    if !(1..=MOST_BEST).contains(&n_best) {
        return Err(Failure::invalid(format!("n_best: found {n_best}, expected 1 to {MOST_BEST}")));
    }
    if model.tagger.parts().input == Input::Scores {
        return Err(Failure::invalid("model: it reads scores, expected one that reads tokens"));
    }
    let sequences = match (asked.text, asked.columns) {
        (Some(text), None) => {
            let parser = model.reader()?;
            let lines = text.lines().map(|line| clean(line).into_owned());
            let lines = lines.filter(|line| !line.is_empty());
            lines.map(|line| parser.sequence(&line, &parser.tokens(&line))).collect()
        }
        (None, Some(columns)) => {
            let format = model.tagger.parts().input.format();
            let read = Sequences::new(Cursor::new(columns), Path::new("columns"), format);
            let read: Result<Vec<Sequence>, _> = read.within(service.work.memory).collect();
            read.map_err(|error| Failure::invalid(error.to_string()))?
        }
        _ => return Err(Failure::invalid("expected either text or columns")),
    };
    check_number(sequences.len())?;
    check_labels(sequences.iter().map(Sequence::len).sum(), n_best)?;
    let rules = asked.rules.unwrap_or(true);
    let options = TagOptions {
        rules,
        n_best,
        marginals: true,
        label_marginals: true,
        explain: rules,
        memory_limit: service.work.memory,
        ..TagOptions::default()
    };
    let tag = |tagging: &mut Tagging, sequence: &Sequence| {
        if cancel.is_cancelled() {
            return Err(Failure::late());
        }
        let tagged = tagging.tag(sequence, &options);
        let tagged = tagged.map_err(|error| Failure::invalid(error.to_string()))?;
        Ok(shown(&model.tagger, sequence, &tagged))
    };
    let own = sequences.par_iter().with_min_len(SHARE);
    let shown: Vec<Value> =
        own.map_init(|| Tagging::new(&model.tagger), tag).collect::<Result<_, _>>()?;
    Ok(json!({ "labels": model.tagger.labels(), "sequences": shown }))
}

fn shown(tagger: &Tagger, sequence: &Sequence, tagged: &Tagged) -> Value {
    let states = tagger.states();
    let names = |path: &[usize]| -> Vec<&str> { path.iter().map(|&s| states.label(s)).collect() };
    let best = tagged.best.iter().enumerate().map(|(rank, (path, score))| {
        let labels = names(path);
        let named = leaf_segments(states.scheme(), &labels);
        let probabilities = tagged.segments.get(rank).into_iter().flatten();
        let segments = named.iter().zip(probabilities).map(|(segment, &(first, end, own))| {
            json!({ "label": segment.name, "first": first, "end": end, "probability": own })
        });
        json!({
            "segments": segments.collect::<Vec<_>>(),
            "labels": labels,
            "log_probability": score,
            "probabilities": tagged.probabilities.get(rank),
        })
    });
    let marginals = tagged.label_marginals.chunks(tagger.labels().len());
    json!({
        "rows": (0..sequence.len()).map(|t| sequence.row(t)).collect::<Vec<_>>(),
        "best": best.collect::<Vec<_>>(),
        "marginals": marginals.collect::<Vec<_>>(),
        "explanation": tagger.explanation(tagged),
        "without_rules": names(&tagged.plain),
    })
}
