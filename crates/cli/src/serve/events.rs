//! Answers of long work: one JSON text at the end, or events while it goes on.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bethe_core::Cancel;
use futures_util::stream::unfold;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Service;
use super::failure::Failure;
use super::work::Place;

/// How many events wait for a slow reader; further ones are dropped, but never the last.
const WAITING: usize = 256;

/// Sends an event while work goes on.
pub struct Teller(Option<Sender<(&'static str, Value)>>);

impl Teller {
    /// Nobody waits for these: a reader that is too slow misses some.
    pub fn tell(&self, event: &'static str, value: impl FnOnce() -> Value) {
        if let Some(sender) = &self.0
            && sender.capacity() > 1
        {
            let _ = sender.try_send((event, value()));
        }
    }
}

/// Does work and answers as the request wants it: events end with `answer` or `error`.
pub async fn answer(
    service: &Arc<Service>,
    (headers, place): (&HeaderMap, Place),
    work: impl FnOnce(&Cancel, &Teller) -> Result<Value, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    if !wants_events(headers) {
        let done = service.work.run(place, move |cancel| work(cancel, &Teller(None))).await?;
        return Ok(Json(done).into_response());
    }
    let (sender, receiver) = channel(WAITING);
    let teller = Teller(Some(sender.clone()));
    let service = Arc::clone(service);
    tokio::spawn(async move {
        let ended = async {
            match service.work.run(place, move |cancel| work(cancel, &teller)).await {
                Ok(answer) => ("answer", answer),
                Err(failure) => ("error", json!({ "error": failure.message })),
            }
        };
        // If the reader is gone, so is the reason to work.
        tokio::select! {
            ended = ended => drop(sender.send(ended).await),
            () = sender.closed() => {}
        }
    });
    Ok(streamed(receiver))
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

fn streamed(receiver: Receiver<(&'static str, Value)>) -> Response {
    let events = unfold(receiver, |mut receiver| async move {
        let (name, value) = receiver.recv().await?;
        let event = Event::default().event(name).data(value.to_string());
        Some((Ok::<_, Infallible>(event), receiver))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
