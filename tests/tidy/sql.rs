//! Every statement in the store is used: an unused one would look maintained and never run.

use super::{assert_none, has_extension, rust_files, text_files};

/// A statement is used when a Rust file names it; a migration also when a Rust file embeds its folder.
fn unused(sql_paths: &[&str], rust: &str) -> Vec<String> {
    let is_used = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folder = path.rsplit('/').nth(1).unwrap_or_default();
        rust.contains(&format!("{folder}/{name}\""))
            || rust.contains(&format!("\"{name}\""))
            || (folder == "migrations" && rust.contains("migrate!(") && rust.contains("migrations\")"))
    };
    sql_paths
        .iter()
        .filter(|path| !is_used(path))
        .map(|path| format!("{path}: no Rust file includes it"))
        .collect()
}

#[test]
fn every_sql_file_is_used() {
    let files = text_files();
    let sql: Vec<&str> =
        files.iter().map(|file| file.path.as_str()).filter(|path| has_extension(path, "sql")).collect();
    let rust: String = rust_files().iter().map(|file| file.text.as_str()).collect();
    assert_none(&unused(&sql, &rust));
}

#[test]
fn unused_sql_is_found() {
    let rust = "const CLAIM: &str = include_str!(\"sql/claim.sql\");";
    assert_eq!(unused(&["store/sql/claim.sql", "store/sql/old.sql"], rust).len(), 1);
    let migrator = "sqlx::migrate!(\"src/store/migrations\")";
    assert_eq!(unused(&["store/migrations/0001_start.sql"], migrator).len(), 0);
    assert_eq!(unused(&["store/migrations/0001_start.sql"], rust).len(), 1);
}
