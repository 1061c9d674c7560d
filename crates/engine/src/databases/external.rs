//! A server that runs already, in a directory that is the lane: it is never started or stopped, and everything is
//! done in a database of its own, which is dropped in the end.

use super::mysql::MySql;
use super::postgresql::Postgres;
use super::session::{Cure, DatabaseError, Session};
use crate::error::EngineError;
use crate::target::OpenTarget;
use model::oltp::{Oltp, Server};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The database of a race.
const DATABASE: &str = "fairlane_race";
/// Who connects; never on the command line, where everybody sees it.
const USER: &str = "FAIRLANE_DATABASE_USER";
const PASSWORD: &str = "FAIRLANE_DATABASE_PASSWORD";
const PASSWORD_FILE: &str = "FAIRLANE_DATABASE_PASSWORD_FILE";

/// Who connects, and to which database. It has no `Debug`: a password is not to be shown.
#[derive(Clone)]
pub(crate) struct Who {
    pub(crate) user: String,
    pub(crate) password: Vec<u8>,
    /// Empty: none yet.
    pub(crate) database: String,
    /// The database is made where it is not there.
    pub(crate) creates: bool,
}

impl Who {
    /// The administrator of a server that Fairlane started, who needs no password: nobody else reaches its socket.
    pub(crate) fn of_own(server: Server) -> Who {
        let (user, database) = if server == Server::Postgresql { ("fairlane", "postgres") } else { ("root", "sbtest") };
        Who { user: user.to_owned(), password: Vec::new(), database: database.to_owned(), creates: true }
    }

    /// Whom the environment names.
    ///
    /// # Errors
    /// Where the file with the password cannot be read.
    pub(super) fn of_environment(server: Server) -> Result<Who, EngineError> {
        let usual = if server == Server::Postgresql { "postgres" } else { "root" };
        let user = std::env::var(USER).unwrap_or_else(|_| usual.to_owned());
        let password = match std::env::var_os(PASSWORD_FILE) {
            Some(path) => {
                let read = std::fs::read(&path).map_err(|error| {
                    let path = model::text::escaped_path(std::path::Path::new(&path));
                    EngineError::Unsuitable(format!("the password's file {path} cannot be read: {error}"))
                })?;
                let end = read.iter().position(|byte| *byte == b'\n').unwrap_or(read.len());
                read[..end].to_vec()
            }
            None => std::env::var(PASSWORD).unwrap_or_default().into_bytes(),
        };
        Ok(Who { user, password, database: String::new(), creates: false })
    }
}

/// The server, with a database of ours in it.
pub(super) struct External {
    server: Server,
    socket: PathBuf,
    who: Who,
    pid: Option<u32>,
    /// The database is ours, and goes with this.
    made: bool,
}

impl External {
    /// Makes the database.
    ///
    /// # Errors
    /// Where the server does not take the user, keeps its data elsewhere, or has such a database already.
    pub(super) fn open(oltp: &Oltp, who: Who, place: &OpenTarget) -> Result<External, EngineError> {
        let socket = PathBuf::from(&oltp.socket);
        let pid =
            UnixStream::connect(&socket).ok().and_then(|stream| rustix::net::sockopt::socket_peercred(&stream).ok());
        let pid = pid.and_then(|peer| u32::try_from(peer.pid.as_raw_nonzero().get()).ok());
        let mut external = External { server: oltp.server, socket, who, pid, made: false };
        let mut session = external.administer().map_err(|error| external.explain(&error))?;
        let (title, socket) = (oltp.server.title(), model::text::escaped(oltp.socket.as_bytes()));
        let question = match oltp.server {
            Server::Postgresql => "SHOW data_directory",
            _ => "SELECT @@datadir",
        };
        let rows = session.rows(question).map_err(|error| external.explain(&error))?;
        let data = rows.into_iter().next().and_then(|row| row.into_iter().next()).unwrap_or_default();
        // As the server sees it: it may live in a mount namespace of its own.
        let seen = pid.and_then(|pid| std::fs::metadata(format!("/proc/{pid}/root{data}")).ok());
        let data_device = seen.map_or_else(|| std::fs::metadata(&data), Ok).map_err(|error| {
            let data = model::text::escaped(data.as_bytes());
            EngineError::Unsuitable(format!(
                "{title}'s data directory {data} cannot be looked at: {error}; run as root"
            ))
        })?;
        let (path, _) = place.directory().ok_or_else(super::server_directory::no_directory)?;
        let lane = std::fs::metadata(path)
            .map_err(|error| EngineError::Unsuitable(format!("the lane cannot be looked at: {error}")))?;
        if lane.dev() != data_device.dev() {
            return Err(EngineError::Unsuitable(format!(
                "{title} at {socket} keeps its data in {}, which is on another filesystem than the lane; name a directory \
                 beside its data",
                model::text::escaped(data.as_bytes())
            )));
        }
        session.run(&format!("CREATE DATABASE {DATABASE}")).map_err(|error| {
            let said = external.explain(&error);
            EngineError::Unsuitable(format!(
                "{said}; where an earlier race left the database {DATABASE}, drop it: DROP DATABASE {DATABASE}"
            ))
        })?;
        external.made = true;
        Ok(external)
    }

    fn explain(&self, error: &DatabaseError) -> EngineError {
        EngineError::Unsuitable(format!(
            "{} at {} as {}: {}; {USER}, {PASSWORD} or {PASSWORD_FILE} say who connects",
            self.server.title(),
            model::text::escaped_path(&self.socket),
            model::text::escaped(self.who.user.as_bytes()),
            error.message
        ))
    }

    /// A connection that stands in no database of ours.
    fn administer(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let database = if self.server == Server::Postgresql { "postgres" } else { "" };
        self.connect_to(database)
    }

    /// A new connection.
    ///
    /// # Errors
    /// Where the server does not take it.
    pub(super) fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.connect_to(DATABASE)
    }

    fn connect_to(&self, database: &str) -> Result<Box<dyn Session>, DatabaseError> {
        let who = Who { database: database.to_owned(), ..self.who.clone() };
        Ok(match self.server {
            Server::Postgresql => Box::new(Postgres::connect(&self.socket, &who)?),
            _ => Box::new(MySql::connect(&self.socket, &who)?),
        })
    }

    /// The server's process, as its socket tells; `None`: it does not.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Whether it runs, as far as can be known.
    pub(super) fn is_alive(&self) -> bool {
        self.pid.is_none_or(super::server::lives)
    }
}

impl Drop for External {
    fn drop(&mut self) {
        if !self.made {
            return;
        }
        let drop = format!("DROP DATABASE IF EXISTS {DATABASE}");
        // Backends of PostgreSQL's that are about to end still count.
        for _ in 0..50 {
            match self.administer().and_then(|mut session| session.run(&drop)) {
                Err(error) if error.cure != Cure::Lost => std::thread::sleep(std::time::Duration::from_millis(100)),
                _ => return,
            }
        }
    }
}
