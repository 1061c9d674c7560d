//! The answers: which path gives what.

use super::guard::{self, Guard};
use super::record_store::RecordStore;
use super::{App, live, page, record_store};
use crate::commands::screening;
use crate::listing;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use model::page::Comparisons;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use tokio::task::spawn_blocking;

const JSON: &str = "application/json";
/// What is read of a record at once when it is downloaded.
const PIECE_BYTES: usize = 256 << 10;
/// Records that are compared at once.
const MOST_COMPARED: usize = 16;

/// No answer, and why: one sentence, as JSON.
#[derive(Debug, Clone)]
pub struct Refusal {
    status: StatusCode,
    sentence: String,
    header: Option<(HeaderName, &'static str)>,
}

impl Refusal {
    /// A refusal that says the fact, then the remedy.
    pub fn new(status: StatusCode, sentence: String) -> Self {
        Refusal { status, sentence, header: None }
    }

    /// The same with a header that the status asks for.
    pub fn with(self, name: HeaderName, value: &'static str) -> Self {
        Refusal { header: Some((name, value)), ..self }
    }

    /// Its status.
    #[cfg(test)]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    fn bad(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, sentence.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.sentence }).to_string();
        let mut response = (self.status, [(CONTENT_TYPE, JSON)], body).into_response();
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
        }
        response
    }
}

/// Every path there is, behind the guard.
pub fn router(app: Arc<App>, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/", get(dashboard))
        .route("/api/records", get(records))
        .route("/api/race/{name}", get(race))
        .route("/api/race/{name}/record", get(record))
        .route("/api/compare", get(compare))
        .route("/api/trend", get(trend))
        .route("/api/live", get(watch))
        .fallback(nothing)
        .with_state(app)
        .layer(axum::middleware::from_fn_with_state(guard, guard::check))
}

async fn dashboard(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let language = app.language.unwrap_or_else(|| page::preferred(asked));
    let about = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, page::POLICY)];
    match page::dashboard(language) {
        Ok(html) => (about, html).into_response(),
        Err(error) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn records(State(app): State<Arc<App>>) -> Response {
    work(&app, |store| store.list().and_then(|list| json(&list))).await
}

async fn race(State(app): State<Arc<App>>, name: Name) -> Result<Response, Refusal> {
    let name = text(name)?;
    Ok(work(&app, move |store| store.race(&name)).await)
}

/// A name in the path, its percent-encoding undone; what the folder makes of it is the store's matter.
type Name = Result<Path<String>, PathRejection>;

fn text(name: Name) -> Result<String, Refusal> {
    let sentence = "a name that is no UTF-8 text names no record; /api/records lists the records there are";
    name.map(|Path(name)| name).map_err(|_| Refusal::new(StatusCode::NOT_FOUND, sentence.to_owned()))
}

async fn compare(State(app): State<Arc<App>>, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let of = |key: &str| -> Vec<String> {
        asked.iter().filter(|(one, _)| one == key).map(|(_, value)| value.clone()).collect()
    };
    let (a, others) = (of("a"), of("b"));
    let [a] = a.as_slice() else {
        return Refusal::bad("name one record as `a`: /api/compare?a=NAME&b=NAME").into_response();
    };
    if others.is_empty() || others.len() > MOST_COMPARED {
        let sentence = format!("name 1 to {MOST_COMPARED} records as `b`: /api/compare?a=NAME&b=NAME&b=NAME");
        return Refusal::bad(sentence).into_response();
    }
    let mut names = vec![a.clone()];
    for other in others {
        // Twice the same would be the same answer twice.
        if !names[1..].contains(&other) {
            names.push(other);
        }
    }
    let answer = move |store: &mut RecordStore| {
        store.answer("compare", names, "fairlane compare A B", |records| {
            let read = |at: usize| {
                let (name, record) = records.read(at)?;
                let instead = screening::of_proposal("compare", &record, name, None);
                let refused = screening::refuse(&record, name, &instead);
                refused.map_err(|failure| Refusal::bad(failure.message))?;
                Ok::<_, Refusal>((name, record))
            };
            let (a_name, a) = read(0)?;
            let against = |at: usize| {
                let (b_name, b) = read(at)?;
                Ok(stats::compare::compare(&a, &b, a_name, b_name))
            };
            json(&Comparisons { comparisons: (1..records.count()).map(against).collect::<Result<_, Refusal>>()? })
        })
    };
    work(&app, answer).await
}

async fn trend(State(app): State<Arc<App>>, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let of = |key: &str| asked.iter().find(|(one, _)| one == key).map(|(_, value)| value.clone());
    let (Some(workload), Some(group)) = (of("workload"), of("group")) else {
        return Refusal::bad("name a workload and a group: /api/trend?workload=NAME&group=NAME").into_response();
    };
    let lanes: Vec<String> = asked.iter().filter(|(key, _)| key == "lane").map(|(_, value)| value.clone()).collect();
    work(&app, move |store| {
        let figures = store.figures(&workload)?;
        let found = stats::trend::trend(figures.all.iter().map(Arc::as_ref), &workload, &group, &lanes);
        found.map_or_else(
            || {
                let names = listing::shown(&format!("{workload}: {group}"));
                Err(Refusal::new(StatusCode::NOT_FOUND, format!("no record has figures of {names}; race them first")))
            },
            |mut trend| {
                trend.left_out.extend(figures.left_out);
                json(&trend)
            },
        )
    })
    .await
}

async fn watch(State(app): State<Arc<App>>) -> Response {
    let Ok(place) = Arc::clone(&app.watchers).try_acquire_owned() else {
        let sentence = format!("{} windows watch already; close one", live::MOST_WATCHERS);
        return Refusal::new(StatusCode::SERVICE_UNAVAILABLE, sentence).into_response();
    };
    ([(CONTENT_TYPE, "text/event-stream")], live::body(app, place)).into_response()
}

/// The record as it lies on disk at this moment.
async fn record(State(app): State<Arc<App>>, name: Name) -> Result<Response, Refusal> {
    let name = text(name)?;
    let (folder, asked) = (app.folder.clone(), name.clone());
    let opened = spawn_blocking(move || -> Result<(File, u64), Refusal> {
        let file = record_store::open(&folder, &asked)?;
        let bytes = file.metadata().map_err(|error| record_store::unreadable(&asked, &error.to_string()))?.len();
        Ok((file, bytes))
    });
    let (file, bytes) = opened.await.map_err(|_| failed())??;
    // Other characters would need an encoding that not every tool reads.
    let plain = |of: char| if of.is_ascii_alphanumeric() || "-._".contains(of) { of } else { '_' };
    let about = [
        (CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (CONTENT_LENGTH, bytes.to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", name.chars().map(plain).collect::<String>())),
    ];
    let pieces = stream::try_unfold((file, bytes), |(file, left)| async move {
        let read = spawn_blocking(move || piece(file, left)).await;
        let (bytes, file, left) = read.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!bytes.is_empty()).then_some((bytes, (file, left))))
    });
    Ok((about, Body::from_stream(pieces)).into_response())
}

/// The next bytes of a file; what is appended meanwhile is left out.
fn piece(mut file: File, left: u64) -> std::io::Result<(Bytes, File, u64)> {
    let mut bytes = Vec::new();
    file.by_ref().take(left.min(PIECE_BYTES as u64)).read_to_end(&mut bytes)?;
    let left = left - bytes.len() as u64;
    Ok((bytes.into(), file, left))
}

async fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing here; the dashboard is at /".to_owned())
}

/// Does what may take long beside the connections, one at a time.
async fn work(app: &App, job: impl FnOnce(&mut RecordStore) -> Result<Bytes, Refusal> + Send + 'static) -> Response {
    let mut store = Arc::clone(&app.store).lock_owned().await;
    match spawn_blocking(move || job(&mut store)).await {
        Ok(answered) => answered.map(|bytes| ([(CONTENT_TYPE, JSON)], bytes)).into_response(),
        Err(_) => failed().into_response(),
    }
}

fn failed() -> Refusal {
    let sentence = "the server failed at this; what it was stands where fairlane serve runs".to_owned();
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
}

/// What is sent as JSON.
///
/// # Errors
/// Where it has no JSON form.
pub fn json(of: &impl serde::Serialize) -> Result<Bytes, Refusal> {
    serde_json::to_vec(of)
        .map(Bytes::from)
        .map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
