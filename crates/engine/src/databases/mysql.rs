//! The client's side of MySQL's protocol, as far as the scripts need it: handshake with or without a password, text
//! queries, prepared statements in the binary protocol. MariaDB speaks it too.
//!
//! Source: the protocol's documentation by MySQL and MariaDB ("Client/Server Protocol", version 10, 4.1).

use super::external::Who;
use super::session::{Cause, Cure, DatabaseError, Session, Value};
use super::socket::Socket;
use sha1::{Digest, Sha1};
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Weak;

/// The way to prove a password that is known here.
const NATIVE: &[u8] = b"mysql_native_password";
const LONG_PASSWORD: u32 = 0x1;
const LONG_FLAG: u32 = 0x4;
const PROTOCOL_41: u32 = 0x200;
const TRANSACTIONS: u32 = 0x2000;
const SECURE_CONNECTION: u32 = 0x8000;
const PLUGIN_AUTH: u32 = 0x8_0000;
/// utf8mb4_general_ci.
const CHARACTER_SET: u8 = 45;
const COMMAND_QUERY: u8 = 0x03;
const COMMAND_PREPARE: u8 = 0x16;
const COMMAND_EXECUTE: u8 = 0x17;
const TYPE_LONGLONG: u8 = 8;
const TYPE_STRING: u8 = 254;
/// The numbers after which sysbench begins the transaction again too.
const AGAIN: [(u16, Cause); 3] = [(1213, Cause::Deadlock), (1205, Cause::LockTimeout), (1020, Cause::Serialisation)];
/// The server ends the connection: it shuts down, or somebody killed the client.
const LOST: [u16; 4] = [1053, 1927, 3169, 4031];

/// One connection.
pub(crate) struct MySql {
    stream: BufReader<Socket>,
    /// The packet that was read last.
    packet: Vec<u8>,
    /// The one to be sent.
    out: Vec<u8>,
    statements: Vec<u32>,
}

impl MySql {
    /// Connects, and stands in the database where one is named.
    pub(crate) fn connect(socket: &Path, who: &Who) -> Result<MySql, DatabaseError> {
        let mut client = MySql {
            stream: Socket::connect(socket)?,
            packet: Vec::with_capacity(64 << 10),
            out: Vec::with_capacity(4 << 10),
            statements: Vec::new(),
        };
        client.shake_hands(who)?;
        let database = &who.database;
        if database.is_empty() {
            return Ok(client);
        }
        match client.run(&format!("USE {database}")) {
            // The first connection makes it.
            Err(_) if who.creates => {
                client.run(&format!("CREATE DATABASE IF NOT EXISTS {database}"))?;
                client.run(&format!("USE {database}"))?;
            }
            used => {
                used?;
            }
        }
        Ok(client)
    }

    fn shake_hands(&mut self, who: &Who) -> Result<(), DatabaseError> {
        let number = self.read()?;
        self.refused()?;
        if self.packet.first() != Some(&10) {
            return Err(DatabaseError::strange("another protocol than version 10"));
        }
        let proof = salt(&self.packet).map(|salt| proof_of(&who.password, &salt)).unwrap_or_default();
        let flags = LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;
        self.begin();
        self.out.extend_from_slice(&flags.to_le_bytes());
        self.out.extend_from_slice(&(16u32 << 20).to_le_bytes());
        self.out.push(CHARACTER_SET);
        self.out.extend_from_slice(&[0; 23]);
        self.out.extend_from_slice(who.user.as_bytes());
        self.out.extend_from_slice(&[0, proof.len() as u8]);
        self.out.extend_from_slice(&proof);
        self.out.extend_from_slice(NATIVE);
        self.out.push(0);
        self.send(number.wrapping_add(1))?;
        // Other ways to prove who one is, such as the socket's own, are answered with no password.
        for _ in 0..4 {
            let number = self.read()?;
            self.refused()?;
            match self.packet.first() {
                Some(0x00) => return Ok(()),
                Some(0xfe) => {
                    let asked = self.packet[1..].strip_prefix(NATIVE).and_then(|rest| rest.strip_prefix(b"\0"));
                    let salt = asked.map(|salt| salt.strip_suffix(b"\0").unwrap_or(salt).to_vec());
                    self.begin();
                    self.out.extend(salt.map(|salt| proof_of(&who.password, &salt)).unwrap_or_default());
                    self.send(number.wrapping_add(1))?;
                }
                Some(0x01) => {}
                _ => return Err(DatabaseError::strange("a handshake that does not end")),
            }
        }
        Err(DatabaseError::strange("a handshake that does not end"))
    }

    /// A packet begins with room for its length and number.
    fn begin(&mut self) {
        self.out.clear();
        self.out.extend_from_slice(&[0; 4]);
    }

    fn command(&mut self, command: u8) {
        self.begin();
        self.out.push(command);
    }

    fn send(&mut self, number: u8) -> Result<(), DatabaseError> {
        let length = self.out.len() - 4;
        if length >= 0xff_ffff {
            let message = "a statement is longer than the protocol's 16 MiB".to_owned();
            return Err(DatabaseError { message, cure: Cure::None });
        }
        self.out[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        self.out[3] = number;
        self.stream.get_mut().write_all(&self.out).map_err(|error| DatabaseError::lost(&error))
    }

    /// Reads the next packet; answers its number.
    fn read(&mut self) -> Result<u8, DatabaseError> {
        self.packet.clear();
        loop {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head).map_err(|error| DatabaseError::lost(&error))?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            let begins = self.packet.len();
            self.packet.resize(begins + length, 0);
            self.stream.read_exact(&mut self.packet[begins..]).map_err(|error| DatabaseError::lost(&error))?;
            // A packet of the largest length goes on in the next one.
            if length < 0xff_ffff {
                return Ok(head[3]);
            }
        }
    }

    /// The error that the last packet is, if it is one: `ff`, number, `#`, state of five letters, text.
    fn refused(&self) -> Result<(), DatabaseError> {
        let [0xff, low, high, rest @ ..] = self.packet.as_slice() else { return Ok(()) };
        let number = u16::from_le_bytes([*low, *high]);
        let text = if rest.first() == Some(&b'#') { rest.get(6..).unwrap_or_default() } else { rest };
        let message = format!("the server says: {} (error {number})", String::from_utf8_lossy(text).trim());
        let again = AGAIN.iter().find(|row| row.0 == number).map(|row| Cure::Again(row.1));
        let cure = again.unwrap_or(if LOST.contains(&number) { Cure::Lost } else { Cure::None });
        Err(DatabaseError { message, cure })
    }

    fn is_end(&self) -> bool {
        self.packet.first() == Some(&0xfe) && self.packet.len() < 9
    }

    /// Reads packets up to the end of a list of columns or rows; `each` sees them.
    fn read_to_end_of_rows(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), DatabaseError> {
        loop {
            self.read()?;
            self.refused()?;
            if self.is_end() {
                return Ok(());
            }
            each(&self.packet);
        }
    }

    /// Reads an answer with all its rows; answers how many rows were changed.
    fn answer(&mut self, each: impl FnMut(&[u8])) -> Result<u64, DatabaseError> {
        self.read()?;
        self.refused()?;
        if self.packet.first() == Some(&0x00) {
            let mut rest = self.packet.get(1..).unwrap_or_default();
            return length_encoded(&mut rest).ok_or_else(|| DatabaseError::strange("no count of changed rows"));
        }
        self.read_to_end_of_rows(|_| {})?;
        self.read_to_end_of_rows(each)?;
        Ok(0)
    }
}

impl Session for MySql {
    fn run(&mut self, sql: &str) -> Result<u64, DatabaseError> {
        self.command(COMMAND_QUERY);
        self.out.extend_from_slice(sql.as_bytes());
        self.send(0)?;
        self.answer(|_| {})
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
        self.command(COMMAND_QUERY);
        self.out.extend_from_slice(sql.as_bytes());
        self.send(0)?;
        let mut all = Vec::new();
        self.answer(|row| all.push(columns(row)))?;
        Ok(all)
    }

    fn prepare(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.command(COMMAND_PREPARE);
        self.out.extend_from_slice(sql.as_bytes());
        self.send(0)?;
        self.read()?;
        self.refused()?;
        let &[0x00, a, b, c, d, columns_low, columns_high, values_low, values_high, ..] = self.packet.as_slice() else {
            return Err(DatabaseError::strange("no prepared statement"));
        };
        self.statements.push(u32::from_le_bytes([a, b, c, d]));
        for count in [[values_low, values_high], [columns_low, columns_high]] {
            if u16::from_le_bytes(count) > 0 {
                self.read_to_end_of_rows(|_| {})?;
            }
        }
        Ok(())
    }

    fn execute(&mut self, statement: usize, values: &[Value<'_>]) -> Result<u64, DatabaseError> {
        let statement = self.statements[statement];
        self.command(COMMAND_EXECUTE);
        self.out.extend_from_slice(&statement.to_le_bytes());
        // No cursor; done once.
        self.out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !values.is_empty() {
            // No value is NULL, and their types follow.
            self.out.resize(self.out.len() + values.len().div_ceil(8), 0);
            self.out.push(1);
            for value in values {
                let of = if matches!(value, Value::Number(_)) { TYPE_LONGLONG } else { TYPE_STRING };
                self.out.extend_from_slice(&[of, 0]);
            }
            for value in values {
                match value {
                    Value::Number(number) => self.out.extend_from_slice(&number.to_le_bytes()),
                    Value::Text(text) => {
                        // Every text of the scripts is shorter than 251 bytes, the lengths of one byte.
                        debug_assert!(text.len() < 251);
                        self.out.push(text.len() as u8);
                        self.out.extend_from_slice(text.as_bytes());
                    }
                }
            }
        }
        self.send(0)?;
        self.answer(|row| {
            std::hint::black_box(row.len());
        })
    }

    fn watched(&mut self) -> Option<Weak<UnixStream>> {
        Some(self.stream.get_mut().watched())
    }
}

/// What the server greets with, to be mixed into the proof of a password: behind the protocol's number, its version and
/// a 0, eight bytes after four, and twelve more where the flags end.
fn salt(greeting: &[u8]) -> Option<Vec<u8>> {
    let version = greeting.get(1..)?.iter().position(|byte| *byte == 0)?;
    let rest = greeting.get(version + 2 + 4..)?;
    Some([rest.get(..8)?, rest.get(8 + 1 + 2 + 1 + 2 + 2 + 1 + 10..)?.get(..12)?].concat())
}

/// `mysql_native_password`: SHA1(password) xor SHA1(salt, SHA1(SHA1(password))); nothing of no password.
fn proof_of(password: &[u8], salt: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let mixed = Sha1::new().chain_update(salt).chain_update(Sha1::digest(once)).finalize();
    once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
}

/// The columns of a row of text: each its length and its bytes, `fb` for NULL.
fn columns(mut row: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(&first) = row.first() {
        if first == 0xfb {
            row = &row[1..];
            all.push(String::new());
            continue;
        }
        let Some(text) = length_encoded(&mut row).and_then(|length| row.get(..length as usize)) else { break };
        row = &row[text.len()..];
        all.push(String::from_utf8_lossy(text).into_owned());
    }
    all
}

/// A number whose first byte tells its length.
fn length_encoded(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    let length = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        // No length: NULL, and the beginning of an error.
        0xfb | 0xff => return None,
        small => {
            *bytes = rest;
            return Some(u64::from(small));
        }
    };
    let mut word = [0; 8];
    word[..length].copy_from_slice(rest.get(..length)?);
    *bytes = &rest[length..];
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_row_are_told_apart() {
        assert_eq!(columns(b"\x01a\xfb\x00\x02bc"), ["a", "", "", "bc"]);
        assert_eq!(columns(b"\x09a"), Vec::<String>::new(), "torn");
    }

    #[test]
    fn numbers_are_read_in_all_their_lengths_and_a_torn_one_is_none() {
        for (bytes, number, left) in [
            (&[7, 9][..], Some(7), 1),
            (&[0xfc, 1, 2], Some(0x201), 0),
            (&[0xfd, 1, 0, 1, 5], Some(0x1_0001), 1),
            (&[0xfe, 1, 0, 0, 0, 0, 0, 0, 0], Some(1), 0),
            (&[0xfb], None, 1),
            (&[0xfc, 1], None, 2),
            (&[], None, 0),
        ] {
            let mut rest = bytes;
            assert_eq!((length_encoded(&mut rest), rest.len()), (number, left), "{bytes:?}");
        }
    }
}
