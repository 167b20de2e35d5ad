//! A file of cases, checked whole before anything is spent.

use std::path::Path;

use anyhow::Context;

use super::exit::{Exit, Failure};
use super::{RunArgs, output};
use crate::intake::{Against, CaseFile, FieldMap, IntakeOptions, Report, validate};
use crate::panel::Panel;
use crate::run::checks::{self, Unaskable};
use crate::settings::Config;

/// A file that this panel can judge as it stands.
pub(super) struct CheckedFile {
    pub file: CaseFile,
    pub options: IntakeOptions,
    pub report: Report,
}

/// Reads the file once and refuses it with everything that is wrong with it.
pub(super) async fn check(
    path: &Path,
    config: &Config,
    panel: &Panel,
    args: &RunArgs,
    against: Option<Against>,
) -> Result<CheckedFile, Failure> {
    if let Some(fixed) = checks::unrepeatable(panel, args.repeat) {
        return Err(Failure::usage(format!("{fixed}; hint: leave --repeat out")));
    }
    let options = IntakeOptions { against, ..options(panel, args)? };
    let (file, report) = check_cases(path, &options).await?;
    refuse_bad_cases(path, &report, args)?;
    for warning in report.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    refuse_unaskable(path, panel, &report)?;
    refuse_kin(panel, &report, &config.models, args.allow_kin)?;
    Ok(CheckedFile { file, options, report })
}

fn options(panel: &Panel, args: &RunArgs) -> Result<IntakeOptions, Failure> {
    Ok(IntakeOptions {
        map: map(args)?,
        candidate_texts: checks::candidate_texts(panel),
        from: args.from,
        against: None,
        repeat: args.repeat,
    })
}

pub(super) fn map(args: &RunArgs) -> Result<FieldMap, Failure> {
    let map = args.map.as_deref().map(str::parse::<FieldMap>).transpose();
    Ok(map.map_err(|error| Failure::new(Exit::Usage, error))?.unwrap_or_default())
}

/// Reads the whole file once, before any call.
async fn check_cases(path: &Path, options: &IntakeOptions) -> Result<(CaseFile, Report), Failure> {
    let (path, options) = (path.to_owned(), options.clone());
    let checked = tokio::task::spawn_blocking(move || {
        let file = CaseFile::open(&path)?;
        let report = validate(&file, &options)?;
        Ok::<_, crate::intake::IntakeError>((file, report))
    });
    checked
        .await
        .context("the check of the cases stopped")?
        .map_err(|error| Failure::new(Exit::BadData, error))
}

fn refuse_bad_cases(path: &Path, checked: &Report, args: &RunArgs) -> Result<(), Failure> {
    let name = path.display();
    for problem in &checked.problems {
        output::note(&format!("{name}:{problem}"));
    }
    for duplicate in &checked.duplicates {
        output::note(&format!(
            "{name}:{}: id `{}` stands at line {} already\n  hint: ids are unique within a run; leave `id` out to name cases by content",
            duplicate.line, duplicate.id, duplicate.first_line
        ));
    }
    let listed = (checked.problems.len() + checked.duplicates.len()) as u64;
    let all = checked.problem_count + checked.duplicate_count;
    if all > listed {
        output::note(&format!("… and {} more", all - listed));
    }
    let bad_lines = checked.problem_count > 0 && (!args.skip_bad_lines || checked.stopped_early());
    if bad_lines || checked.duplicate_count > 0 {
        let hint = if checked.duplicate_count > 0 || checked.stopped_early() {
            "mend the file"
        } else {
            "mend the lines, or leave them out with --skip-bad-lines"
        };
        let message = format!("{name}: {all} problems in the cases; nothing was judged; hint: {hint}");
        return Err(Failure::new(Exit::BadData, anyhow::Error::msg(message)));
    }
    if checked.cases == 0 {
        return Err(Failure::new(
            Exit::Inconclusive,
            anyhow::Error::msg(format!("{name}: no case is left to judge")),
        ));
    }
    if !args.by_mode && checks::mixes_references(checked) {
        return Err(Failure::usage(format!(
            "{name}: some cases have a reference and some have none, so their scores are not comparable; hint: --by-mode reports them apart"
        )));
    }
    if args.skip_bad_lines && checked.problem_count > 0 {
        output::note(&format!("{name}: {} lines are left out", checked.problem_count));
    }
    Ok(())
}

/// Templates without a file for a mode, and cases without a field that a template needs, stop it too.
fn refuse_unaskable(path: &Path, panel: &Panel, checked: &Report) -> Result<(), Failure> {
    let problems: Vec<String> = checks::unaskable(panel, checked)
        .into_iter()
        .map(|found| match found {
            Unaskable::Unchecked(what) => what,
            Unaskable::NoFile(what) => format!("{what}\n  hint: add the file, or use another template"),
            Unaskable::Lacks(at, what) => format!("{}:{}: case `{}`: {what}", path.display(), at.line, at.id),
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::BadData, anyhow::Error::msg(problems.join("\n"))))
}

/// Kinship that leaves no quorum stops the run before its first call.
fn refuse_kin(
    panel: &Panel,
    checked: &Report,
    models: &[crate::panel::ModelKin],
    allow_kin: bool,
) -> Result<(), Failure> {
    if allow_kin {
        output::note("warning: judges vote on answers of their own model or family (--allow-kin)");
        return Ok(());
    }
    let Some(gap) = checks::kinship_gap(panel, checked, models) else { return Ok(()) };
    Err(Failure::new(
        Exit::Configuration,
        anyhow::Error::msg(format!(
            "panel `{}` has no quorum for answers of `{}`: related judges are left out ({}); hint: add judges of other families, or let them vote with --allow-kin",
            panel.name,
            gap.model,
            gap.judges.join(", ")
        )),
    ))
}
