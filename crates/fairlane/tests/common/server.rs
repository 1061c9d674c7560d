//! A real `fairlane serve` on a free port, and raw HTTP to it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::common::Place;
use model::page::Live;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Longer than anything here takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, ended when it is dropped.
pub struct Server {
    child: Child,
    /// What it printed.
    pub url: String,
    /// `127.0.0.1:PORT`.
    pub host: String,
}

impl Server {
    /// Starts one on a free port; `more` may name another address.
    #[track_caller]
    pub fn start(place: &Place, more: &[&str]) -> Server {
        let listen = if more.contains(&"--listen") { &[][..] } else { &["--listen", "127.0.0.1:0"] };
        Server::new(&mut place.fairlane(&[&["serve"], listen, more].concat()))
    }

    /// Starts one by this command.
    #[track_caller]
    pub fn new(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fairlane runs");
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        if url.is_empty() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the server did not start: {said}");
        }
        let url = url.trim_end().to_owned();
        let host = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        Server { child, url, host }
    }

    /// Asks as a browser would.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("Host", &self.host)])
    }

    /// Asks with these headers and no others.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        self.send(format!("{text}\r\n").as_bytes())
    }

    /// Sends these bytes and reads what comes until the server closes.
    #[track_caller]
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // One that turns a long request away may close before it has taken all of it.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        assert!(read.is_ok() || !bytes.is_empty(), "no answer: {read:?}");
        Answer::new(&bytes)
    }

    /// A connection on which nothing was said yet.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Opens the stream of progress.
    pub fn watch(&self) -> Watch {
        let mut stream = self.connect();
        write!(stream, "GET /api/live HTTP/1.1\r\nHost: {}\r\n\r\n", self.host).unwrap();
        Watch(BufReader::new(stream))
    }

    /// Sends a signal and waits for the end; answers standard error too.
    pub fn end(mut self, signal: Signal) -> (ExitStatus, String) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, taken apart.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// What follows.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        let headers = lines.filter_map(pair).collect();
        Answer { status, headers, body: bytes[end + 4..].to_vec() }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body of a success, read back.
    #[track_caller]
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The one sentence of a refusal.
    #[track_caller]
    pub fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let said: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        let said = said["error"].as_str().unwrap().to_owned();
        assert!(!said.is_empty() && !said.contains('\n') && !said.contains("panicked"), "{said}");
        said
    }
}

/// A stream of progress.
pub struct Watch(BufReader<TcpStream>);

impl Watch {
    /// The next event; `None`: the server closed.
    pub fn next(&mut self) -> Option<Live> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("an event within a minute") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The first event that is so.
    #[track_caller]
    pub fn until(&mut self, so: impl Fn(&Live) -> bool) -> Live {
        loop {
            match self.next() {
                Some(live) if so(&live) => return live,
                Some(_) => {}
                None => panic!("the stream ended"),
            }
        }
    }
}
