//! The built program, run as a user runs it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::panel::Folder;

/// Longest run of a command.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a command ended.
#[derive(Debug)]
pub struct Ran {
    /// `None`: killed by a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as JSON lines.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }
}

/// Runs `tribunal` in the folder, without this machine's environment.
pub fn tribunal<S: AsRef<OsStr>>(folder: &Folder, arguments: &[S]) -> Ran {
    tribunal_with(folder, arguments, &[], "")
}

/// The same with variables of the test's own and standard input.
pub fn tribunal_with<S: AsRef<OsStr>>(
    folder: &Folder,
    arguments: &[S],
    environment: &[(&str, &str)],
    stdin: &str,
) -> Ran {
    let mut command = assert_cmd::Command::from_std(command(folder, arguments));
    let output = command.envs(environment.iter().copied()).write_stdin(stdin).timeout(PATIENCE).output();
    let output = output.expect("the program runs");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Starts it and does not wait; output goes to the files `stdout` and `stderr` of the folder.
pub fn start<S: AsRef<OsStr>>(folder: &Folder, arguments: &[S]) -> Running {
    let out = |name: &str| Stdio::from(std::fs::File::create(folder.file(name)).expect("a file"));
    let child =
        command(folder, arguments).stdin(Stdio::null()).stdout(out("stdout")).stderr(out("stderr")).spawn();
    Running { child: child.expect("the program starts") }
}

/// A started program; it is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: std::process::Child,
}

impl Running {
    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// As Ctrl-C until it ends: signals that come close together may merge into one.
    pub fn interrupt_until_it_ends(&mut self, folder: &Folder) -> Ran {
        while self.child.try_wait().expect("a child").is_none() {
            self.interrupt();
            std::thread::yield_now();
        }
        self.wait(folder)
    }

    /// Ends it at once, as a power cut does.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Waits for its end.
    pub fn wait(&mut self, folder: &Folder) -> Ran {
        let status = self.child.wait().expect("it ends");
        Ran { code: status.code(), stdout: folder.read("stdout"), stderr: folder.read("stderr") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn command<S: AsRef<OsStr>>(folder: &Folder, arguments: &[S]) -> Command {
    let mut command = Command::new(program());
    command.env_clear().current_dir(folder.path()).args(arguments);
    command
}

/// The program of this checkout, built after the last change of any file that it is made from.
pub fn program() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        // The test itself stands in `<target>/<profile>/deps`.
        let own = std::env::current_exe().expect("a path of this test");
        let built = own.parent().and_then(Path::parent).expect("a target folder").join("tribunal");
        let at = |path: &Path| std::fs::metadata(path).and_then(|facts| facts.modified());
        let is_fresh = at(&built).is_ok_and(|built_at| {
            sources(&built).iter().all(|source| at(source).is_ok_and(|changed_at| changed_at <= built_at))
        });
        assert!(is_fresh, "{} is not built from these sources; run: cargo build -p gateway", built.display());
        built
    })
}

/// What cargo made the program from: its dependency file, `target: source source …`, blanks escaped.
fn sources(built: &Path) -> Vec<PathBuf> {
    let list = std::fs::read_to_string(built.with_extension("d")).expect("cargo's list of sources");
    let (_, sources) = list.split_once(": ").expect("a target and its sources");
    let sources = sources.trim_end().replace("\\ ", "\0");
    sources.split(' ').map(|source| PathBuf::from(source.replace('\0', " "))).collect()
}
