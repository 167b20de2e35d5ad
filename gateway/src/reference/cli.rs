//! `cli.md` from the parser of the command line.

use clap::{Arg, Command, CommandFactory};

use super::markdown::{code, heading, paragraph, table};
use crate::cli::Cli;
use crate::cli::exit::Exit;

/// Flags of every command, which clap adds itself.
const STANDARD: [&str; 2] = ["help", "version"];

pub(super) fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let mut text = heading("Command line", "`gateway/src/cli/mod.rs`");
    text.push_str(&about(&root));
    text.push_str("Verdicts and tables go to standard output; progress, notes, warnings and errors to standard error.\n\n");
    let commands = commands("tribunal", &root);
    let rows: Vec<Vec<String>> = commands.iter().map(|(name, command)| summary(name, command)).collect();
    text.push_str(&table(&["command", "what it does"], &rows));
    text.push_str("## Flags of every command\n\n");
    text.push_str(&arguments(root.get_arguments().filter(|argument| argument.is_global_set())));
    for (name, command) in commands {
        text.push_str(&section(&name, command));
    }
    text.push_str(&exit_codes());
    text
}

/// What can be typed, in full; a command of commands stands for nothing by itself.
fn commands<'a>(name: &str, of: &'a Command) -> Vec<(String, &'a Command)> {
    let mut found = Vec::new();
    for command in of.get_subcommands().filter(|command| is_shown(command)) {
        let name = format!("{name} {}", command.get_name());
        if command.has_subcommands() {
            found.extend(commands(&name, command));
        } else {
            found.push((name, command));
        }
    }
    found
}

/// `help` explains the others; a hidden command is for this repository alone.
fn is_shown(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

fn summary(name: &str, command: &Command) -> Vec<String> {
    vec![
        format!("[`{name}`](#{})", name.replace(' ', "-")),
        command.get_about().map(|about| sentence(&about.to_string())).unwrap_or_default(),
    ]
}

fn section(name: &str, command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let own = command.get_arguments().filter(|argument| !argument.is_global_set());
    let mut text = format!("## {name}\n\n{}", about(command));
    text.push_str(&paragraph(&format!("```\n{usage}\n```")));
    text.push_str(&arguments(own));
    if let Some(more) = command.get_after_help() {
        text.push_str(&paragraph(&more.to_string()));
    }
    text
}

fn about(command: &Command) -> String {
    command.get_about().map(|about| format!("{}\n\n", sentence(&about.to_string()))).unwrap_or_default()
}

/// The parser takes the last full stop of a help text away.
fn sentence(help: &str) -> String {
    format!("{}.", help.trim_end_matches('.'))
}

fn arguments<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let shown = arguments.filter(|a| !a.is_hide_set() && !STANDARD.contains(&a.get_id().as_str()));
    let rows: Vec<Vec<String>> = shown.map(row).collect();
    table(&["argument", "default", "meaning"], &rows)
}

fn row(argument: &Arg) -> Vec<String> {
    let mut meaning = argument.get_help().map(|help| sentence(&help.to_string())).unwrap_or_default();
    let possible: Vec<String> =
        argument.get_possible_values().iter().map(|value| code(value.get_name())).collect();
    let is_flag = !argument.get_action().takes_values();
    if !possible.is_empty() && !is_flag {
        meaning = format!("{meaning} One of {}.", possible.join(", "));
    }
    if let Some(variable) = argument.get_env() {
        meaning = format!("{meaning} Also the variable `{}`.", variable.to_string_lossy());
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| code(&value.to_string_lossy())).collect();
    vec![code(&spelling(argument)), if is_flag { String::new() } else { defaults.join(", ") }, meaning]
}

fn spelling(argument: &Arg) -> String {
    let value = argument
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| if argument.is_positional() { name.to_string() } else { format!(" {name}") })
        .collect::<String>();
    let value = if argument.get_action().takes_values() { value } else { String::new() };
    match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value,
    }
}

fn exit_codes() -> String {
    let rows: Vec<Vec<String>> =
        Exit::ALL.iter().map(|exit| vec![exit.code().to_string(), exit.meaning().to_owned()]).collect();
    let mut text = String::from("## Exit codes\n\nWhen several apply, the one that stands first wins.\n\n");
    text.push_str(&table(&["code", "meaning"], &rows));
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_says_what_it_means() {
        let mut root = Cli::command();
        root.build();
        for (name, command) in commands("tribunal", &root) {
            assert!(command.get_about().is_some(), "{name}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name} {}", argument.get_id());
            }
        }
    }
}
