//! The scripts: schema, statements and their mixture as sysbench's OLTP scripts have them.

use super::session::{Cure, DatabaseError, Session, Value};
use model::oltp::{Distribution, Oltp, POINT_SELECTS, RANGE_ROWS, Script, Server};
use std::fmt::Write;

/// Digits of the columns `c` and `pad`: groups of eleven, joined by dashes.
const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;
/// Rows of one INSERT while a table is filled.
pub(crate) const ROWS_AT_ONCE: u64 = 500;

/// Of 100 draws of the distribution `special` so many fall among the special rows (`--rand-spec-res`).
const SPECIAL_DRAWS: u64 = 75;
/// One row of so many is special (`--rand-spec-pct=1`).
const SPECIAL_ROWS: u64 = 100;
/// The other draws are means of so many even ones (`--rand-spec-iter`).
const SPECIAL_MEANS: u64 = 12;

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
pub(crate) fn fill(number: u32, rows: u64, oltp: &Oltp, random: &mut Random) -> String {
    let mut sql = format!("INSERT INTO {} (k, c, pad) VALUES ", table(number));
    let mut columns = Columns::new();
    for row in 0..rows {
        columns.renew(random);
        let comma = if row == 0 { "" } else { ", " };
        let k = random.row(oltp.distribution, oltp.table_size);
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

    /// A row of so many, from 1, drawn as asked for.
    pub(crate) fn row(&mut self, distribution: Distribution, rows: u64) -> u64 {
        1 + match distribution {
            Distribution::Uniform => self.below(rows),
            Distribution::Special if self.below(100) < SPECIAL_DRAWS => {
                let special = (rows / SPECIAL_ROWS).max(1);
                (rows - special) / 2 + self.below(special)
            }
            // The sum of a few even draws has the shape of a bell, its top in the middle.
            Distribution::Special => (0..SPECIAL_MEANS).map(|_| self.below(rows)).sum::<u64>() / SPECIAL_MEANS,
        }
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

/// What a transaction changed of what can be counted afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Rows that the tables grew by.
    pub(crate) rows: i64,
    /// What the sum of all `k` grew by, of the script that changes nothing else.
    pub(crate) sum: i64,
}

impl Change {
    fn of_rows(rows: i64) -> Change {
        Change { rows, sum: 0 }
    }

    pub(crate) fn add(&mut self, other: Change) {
        self.rows += other.rows;
        self.sum += other.sum;
    }
}

/// One client's transactions.
pub(crate) struct Transactions {
    script: Script,
    tables: u32,
    table_size: u64,
    distribution: Distribution,
    begin: &'static str,
    /// Whether rows of `insert` stand in the statement's text.
    in_text: bool,
    sql: String,
    random: Random,
    columns: Columns,
}

impl Transactions {
    pub(crate) fn new(oltp: &Oltp, seed: u64) -> Self {
        let begin = match oltp.server {
            // What will write says so at once: a reader that turns into a writer may have to give up.
            Server::Sqlite if !oltp.script.only_reads() => super::sqlite::IMMEDIATE,
            _ => "BEGIN",
        };
        let (script, tables, table_size) = (oltp.script, oltp.tables, oltp.table_size);
        let (random, columns) = (Random::new(seed), Columns::new());
        let (in_text, sql) = (oltp.server != Server::Sqlite, String::new());
        Transactions {
            script,
            tables,
            table_size,
            distribution: oltp.distribution,
            begin,
            in_text,
            sql,
            random,
            columns,
        }
    }

    /// Does one; answers what it changed. After an error nothing of it stands, but where the
    /// connection was lost, which nobody knows.
    ///
    /// # Errors
    /// What the server answered.
    pub(crate) fn one(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
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

    fn work(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        if !self.script.is_bracketed() {
            return match self.script {
                Script::Insert => self.insert(session),
                Script::UpdateIndex => self.update_indexed(session),
                Script::Delete => self.delete(session),
                _ => self.points(session, 1),
            };
        }
        session.run(self.begin)?;
        if self.script != Script::WriteOnly {
            self.points(session, POINT_SELECTS)?;
            for of in [Statement::Range, Statement::SumOfRange, Statement::OrderedRange, Statement::DistinctRange] {
                self.range(session, of)?;
            }
        }
        let mut grown = Change::default();
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
        self.random.row(self.distribution, self.table_size)
    }

    /// So many rows by their keys, all of one table.
    fn points(&mut self, session: &mut dyn Session, count: u32) -> Result<Change, DatabaseError> {
        let statement = self.statement(Statement::Point);
        for _ in 0..count {
            let row = self.row();
            session.execute(statement, &[Value::Number(row)])?;
        }
        Ok(Change::default())
    }

    fn range(&mut self, session: &mut dyn Session, of: Statement) -> Result<Change, DatabaseError> {
        let (statement, row) = (self.statement(of), self.row());
        session
            .execute(statement, &[Value::Number(row), Value::Number(row + RANGE_ROWS - 1)])
            .map(|_| Change::default())
    }

    fn update_indexed(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        let (statement, row) = (self.statement(Statement::UpdateIndexed), self.row());
        let changed = session.execute(statement, &[Value::Number(row)])?;
        Ok(Change { rows: 0, sum: changed as i64 })
    }

    fn update_other(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        let (statement, row) = (self.statement(Statement::UpdateOther), self.row());
        self.columns.renew(&mut self.random);
        session.execute(statement, &[Value::Text(&self.columns.c), Value::Number(row)]).map(|_| Change::default())
    }

    fn delete(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        let (statement, row) = (self.statement(Statement::Delete), self.row());
        Ok(Change::of_rows(-(session.execute(statement, &[Value::Number(row)])? as i64)))
    }

    /// As sysbench's script has it, which prepares all but this: a server reads and plans the text of each. SQLite, which
    /// sysbench does not know, has it prepared.
    fn insert(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        let (statement, k) = (self.statement(Statement::Insert), self.row());
        self.columns.renew(&mut self.random);
        let Columns { c, pad } = &self.columns;
        let added = if self.in_text {
            let table = statement / STATEMENTS.len() + 1;
            self.sql.clear();
            let written = write!(self.sql, "INSERT INTO sbtest{table} (k, c, pad) VALUES ({k}, '{c}', '{pad}')");
            debug_assert!(written.is_ok(), "a String takes what is written");
            session.run(&self.sql)?
        } else {
            session.execute(statement, &[Value::Number(k), Value::Text(c), Value::Text(pad)])?
        };
        Ok(Change::of_rows(added as i64))
    }

    /// Removes a row and puts another in its place, in the same table.
    fn put_back(&mut self, session: &mut dyn Session) -> Result<Change, DatabaseError> {
        let (delete, row, k) = (self.statement(Statement::Delete), self.row(), self.row());
        let removed = session.execute(delete, &[Value::Number(row)])? as i64;
        self.columns.renew(&mut self.random);
        let insert = delete - Statement::Delete as usize + Statement::InsertAt as usize;
        let text = [Value::Text(&self.columns.c), Value::Text(&self.columns.pad)];
        let added = session.execute(insert, &[Value::Number(row), Value::Number(k), text[0], text[1]])? as i64;
        Ok(Change::of_rows(added - removed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::session::Cause;

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
        let ten: Oltp = toml::from_str("script = \"insert\"\ntable_size = 10").unwrap();
        assert_eq!(fill(1, 3, &ten, &mut random).matches("), (").count(), 2);
    }

    #[test]
    fn three_quarters_of_special_draws_fall_into_the_hundredth_in_the_middle() {
        let mut random = Random::new(3);
        let mut draw =
            |distribution, rows| -> Vec<u64> { (0..20_000).map(|_| random.row(distribution, rows)).collect() };
        let within = |draws: &[u64], from: u64, to: u64| {
            draws.iter().filter(|row| (from..=to).contains(row)).count() as f64 / draws.len() as f64
        };
        let special = draw(Distribution::Special, 100_000);
        let middle = within(&special, 49_501, 50_500);
        // 75 % on purpose, and about 5 % of the bell's quarter.
        assert!((0.74..0.79).contains(&middle), "{middle}");
        // A mean of twelve has a deviation of 100,000 / 12: outside of 20,000 to 80,000 lie 3 in 10,000 of it.
        assert!(within(&special, 1, 100_000) == 1.0 && within(&special, 20_000, 80_000) > 0.998);
        assert!(within(&special, 30_000, 49_000) > 0.05, "the others are spread");
        let even = draw(Distribution::Uniform, 100_000);
        assert!((within(&even, 49_501, 50_500) - 0.01).abs() < 0.004);
        assert!(draw(Distribution::Special, 1).iter().all(|row| *row == 1));
        let few = draw(Distribution::Special, 3);
        assert!(few.iter().all(|row| (1..=3).contains(row)) && few.contains(&2));
    }

    #[test]
    fn ten_rows_by_their_keys_come_of_one_table() {
        let of = "script = \"read-only\"\nserver = \"mariadb\"\ntables = 5";
        let mut transactions = Transactions::new(&toml::from_str(of).unwrap(), 7);
        let mut asked = Asked::default();
        for _ in 0..20 {
            transactions.one(&mut asked).unwrap();
        }
        let points: Vec<usize> =
            asked.statements.iter().filter(|number| number.is_multiple_of(STATEMENTS.len())).copied().collect();
        assert_eq!(points.len(), 200);
        assert!(points.chunks(10).all(|ten| ten.iter().all(|one| *one == ten[0])));
        assert!(points.iter().any(|one| *one != points[0]), "blocks draw anew");
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
            Ok(u64::from(sql.starts_with("INSERT")))
        }
        fn rows(&mut self, _: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
            Ok(Vec::new())
        }
        fn prepare(&mut self, _: &str) -> Result<(), DatabaseError> {
            Ok(())
        }
        fn execute(&mut self, statement: usize, _: &[Value<'_>]) -> Result<u64, DatabaseError> {
            if self.fails_at == Some(statement) {
                return Err(DatabaseError { message: "a deadlock".to_owned(), cure: Cure::Again(Cause::Deadlock) });
            }
            self.statements.push(statement);
            Ok(1)
        }
    }

    fn transactions(script: &str) -> Transactions {
        transactions_on("mariadb", 1, script)
    }

    fn transactions_on(server: &str, tables: u32, script: &str) -> Transactions {
        let oltp: Oltp =
            toml::from_str(&format!("script = \"{script}\"\nserver = \"{server}\"\ntables = {tables}")).unwrap();
        Transactions::new(&oltp, 7)
    }

    #[test]
    fn rows_of_insert_stand_in_the_text_where_a_server_reads_it() {
        for server in ["mariadb", "mysql", "postgresql"] {
            let mut asked = Asked::default();
            let mut transactions = transactions_on(server, 3, "insert");
            for _ in 0..20 {
                assert_eq!(transactions.one(&mut asked), Ok(Change { rows: 1, sum: 0 }), "{server}");
            }
            assert!(asked.statements.is_empty(), "{server}");
            for sql in &asked.said {
                let (table, values) = sql.split_once(" (k, c, pad) VALUES (").unwrap();
                assert!(
                    ["INSERT INTO sbtest1", "INSERT INTO sbtest2", "INSERT INTO sbtest3"].contains(&table),
                    "{sql}"
                );
                let values: Vec<&str> = values.strip_suffix(')').unwrap().split(", ").collect();
                let [k, c, pad] = values[..] else { panic!("{sql}") };
                assert!((1..=100_000).contains(&k.parse::<u32>().unwrap()), "{sql}");
                assert_eq!((c.len(), pad.len()), (121, 61), "{sql}");
            }
            assert_ne!(asked.said[0], asked.said[1]);
        }
    }

    #[test]
    fn the_mixture_is_that_of_the_scripts() {
        for (script, statements, grown) in [
            ("point-select", vec![0], 0),
            ("update-index", vec![5], 0),
            ("delete", vec![7], -1),
            ("read-only", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 0),
            ("write-only", vec![5, 6, 7, 8], 0),
            ("read-write", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], 0),
        ] {
            let mut asked = Asked::default();
            let sum = i64::from(script == "update-index");
            assert_eq!(transactions(script).one(&mut asked), Ok(Change { rows: grown, sum }), "{script}");
            assert_eq!(asked.statements, statements, "{script}");
            let brackets: &[&str] = if statements.len() > 1 { &["BEGIN", "COMMIT"] } else { &[] };
            assert_eq!(asked.said, brackets, "{script}");
        }
        let mut asked = Asked::default();
        assert_eq!(transactions_on("sqlite", 1, "insert").one(&mut asked), Ok(Change { rows: 1, sum: 0 }));
        assert_eq!(asked.statements, [9]);
    }

    #[test]
    fn a_transaction_that_met_a_deadlock_is_taken_back() {
        let mut asked = Asked { fails_at: Some(Statement::UpdateOther as usize), ..Asked::default() };
        let error = transactions("write-only").one(&mut asked).unwrap_err();
        assert_eq!(error.cure, Cure::Again(Cause::Deadlock));
        assert_eq!(asked.said, ["BEGIN", "ROLLBACK"]);
    }
}
