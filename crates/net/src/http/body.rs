//! Whole bodies, within a limit and a deadline.

use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use tokio::time::timeout;

use super::BodyLimits;

/// Why a body is not there. The peer's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is longer than the limit.
    #[error("body of more than {max} bytes")]
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// It did not come in time.
    #[error("body took longer than {0:?}")]
    Timeout(Duration),
    /// The connection ended, or what came is no body.
    #[error("body ended early")]
    Broken(#[source] Box<dyn StdError + Send + Sync>),
}

impl BodyError {
    /// The status to answer with.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Room that an announced length gets before anything has come.
const MAX_ANNOUNCED: usize = 64 << 10;

/// Reads a whole body. Hot: one that came together with its head is taken as
/// it is, without a copy and without a timer.
///
/// # Errors
/// [`BodyError`], for a body that is announced to be too long at once.
pub async fn collect<B>(body: B, limits: &BodyLimits) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let max = limits.max_len;
    if body.size_hint().lower() > max as u64 {
        return Err(BodyError::TooLong { max });
    }
    let mut reading = pin!(read(body, max));
    let at_once = poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx))).await;
    if let Poll::Ready(result) = at_once {
        return result;
    }
    // Boxed, since a timer is larger than all the rest and seldom needed.
    match Box::pin(timeout(limits.timeout, reading)).await {
        Ok(result) => result,
        Err(_) => Err(BodyError::Timeout(limits.timeout)),
    }
}

async fn read<B>(body: B, max: usize) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut body = pin!(body);
    let Some(first) = next(body.as_mut(), 0, max).await? else {
        return Ok(Bytes::new());
    };
    let Some(second) = next(body.as_mut(), first.len(), max).await? else {
        return Ok(first);
    };
    let announced = body.size_hint().lower().min(MAX_ANNOUNCED as u64) as usize;
    let mut all = BytesMut::with_capacity(first.len() + second.len() + announced);
    all.extend_from_slice(&first);
    all.extend_from_slice(&second);
    while let Some(piece) = next(body.as_mut(), all.len(), max).await? {
        all.extend_from_slice(&piece);
    }
    Ok(all.freeze())
}

/// The piece of a body that follows `so_far` bytes; trailers are left out.
async fn next<B>(mut body: Pin<&mut B>, so_far: usize, max: usize) -> Result<Option<Bytes>, BodyError>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    loop {
        let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
        let Some(frame) = frame else {
            return Ok(None);
        };
        let frame = frame.map_err(|error| BodyError::Broken(error.into()))?;
        if let Ok(mut data) = frame.into_data() {
            let len = data.remaining();
            if len > max - so_far {
                return Err(BodyError::TooLong { max });
            }
            return Ok(Some(data.copy_to_bytes(len)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::Context;

    use http_body::{Frame, SizeHint};

    use super::*;

    /// A body in pieces, with or without an announced length, that may never end.
    struct Pieces {
        pieces: VecDeque<&'static str>,
        announced: u64,
        ends: bool,
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.pieces.pop_front() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))),
                None if self.ends => Poll::Ready(None),
                None => Poll::Pending,
            }
        }

        fn size_hint(&self) -> SizeHint {
            let mut hint = SizeHint::new();
            hint.set_lower(self.announced);
            hint
        }
    }

    async fn collected(pieces: &[&'static str], announced: u64, ends: bool) -> Result<Bytes, BodyError> {
        let limits = BodyLimits { max_len: 5, timeout: Duration::from_secs(1) };
        let pieces = pieces.iter().copied().collect();
        collect(Pieces { pieces, announced, ends }, &limits).await
    }

    #[tokio::test]
    async fn pieces_are_joined_up_to_the_limit() {
        async fn check(pieces: &[&'static str], expected: Option<&str>) {
            let result = collected(pieces, 0, true).await;
            match (result, expected) {
                (Ok(all), Some(expected)) => assert_eq!(all, expected),
                (Err(BodyError::TooLong { max: 5 }), None) => {}
                (result, _) => panic!("{pieces:?}: {result:?}"),
            }
        }
        check(&[], Some("")).await;
        check(&["abc"], Some("abc")).await;
        check(&["ab", "", "c", "de"], Some("abcde")).await;
        check(&["abcdef"], None).await;
        check(&["ab", "c", "def"], None).await;
    }

    #[tokio::test]
    async fn an_announced_length_above_the_limit_is_refused_at_once() {
        let result = collected(&[], 6, false).await;
        assert!(matches!(result, Err(BodyError::TooLong { max: 5 })), "{result:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_given_up() {
        let result = collected(&["abc"], 5, false).await;
        assert!(matches!(result, Err(BodyError::Timeout(_))), "{result:?}");
    }
}
