//! Multi-row statements: one text per number of rows, from the one-row statement in the `.sql` file. Nothing but
//! placeholders is ever added, so that few statements serve all batches and each stays prepared.

use std::sync::Arc;

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe};

use super::dialect::Dialect;

pub(super) type Bound<'q> = Query<'q, Any, AnyArguments>;

/// Rows per statement, largest first. 64 rows of the widest table stay far below SQLite's 32,766 parameters.
const ROWS: [usize; 4] = [64, 16, 4, 1];

/// Values per `IN` list, smallest first; a shorter list is filled up with its last value.
const LIST: [usize; 4] = [1, 8, 64, 256];

/// An `INSERT` for 1, 4, 16 and 64 rows.
pub(super) struct Insert {
    numbered: [Arc<str>; ROWS.len()],
    /// Why: SQLite looks the name of each `$n` up in a list, each time it is bound; a statement with 2,000 of them
    /// spends most of its time there. A bare `?` has no name.
    nameless: [Arc<str>; ROWS.len()],
}

/// A row that knows its place in the placeholders of its statement.
pub(super) trait BindRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q>;
}

impl Insert {
    pub(super) fn of(one_row: &str) -> Self {
        let widen = |is_numbered| ROWS.map(|rows| Arc::from(widen_rows(one_row, rows, is_numbered)));
        Self { numbered: widen(true), nameless: widen(false) }
    }

    /// Writes all rows; returns how many statements that took.
    pub(super) async fn execute<R: BindRow + Sync>(
        &self,
        dialect: Dialect,
        connection: &mut AnyConnection,
        rows: &[&R],
    ) -> Result<usize, sqlx::Error> {
        let by_rows = match dialect {
            Dialect::Sqlite => &self.nameless,
            Dialect::Postgres => &self.numbered,
        };
        let mut rest = rows;
        let mut statements = 0;
        for (size, sql) in ROWS.iter().zip(by_rows) {
            while let Some((chunk, after)) = rest.split_at_checked(*size) {
                if chunk.is_empty() {
                    break;
                }
                let query = sqlx::query(AssertSqlSafe(Arc::clone(sql)));
                let query = chunk.iter().fold(query, |query, row| row.bind(query));
                query.execute(&mut *connection).await?;
                statements += 1;
                rest = after;
            }
        }
        Ok(statements)
    }
}

/// A `SELECT` whose last parameter is an `IN` list.
pub(super) struct SelectIn {
    by_length: [Arc<str>; LIST.len()],
}

impl SelectIn {
    /// `sql` has `IN ($n)` once, `$n` being its last parameter.
    pub(super) fn of(sql: &str) -> Self {
        Self { by_length: LIST.map(|length| Arc::from(widen_list(sql, length))) }
    }

    /// One text for each number of values.
    #[cfg(test)]
    pub(super) fn texts(&self) -> &[Arc<str>] {
        &self.by_length
    }

    /// One query per chunk of the list: a function that binds the earlier parameters, then `bind_list`.
    pub(super) fn chunks<'a>(
        &'a self,
        list: &'a [String],
    ) -> impl Iterator<Item = (Bound<'static>, ListChunk<'a>)> {
        let largest = LIST.last().copied().unwrap_or(1);
        list.chunks(largest).filter_map(move |values| {
            let (length, sql) =
                LIST.iter().zip(&self.by_length).find(|(length, _)| **length >= values.len())?;
            let query = sqlx::query(AssertSqlSafe(Arc::clone(sql)));
            Some((query, ListChunk { values, length: *length }))
        })
    }
}

/// Some values of an `IN` list.
pub(super) struct ListChunk<'a> {
    values: &'a [String],
    length: usize,
}

impl ListChunk<'_> {
    pub(super) fn bind<'q>(&self, query: Bound<'q>) -> Bound<'q> {
        let filling = std::iter::repeat(self.values.last()).flatten();
        self.values
            .iter()
            .chain(filling)
            .take(self.length)
            .fold(query, |query, value| query.bind(value.clone()))
    }
}

/// Repeats the group after `VALUES`, with growing numbers or with none.
fn widen_rows(one_row: &str, rows: usize, is_numbered: bool) -> String {
    let Some((head, group_and_tail)) = one_row.split_once("VALUES (") else { return one_row.to_owned() };
    let Some((group, tail)) = group_and_tail.split_once(')') else { return one_row.to_owned() };
    let columns = group.matches('$').count();
    let mut sql = [head, "VALUES "].concat();
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        push_placeholders(&mut sql, is_numbered.then_some(row * columns + 1), columns);
        sql.push(')');
    }
    sql.push_str(tail);
    sql
}

/// Replaces the one placeholder of the `IN` list by as many as it needs.
fn widen_list(sql: &str, length: usize) -> String {
    let Some((head, list_and_tail)) = sql.split_once("IN ($") else { return sql.to_owned() };
    let Some((first, tail)) = list_and_tail.split_once(')') else { return sql.to_owned() };
    let Ok(first) = first.parse::<usize>() else { return sql.to_owned() };
    let mut widened = [head, "IN ("].concat();
    push_placeholders(&mut widened, Some(first), length);
    widened.push(')');
    widened.push_str(tail);
    widened
}

/// `$first, $first+1, …`, or `?, ?, …` without a first number.
fn push_placeholders(sql: &mut String, first: Option<usize>, count: usize) {
    for offset in 0..count {
        sql.push_str(if offset == 0 { "" } else { ", " });
        match first {
            Some(first) => {
                sql.push('$');
                sql.push_str(&(first + offset).to_string());
            }
            None => sql.push('?'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_on() {
        let one = "INSERT INTO t (a, b)\nVALUES ($1, $2)\nON CONFLICT DO NOTHING\n";
        let check = |rows, is_numbered, group: &str| {
            let expected = ["INSERT INTO t (a, b)\nVALUES ", group, "\nON CONFLICT DO NOTHING\n"].concat();
            assert_eq!(widen_rows(one, rows, is_numbered), expected);
        };
        check(1, true, "($1, $2)");
        check(3, true, "($1, $2), ($3, $4), ($5, $6)");
        check(2, false, "(?, ?), (?, ?)");
    }

    #[test]
    fn lists_start_at_their_own_number() {
        let sql = "SELECT a FROM t WHERE p = $1 AND a IN ($2) LIMIT 5";
        assert_eq!(widen_list(sql, 1), sql);
        assert_eq!(widen_list(sql, 3), "SELECT a FROM t WHERE p = $1 AND a IN ($2, $3, $4) LIMIT 5");
    }

    #[test]
    fn a_long_list_is_cut_into_chunks_of_known_length() {
        let select = SelectIn::of("SELECT a FROM t WHERE a IN ($1)");
        let lengths = |count: usize| -> Vec<(usize, usize)> {
            let list: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            select.chunks(&list).map(|(_, chunk)| (chunk.values.len(), chunk.length)).collect()
        };
        assert_eq!(lengths(0), []);
        assert_eq!(lengths(1), [(1, 1)]);
        assert_eq!(lengths(9), [(9, 64)]);
        assert_eq!(lengths(300), [(256, 256), (44, 64)]);
    }
}
