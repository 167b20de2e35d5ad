//! The licences of everything that is shipped, against the list in deny.toml.

use super::dependencies::Tree;
use super::{assert_none, read};

/// Whether an SPDX expression can be met with allowed licences alone. `/` is the old way to write `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut position = 0;
    let met = any_of(&words, &mut position, allowed);
    met && position == words.len()
}

fn any_of(words: &[&str], position: &mut usize, allowed: &[String]) -> bool {
    let mut met = all_of(words, position, allowed);
    while words.get(*position) == Some(&"OR") {
        *position += 1;
        met |= all_of(words, position, allowed);
    }
    met
}

fn all_of(words: &[&str], position: &mut usize, allowed: &[String]) -> bool {
    let mut met = one_of(words, position, allowed);
    while words.get(*position) == Some(&"AND") {
        *position += 1;
        met &= one_of(words, position, allowed);
    }
    met
}

fn one_of(words: &[&str], position: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*position) else { return false };
    *position += 1;
    if *word == "(" {
        let met = any_of(words, position, allowed);
        *position += 1;
        return met;
    }
    let mut licence = (*word).to_owned();
    if words.get(*position) == Some(&"WITH") {
        licence = format!("{word} WITH {}", words.get(*position + 1).unwrap_or(&""));
        *position += 2;
    }
    allowed.contains(&licence)
}

fn allow_list(deny: &str) -> Vec<String> {
    let lines = deny.lines().skip_while(|line| *line != "allow = [").skip(1).take_while(|line| *line != "]");
    lines.filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

#[test]
fn every_licence_is_allowed() {
    let (tree, allowed) = (Tree::of("gateway"), allow_list(&read("deny.toml")));
    assert!(allowed.len() > 5, "deny.toml was not read");
    let refused = tree.packages.iter().filter(|package| !is_allowed(&package.licence, &allowed));
    let findings: Vec<String> = refused
        .map(|package| format!("{} {}: `{}`", package.name, package.version, package.licence))
        .collect();
    assert_none(&findings);
}

#[test]
fn licences_outside_the_list_are_found() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    let check = |expression: &str, expected: bool| {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    };
    check("MIT", true);
    check("GPL-3.0", false);
    check("", false);
    check("GPL-3.0 OR MIT", true);
    check("GPL-3.0 AND MIT", false);
    check("Unlicense/MIT", true);
    check("(GPL-3.0 OR MIT) AND ISC", true);
    check("(GPL-3.0 OR MIT) AND GPL-2.0", false);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("Apache-2.0", false);
    check("MIT ISC", false);
}
