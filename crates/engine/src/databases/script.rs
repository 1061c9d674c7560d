//! The scripts: schema, statements and their mixture as sysbench's OLTP scripts have them.

use super::session::{Cure, DatabaseError, Session, Value};
use model::oltp::{Oltp, POINT_SELECTS, RANGE_ROWS, Script, Server};

/// Digits of the columns `c` and `pad`: groups of eleven, joined by dashes.
const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;
/// Rows of one INSERT while a table is filled.
pub(crate) const ROWS_AT_ONCE: u64 = 500;

/// The prepared statements of a table, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statement {
    Point,
    Range,
    SumOfRange,
    OrderedRange,
    DistinctRange,
    UpdateIndexed,
    UpdateOther,
    Delete,
    InsertAt,
    Insert,
}

const STATEMENTS: [Statement; 10] = [
    Statement::Point,
    Statement::Range,
    Statement::SumOfRange,
    Statement::OrderedRange,
    Statement::DistinctRange,
    Statement::UpdateIndexed,
    Statement::UpdateOther,
    Statement::Delete,
    Statement::InsertAt,
    Statement::Insert,
];

impl Statement {
    fn sql(self, server: Server, table: &str) -> String {
        let text = match self {
            Statement::Point => "SELECT c FROM @ WHERE id=?",
            Statement::Range => "SELECT c FROM @ WHERE id BETWEEN ? AND ?",
            Statement::SumOfRange => "SELECT SUM(k) FROM @ WHERE id BETWEEN ? AND ?",
            Statement::OrderedRange => "SELECT c FROM @ WHERE id BETWEEN ? AND ? ORDER BY c",
            Statement::DistinctRange => "SELECT DISTINCT c FROM @ WHERE id BETWEEN ? AND ? ORDER BY c",
            Statement::UpdateIndexed => "UPDATE @ SET k=k+1 WHERE id=?",
            Statement::UpdateOther => "UPDATE @ SET c=? WHERE id=?",
            Statement::Delete => "DELETE FROM @ WHERE id=?",
            Statement::InsertAt => "INSERT INTO @ (id, k, c, pad) VALUES (?, ?, ?, ?)",
            Statement::Insert => "INSERT INTO @ (k, c, pad) VALUES (?, ?, ?)",
        };
        let text = text.replace('@', table);
        if server != Server::Postgresql {
            return text;
        }
        let mut numbered = String::with_capacity(text.len() + 8);
        let mut number = 0;
        for character in text.chars() {
            match character {
                '?' => {
                    number += 1;
                    numbered.push('$');
                    numbered.push_str(&number.to_string());
                }
                other => numbered.push(other),
            }
        }
        numbered
    }
}

/// Name of a table, counted from 1.
pub(crate) fn table(number: u32) -> String {
    format!("sbtest{number}")
}

/// The statement that makes a table.
pub(crate) fn create_table(server: Server, number: u32) -> String {
    let table = table(number);
    let (id, end) = match server {
        Server::Sqlite => ("INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", ""),
        Server::Mariadb | Server::Mysql => ("INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY", " ENGINE = InnoDB"),
        Server::Postgresql => ("SERIAL PRIMARY KEY", ""),
    };
    format!(
        "CREATE TABLE {table} (id {id}, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL){end}"
    )
}

/// The statement that makes its second index.
pub(crate) fn create_index(number: u32) -> String {
    format!("CREATE INDEX k_{number} ON {}(k)", table(number))
}

/// One INSERT of several rows.
pub(crate) fn fill(number: u32, rows: u64, table_size: u64, random: &mut Random) -> String {
    let mut sql = format!("INSERT INTO {} (k, c, pad) VALUES ", table(number));
    let mut columns = Columns::new();
    for row in 0..rows {
        columns.renew(random);
        let comma = if row == 0 { "" } else { ", " };
        let k = 1 + random.below(table_size);
        sql.push_str(&format!("{comma}({k}, '{}', '{}')", columns.c, columns.pad));
    }
    sql
}

/// Makes a connection ready for the script.
pub(crate) fn prepare(session: &mut dyn Session, oltp: &Oltp) -> Result<(), DatabaseError> {
    for number in 1..=oltp.tables {
        let table = table(number);
        for statement in STATEMENTS {
            session.prepare(&statement.sql(oltp.server, &table))?;
        }
    }
    Ok(())
}

/// SplitMix64 (Steele et al. 2014): a word at a time, the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Evenly below `limit`, which must not be 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

/// The two text columns of a row, made anew in the same memory.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) c: String,
    pub(crate) pad: String,
}

impl Columns {
    pub(crate) fn new() -> Self {
        Columns { c: String::with_capacity(12 * C_GROUPS), pad: String::with_capacity(12 * PAD_GROUPS) }
    }

    pub(crate) fn renew(&mut self, random: &mut Random) {
        digits(&mut self.c, C_GROUPS, random);
        digits(&mut self.pad, PAD_GROUPS, random);
    }
}

fn digits(text: &mut String, groups: usize, random: &mut Random) {
    text.clear();
    for group in 0..groups {
        if group > 0 {
            text.push('-');
        }
        // Eleven digits of one word.
        let mut word = random.next();
        for _ in 0..11 {
            text.push(char::from(b'0' + (word % 10) as u8));
            word /= 10;
        }
    }
}

/// One client's transactions.
pub(crate) struct Transactions {
    script: Script,
    tables: u32,
    table_size: u64,
    begin: &'static str,
    random: Random,
    columns: Columns,
}

impl Transactions {
    pub(crate) fn new(oltp: &Oltp, seed: u64) -> Self {
        let begin = match oltp.server {
            // What will write says so at once: a reader that turns into a writer may have to give up.
            Server::Sqlite if !oltp.script.only_reads() => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        };
        let (script, tables, table_size) = (oltp.script, oltp.tables, oltp.table_size);
        Transactions { script, tables, table_size, begin, random: Random::new(seed), columns: Columns::new() }
    }

    /// Does one; answers by how many rows the tables grew. After an error nothing of it stands, but where the
    /// connection was lost, which nobody knows.
    ///
    /// # Errors
    /// What the server answered.
    pub(crate) fn one(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let done = self.work(session);
        let Err(error) = &done else { return done };
        if self.script.is_bracketed() && error.cure != Cure::Lost {
            // A server may have taken it back itself, or never begun it: then it refuses.
            match session.run("ROLLBACK") {
                Err(gone) if gone.cure == Cure::Lost => return Err(gone),
                _ => {}
            }
        }
        done
    }

    fn work(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        if !self.script.is_bracketed() {
            return match self.script {
                Script::Insert => self.insert(session),
                Script::UpdateIndex => self.update_indexed(session),
                Script::Delete => self.delete(session),
                _ => self.point(session),
            };
        }
        session.run(self.begin)?;
        if self.script != Script::WriteOnly {
            for _ in 0..POINT_SELECTS {
                self.point(session)?;
            }
            for of in [Statement::Range, Statement::SumOfRange, Statement::OrderedRange, Statement::DistinctRange] {
                self.range(session, of)?;
            }
        }
        let mut grown = 0;
        if self.script != Script::ReadOnly {
            self.update_indexed(session)?;
            self.update_other(session)?;
            grown = self.put_back(session)?;
        }
        session.run("COMMIT")?;
        Ok(grown)
    }

    fn statement(&mut self, of: Statement) -> usize {
        let table = self.random.below(u64::from(self.tables)) as usize;
        table * STATEMENTS.len() + of as usize
    }

    fn row(&mut self) -> u64 {
        1 + self.random.below(self.table_size)
    }

    fn point(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (statement, row) = (self.statement(Statement::Point), self.row());
        session.execute(statement, &[Value::Number(row)]).map(|_| 0)
    }

    fn range(&mut self, session: &mut dyn Session, of: Statement) -> Result<i64, DatabaseError> {
        let (statement, row) = (self.statement(of), self.row());
        session.execute(statement, &[Value::Number(row), Value::Number(row + RANGE_ROWS - 1)]).map(|_| 0)
    }

    fn update_indexed(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (statement, row) = (self.statement(Statement::UpdateIndexed), self.row());
        session.execute(statement, &[Value::Number(row)]).map(|_| 0)
    }

    fn update_other(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (statement, row) = (self.statement(Statement::UpdateOther), self.row());
        self.columns.renew(&mut self.random);
        session.execute(statement, &[Value::Text(&self.columns.c), Value::Number(row)]).map(|_| 0)
    }

    fn delete(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (statement, row) = (self.statement(Statement::Delete), self.row());
        Ok(-(session.execute(statement, &[Value::Number(row)])? as i64))
    }

    fn insert(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (statement, k) = (self.statement(Statement::Insert), self.row());
        self.columns.renew(&mut self.random);
        let values = [Value::Number(k), Value::Text(&self.columns.c), Value::Text(&self.columns.pad)];
        Ok(session.execute(statement, &values)? as i64)
    }

    /// Removes a row and puts another in its place, in the same table.
    fn put_back(&mut self, session: &mut dyn Session) -> Result<i64, DatabaseError> {
        let (delete, row, k) = (self.statement(Statement::Delete), self.row(), self.row());
        let removed = session.execute(delete, &[Value::Number(row)])? as i64;
        self.columns.renew(&mut self.random);
        let insert = delete - Statement::Delete as usize + Statement::InsertAt as usize;
        let text = [Value::Text(&self.columns.c), Value::Text(&self.columns.pad)];
        let added = session.execute(insert, &[Value::Number(row), Value::Number(k), text[0], text[1]])? as i64;
        Ok(added - removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_numbered_in_their_order_and_values_as_the_server_writes_them() {
        for (number, statement) in STATEMENTS.into_iter().enumerate() {
            assert_eq!(statement as usize, number);
        }
        let sql = Statement::InsertAt.sql(Server::Postgresql, "sbtest1");
        assert_eq!(sql, "INSERT INTO sbtest1 (id, k, c, pad) VALUES ($1, $2, $3, $4)");
        assert_eq!(Statement::Point.sql(Server::Mariadb, "sbtest2"), "SELECT c FROM sbtest2 WHERE id=?");
    }

    #[test]
    fn columns_have_the_lengths_and_the_form_that_the_schema_asks_for() {
        let mut random = Random::new(1);
        let mut columns = Columns::new();
        columns.renew(&mut random);
        assert_eq!((columns.c.len(), columns.pad.len()), (119, 59));
        assert!(columns.c.split('-').all(|group| group.len() == 11 && group.bytes().all(|byte| byte.is_ascii_digit())));
        let before = columns.c.clone();
        columns.renew(&mut random);
        assert_ne!(columns.c, before);
        assert!((0..10_000).all(|_| random.below(7) < 7));
        assert_eq!(fill(1, 3, 10, &mut random).matches("), (").count(), 2);
    }

    /// Counts what is asked for.
    #[derive(Default)]
    struct Asked {
        statements: Vec<usize>,
        said: Vec<String>,
        fails_at: Option<usize>,
    }

    impl Session for Asked {
        fn run(&mut self, sql: &str) -> Result<u64, DatabaseError> {
            self.said.push(sql.to_owned());
            Ok(0)
        }
        fn rows(&mut self, _: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
            Ok(Vec::new())
        }
        fn prepare(&mut self, _: &str) -> Result<(), DatabaseError> {
            Ok(())
        }
        fn execute(&mut self, statement: usize, _: &[Value<'_>]) -> Result<u64, DatabaseError> {
            if self.fails_at == Some(statement) {
                return Err(DatabaseError { message: "a deadlock".to_owned(), cure: Cure::Again });
            }
            self.statements.push(statement);
            Ok(1)
        }
    }

    fn transactions(script: &str) -> Transactions {
        let oltp: Oltp = toml::from_str(&format!("script = \"{script}\"\nserver = \"mariadb\"")).unwrap();
        Transactions::new(&oltp, 7)
    }

    #[test]
    fn the_mixture_is_that_of_the_scripts() {
        for (script, statements, grown) in [
            ("point-select", vec![0], 0),
            ("insert", vec![9], 1),
            ("update-index", vec![5], 0),
            ("delete", vec![7], -1),
            ("read-only", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 0),
            ("write-only", vec![5, 6, 7, 8], 0),
            ("read-write", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], 0),
        ] {
            let mut asked = Asked::default();
            assert_eq!(transactions(script).one(&mut asked), Ok(grown), "{script}");
            assert_eq!(asked.statements, statements, "{script}");
            let brackets: &[&str] = if statements.len() > 1 { &["BEGIN", "COMMIT"] } else { &[] };
            assert_eq!(asked.said, brackets, "{script}");
        }
    }

    #[test]
    fn a_transaction_that_met_a_deadlock_is_taken_back() {
        let mut asked = Asked { fails_at: Some(Statement::UpdateOther as usize), ..Asked::default() };
        let error = transactions("write-only").one(&mut asked).unwrap_err();
        assert_eq!(error.cure, Cure::Again);
        assert_eq!(asked.said, ["BEGIN", "ROLLBACK"]);
    }
}
