//! The client's side of PostgreSQL's protocol, as far as the scripts need it: start-up with or without a password,
//! simple queries, prepared statements with values as text.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol", version 3.0.

use super::external::Who;
use super::session::{Cause, Cure, DatabaseError, Session, Value};
use super::socket::Socket;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Weak;

const VERSION: u32 = 3 << 16;
/// The states after which sysbench begins the transaction again too, and that of a lock that was waited for in vain.
const AGAIN: [(&[u8], Cause); 4] = [
    (b"40P01", Cause::Deadlock),
    (b"40001", Cause::Serialisation),
    (b"23505", Cause::DuplicateKey),
    (b"55P03", Cause::LockTimeout),
];
/// Longest message that is believed.
const MOST_BYTES: usize = 64 << 20;

/// One connection.
pub(crate) struct Postgres {
    stream: BufReader<Socket>,
    /// Body of the message that was read last.
    message: Vec<u8>,
    /// What is to be sent.
    out: Vec<u8>,
    statements: u32,
}

/// What an exchange came to.
#[derive(Default)]
struct Came {
    changed: u64,
    rows: Vec<Vec<String>>,
    error: Option<DatabaseError>,
}

impl Postgres {
    /// Connects.
    pub(crate) fn connect(socket: &Path, who: &Who) -> Result<Postgres, DatabaseError> {
        let mut client = Postgres {
            stream: Socket::connect(socket)?,
            message: Vec::with_capacity(4 << 10),
            out: Vec::with_capacity(4 << 10),
            statements: 0,
        };
        let body = [b"user\0", who.user.as_bytes(), b"\0database\0", who.database.as_bytes(), b"\0\0"].concat();
        client.out.extend_from_slice(&(body.len() as u32 + 8).to_be_bytes());
        client.out.extend_from_slice(&VERSION.to_be_bytes());
        client.out.extend_from_slice(&body);
        client.flush()?;
        client.prove(who)?;
        client.until_ready(false).and_then(|came| came.error.map_or(Ok(()), Err))?;
        Ok(client)
    }

    /// Shows a password where one is asked for: as it is, by MD5, or by SCRAM-SHA-256.
    fn prove(&mut self, who: &Who) -> Result<(), DatabaseError> {
        let mut scram: Option<ScramSha256> = None;
        loop {
            let kind = self.read()?;
            if kind == b'E' {
                return Err(refusal(&self.message));
            }
            let Some((&[a, b, c, d], rest)) = self.message.split_first_chunk::<4>() else {
                return Err(DatabaseError::strange("a greeting that ends too early"));
            };
            if kind != b'R' {
                return Err(DatabaseError::strange("a greeting of another kind"));
            }
            let rest = rest.to_vec();
            let answer = match (u32::from_be_bytes([a, b, c, d]), &mut scram) {
                (0, _) => return Ok(()),
                (3, _) => [&who.password[..], b"\0"].concat(),
                (5, _) if let &[a, b, c, d] = &rest[..] => {
                    (md5_hash(who.user.as_bytes(), &who.password, [a, b, c, d]) + "\0").into_bytes()
                }
                (10, _) if rest.split(|&byte| byte == 0).any(|name| name == SCRAM_SHA_256.as_bytes()) => {
                    let begun = scram.insert(ScramSha256::new(&who.password, ChannelBinding::unsupported()));
                    let first = begun.message();
                    [SCRAM_SHA_256.as_bytes(), b"\0", &(first.len() as u32).to_be_bytes(), first].concat()
                }
                (11, Some(begun)) => {
                    begun.update(&rest).map_err(|error| DatabaseError::strange(&error.to_string()))?;
                    begun.message().to_vec()
                }
                (12, Some(begun)) => {
                    let proved = begun.finish(&rest);
                    proved.map_err(|_| DatabaseError::strange("it does not know the password itself"))?;
                    continue;
                }
                _ => {
                    return Err(DatabaseError::strange(
                        "it asks for a password in a way that is not known here; scram-sha-256 and md5 are",
                    ));
                }
            };
            let at = self.begin(b'p');
            self.out.extend_from_slice(&answer);
            self.end(at);
            self.flush()?;
        }
    }

    /// Begins a message; its length is filled in by [`Postgres::end`].
    fn begin(&mut self, kind: u8) -> usize {
        self.out.push(kind);
        self.out.extend_from_slice(&[0; 4]);
        self.out.len() - 4
    }

    fn end(&mut self, at: usize) {
        let length = (self.out.len() - at) as u32;
        self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn name(&mut self, statement: u32) {
        // `s0`, `s1`, …; written without a format, because each statement does it.
        self.out.push(b's');
        decimal(&mut self.out, u64::from(statement));
        self.out.push(0);
    }

    fn sync(&mut self) -> Result<(), DatabaseError> {
        let at = self.begin(b'S');
        self.end(at);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), DatabaseError> {
        let sent = self.stream.get_mut().write_all(&self.out).map_err(|error| DatabaseError::lost(&error));
        self.out.clear();
        sent
    }

    /// Reads the next message; answers its kind.
    fn read(&mut self) -> Result<u8, DatabaseError> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).map_err(|error| DatabaseError::lost(&error))?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if !(4..MOST_BYTES).contains(&length) {
            return Err(DatabaseError::strange("a message of impossible length"));
        }
        self.message.resize(length - 4, 0);
        self.stream.read_exact(&mut self.message).map_err(|error| DatabaseError::lost(&error))?;
        Ok(head[0])
    }

    /// Reads until the server is ready for the next question. Rows are kept where `keep` says so.
    fn until_ready(&mut self, keep: bool) -> Result<Came, DatabaseError> {
        let mut came = Came::default();
        loop {
            match self.read()? {
                b'Z' => return Ok(came),
                b'E' => {
                    let error = refusal(&self.message);
                    // No ready follows what ends the connection.
                    if error.cure == Cure::Lost {
                        return Err(error);
                    }
                    came.error.get_or_insert(error);
                }
                b'C' => came.changed = changed(&self.message),
                b'D' if keep => came.rows.push(columns(&self.message)),
                b'R' if self.message.get(..4) != Some(&[0; 4][..]) => {
                    return Err(DatabaseError::strange("it asks for a password"));
                }
                _ => {}
            }
        }
    }

    fn ask(&mut self, sql: &str, keep: bool) -> Result<Came, DatabaseError> {
        let at = self.begin(b'Q');
        self.out.extend_from_slice(sql.as_bytes());
        self.out.push(0);
        self.end(at);
        self.flush()?;
        self.came(keep)
    }

    fn came(&mut self, keep: bool) -> Result<Came, DatabaseError> {
        let mut came = self.until_ready(keep)?;
        came.error.take().map_or(Ok(came), Err)
    }
}

impl Session for Postgres {
    fn run(&mut self, sql: &str) -> Result<u64, DatabaseError> {
        self.ask(sql, false).map(|came| came.changed)
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
        self.ask(sql, true).map(|came| came.rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<(), DatabaseError> {
        let at = self.begin(b'P');
        self.name(self.statements);
        self.out.extend_from_slice(sql.as_bytes());
        // No types: the server knows them from the columns.
        self.out.extend_from_slice(&[0, 0, 0]);
        self.end(at);
        self.sync()?;
        self.came(false)?;
        self.statements += 1;
        Ok(())
    }

    fn execute(&mut self, statement: usize, values: &[Value<'_>]) -> Result<u64, DatabaseError> {
        let at = self.begin(b'B');
        // The portal without a name; all values are text.
        self.out.push(0);
        self.name(statement as u32);
        self.out.extend_from_slice(&[0, 0]);
        self.out.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for value in values {
            let length = self.out.len();
            self.out.extend_from_slice(&[0; 4]);
            match value {
                Value::Number(number) => decimal(&mut self.out, *number),
                Value::Text(text) => self.out.extend_from_slice(text.as_bytes()),
            }
            let bytes = (self.out.len() - length - 4) as u32;
            self.out[length..length + 4].copy_from_slice(&bytes.to_be_bytes());
        }
        // The answer's columns are text too.
        self.out.extend_from_slice(&[0, 0]);
        self.end(at);
        let at = self.begin(b'E');
        self.out.extend_from_slice(&[0; 5]);
        self.end(at);
        self.sync()?;
        self.came(false).map(|came| came.changed)
    }

    fn watched(&mut self) -> Option<Weak<UnixStream>> {
        Some(self.stream.get_mut().watched())
    }
}

/// Digits of a number.
fn decimal(out: &mut Vec<u8>, mut number: u64) {
    let begins = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[begins..].reverse();
}

/// The number behind the last blank of a command's tag: `UPDATE 1`, `INSERT 0 1`; of a query none was changed.
fn changed(tag: &[u8]) -> u64 {
    let text = std::str::from_utf8(tag).unwrap_or_default().trim_end_matches('\0');
    let of = ["UPDATE", "INSERT", "DELETE"].iter().any(|word| text.starts_with(word));
    text.rsplit(' ').next().filter(|_| of).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The columns of a row: how many, then each its length (-1: NULL) and its bytes.
fn columns(row: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = row.get(2..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let Some(text) = after.get(..length) else { break };
        all.push(String::from_utf8_lossy(text).into_owned());
        rest = &after[length..];
    }
    all
}

/// Fields of an error, each a letter and a text that ends in 0.
fn refusal(message: &[u8]) -> DatabaseError {
    let field = |letter: u8| {
        let of = |field: &&[u8]| field.first() == Some(&letter);
        message.split(|byte| *byte == 0).find(of).map(|field| &field[1..]).unwrap_or_default()
    };
    let (state, severity) = (field(b'C'), field(b'S'));
    let cure = match AGAIN.iter().find(|row| row.0 == state) {
        Some((_, cause)) => Cure::Again(*cause),
        None if [&b"FATAL"[..], b"PANIC"].contains(&severity) => Cure::Lost,
        None => Cure::None,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    DatabaseError { message: format!("the server says: {} (state {})", text(field(b'M')), text(state)), cure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_is_read() {
        assert_eq!([&b"UPDATE 1\0"[..], b"INSERT 0 7\0", b"SELECT 100\0", b"BEGIN\0"].map(changed), [1, 7, 0, 0]);
        assert_eq!(columns(b"\0\x03\0\0\0\x0242\xff\xff\xff\xff\0\0\0\0"), ["42", "", ""]);
        assert_eq!(columns(b"\0\x01\0\0\0\x0942"), Vec::<String>::new(), "torn");
        let error = refusal(b"SERROR\0C40P01\0Mdeadlock detected\0\0");
        assert_eq!(
            (error.cure, error.message.as_str()),
            (Cure::Again(Cause::Deadlock), "the server says: deadlock detected (state 40P01)")
        );
        assert_eq!(refusal(b"SFATAL\0C57P03\0Mthe database system is starting up\0\0").cure, Cure::Lost);
        assert_eq!(refusal(b"").cure, Cure::None);
    }

    #[test]
    fn digits_are_those_of_the_number() {
        let mut out = b"s".to_vec();
        [0, 7, 1200, u64::MAX].into_iter().for_each(|number| decimal(&mut out, number));
        assert_eq!(out, b"s07120018446744073709551615");
    }
}
