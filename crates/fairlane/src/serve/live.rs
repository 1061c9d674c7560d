//! The stream of progress, as server-sent events (WHATWG HTML, section 9.2).

use super::App;
use crate::progress;
use axum::body::{Body, Bytes};
use futures_util::stream;
use model::page::Live;
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;

/// Streams at once: windows of one person, or of a few.
pub const MOST_WATCHERS: usize = 16;
/// How often progress is looked at while somebody watches.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A running race whose phase lasts is told again, for its clock.
const TELL_AT_LEAST: Duration = Duration::from_secs(2);
/// A comment keeps an idle connection open, and finds out that nobody listens any more.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The last look, which all streams share.
#[derive(Default)]
pub struct Glance(Mutex<Option<(Instant, Live)>>);

impl Glance {
    fn look(&self, folder: &Path) -> Live {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, live)) if at.elapsed() < LOOK_EVERY / 2 => live.clone(),
            _ => {
                let live = progress::running(folder);
                *last = Some((Instant::now(), live.clone()));
                live
            }
        }
    }
}

/// One client's stream.
struct Watch {
    app: Arc<App>,
    stop: watch::Receiver<bool>,
    told: Option<(Instant, Live)>,
    _place: OwnedSemaphorePermit,
}

/// The body of the answer: what is known at once, then each change, until the client leaves or the server
/// is asked to stop.
pub fn body(app: Arc<App>, place: OwnedSemaphorePermit) -> Body {
    let watch = Watch { stop: app.stop.clone(), app, told: None, _place: place };
    Body::from_stream(stream::unfold(watch, |mut watch| async move {
        let bytes = watch.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), watch))
    }))
}

impl Watch {
    /// `None`: the server stops.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let live = self.app.live.look(&self.app.folder);
            if let Some(text) = self.due(&live) {
                self.told = Some((Instant::now(), live));
                return Some(text.into());
            }
            if timeout(LOOK_EVERY, self.stop.wait_for(|stop| *stop)).await.is_ok() {
                return None;
            }
        }
    }

    /// What has to be said now.
    fn due(&self, live: &Live) -> Option<String> {
        let Some((at, told)) = &self.told else { return Some(event(live)) };
        let (silent, clock) = (at.elapsed(), *live != Live::Idle);
        match () {
            () if differs(told, live) || clock && silent >= TELL_AT_LEAST => Some(event(live)),
            () if silent >= SIGN_OF_LIFE => Some(":\n\n".to_owned()),
            () => None,
        }
    }
}

/// One event; JSON of one line needs no more than this.
fn event(live: &Live) -> String {
    let json = serde_json::to_string(live).unwrap_or_else(|error| unreachable!("plain data is JSON: {error}"));
    format!("data: {json}\n\n")
}

/// Whether anything but the clock moved.
fn differs(told: &Live, live: &Live) -> bool {
    let still = |live: &Live| {
        let mut live = live.clone();
        if let Live::Running { elapsed_seconds, .. } = &mut live {
            *elapsed_seconds = 0.0;
        }
        live
    };
    still(told) != still(live)
}
