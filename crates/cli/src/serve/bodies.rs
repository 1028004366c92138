//! Bodies of requests, with limits on their size, their time, and how many are held at once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failure::Failure;

/// How many requests of the largest size are held at once.
const TOGETHER: usize = 16;
/// A client that needs longer to send a request is dropped.
const SLOWEST: Duration = Duration::from_secs(30);

/// Limits on bodies.
pub struct Bodies {
    /// Bytes of one.
    limit: usize,
    slowest: Duration,
    /// Bytes of all that are held.
    room: Arc<Semaphore>,
}

/// A share of the memory for bodies, held until the work on it has ended.
pub type Room = OwnedSemaphorePermit;

impl Bodies {
    /// Bodies of at most this many bytes.
    pub fn new(limit: usize) -> Self {
        let room = limit.saturating_mul(TOGETHER).min(Semaphore::MAX_PERMITS);
        Self { limit, slowest: SLOWEST, room: Arc::new(Semaphore::new(room)) }
    }

    /// The whole body, if it comes in time, is not too long, and there is room for it.
    pub async fn read(&self, body: Body) -> Result<(Vec<u8>, Room), Failure> {
        let late = |_| Failure::new(StatusCode::REQUEST_TIMEOUT, "the request came too slowly");
        tokio::time::timeout(self.slowest, self.whole(body)).await.map_err(late)?
    }

    async fn whole(&self, body: Body) -> Result<(Vec<u8>, Room), Failure> {
        let (mut bytes, mut chunks) = (Vec::new(), body.into_data_stream());
        let mut room = self.room(0)?;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| bad_request("the request is cut off"))?;
            if bytes.len() + chunk.len() > self.limit {
                let message =
                    format!("the request is too long, expected at most {} bytes", self.limit);
                return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message));
            }
            room.merge(self.room(chunk.len())?);
            bytes.extend_from_slice(&chunk);
        }
        Ok((bytes, room))
    }

    fn room(&self, bytes: usize) -> Result<Room, Failure> {
        let bytes = u32::try_from(bytes).map_err(|_| Failure::busy())?;
        Arc::clone(&self.room).try_acquire_many_owned(bytes).map_err(|_| Failure::busy())
    }

    /// The body as JSON; a mistake is reported with its place.
    pub async fn read_json<T: DeserializeOwned>(&self, body: Body) -> Result<(T, Room), Failure> {
        let (bytes, room) = self.read(body).await?;
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let read = T::deserialize(&mut json).and_then(|read| json.end().map(|()| read));
        let read = read.map_err(|error| bad_request(&format!("the request: {error}")))?;
        Ok((read, room))
    }
}

/// What came is not a valid request.
pub fn bad_request(message: &str) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Bytes;
    use futures_util::stream;

    use super::*;

    fn bodies(limit: usize) -> Bodies {
        Bodies { slowest: Duration::from_millis(50), ..Bodies::new(limit) }
    }

    fn status(read: Result<(Vec<u8>, Room), Failure>) -> u16 {
        read.map_or_else(|failure| failure.status.as_u16(), |_| 200)
    }

    #[tokio::test]
    async fn a_body_has_a_limit() {
        let bodies = bodies(4);
        assert_eq!(status(bodies.read(Body::from("four")).await), 200);
        assert_eq!(status(bodies.read(Body::from("five!")).await), 413);
        let chunks = ["fo", "ur", "!"].map(|own| Ok::<_, Infallible>(Bytes::from(own)));
        assert_eq!(status(bodies.read(Body::from_stream(stream::iter(chunks))).await), 413);
        assert_eq!(status(bodies.read(Body::empty()).await), 200);
    }

    #[tokio::test]
    async fn a_body_that_comes_too_slowly_is_dropped() {
        let begun = stream::once(async { Ok::<_, Infallible>(Bytes::from("{")) });
        let stalled = Body::from_stream(begun.chain(stream::pending()));
        assert_eq!(status(bodies(4).read(stalled).await), 408);
    }

    #[tokio::test]
    async fn bodies_have_a_limit_together() {
        let bodies = bodies(4);
        let mut held = Vec::new();
        for _ in 0..TOGETHER {
            held.push(bodies.read(Body::from("four")).await.unwrap());
        }
        assert_eq!(status(bodies.read(Body::from("a")).await), 503);
        held.pop();
        assert_eq!(status(bodies.read(Body::from("four")).await), 200);
        assert_eq!(
            status(bodies.read(Body::from("five!")).await),
            413,
            "what it took is given back"
        );
        assert_eq!(status(bodies.read(Body::from("four")).await), 200);
    }
}
