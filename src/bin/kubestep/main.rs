//! The command line of Kubestep: play recorded cases, scripts and lessons, make and read links.

mod conformance;
mod lesson;
mod run;
mod share;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kubestep::i18n::Language;

/// Kubernetes you can step, rewind and trace.
#[derive(Parser)]
#[command(name = "kubestep", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play recorded cases and print how many pass, one line per area
    Conformance {
        /// Folders (searched recursively) or files of cases
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print what differs in this case instead
        #[arg(long, value_name = "ID")]
        show: Vec<String>,
        /// Print the id and the first difference of every failing case before the totals
        #[arg(long)]
        failed: bool,
        /// Fail if an area passes fewer cases than this file says
        #[arg(long, value_name = "FILE")]
        floors: Option<PathBuf>,
    },
    /// Play a script and print a transcript (docs/SCRIPTS.md)
    Run {
        /// The script, or `-` for standard input; file names in it resolve beside it
        file: PathBuf,
        /// Print facts and requests as lines of JSON
        #[arg(long)]
        json: bool,
        /// The seed of the cluster
        #[arg(long, default_value_t = 42)]
        seed: u64,
        /// The language of what is told: `en` or `ko`
        #[arg(long, default_value = "en")]
        lang: String,
    },
    /// Lessons
    #[command(subcommand)]
    Lesson(LessonCommand),
    /// Links
    #[command(subcommand)]
    Share(ShareCommand),
}

#[derive(Subcommand)]
enum LessonCommand {
    /// Prove that a lesson, or every lesson in a folder, can be played (docs/LESSONS.md)
    Check {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Subcommand)]
enum ShareCommand {
    /// Print the link to where a script leads (docs/LINKS.md)
    Encode {
        /// The script
        file: PathBuf,
        /// The seed of the cluster
        #[arg(long, default_value_t = 42)]
        seed: u64,
    },
    /// Print what a link holds
    Decode {
        /// The link, or `-` for standard input
        link: String,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Conformance { paths, show, failed, floors } => {
            conformance::command(&paths, &show, failed, floors.as_deref())
        }
        Command::Run { file, json, seed, lang } => match Language::of_tag(&lang) {
            Some(language) => run::command(&file, &run::Options { seed, json, language }),
            None => Err(format!("the language `{lang}` is not spoken here")),
        },
        Command::Lesson(LessonCommand::Check { folder }) => lesson::check_all(&folder),
        Command::Share(ShareCommand::Encode { file, seed }) => share::encode(&file, seed),
        Command::Share(ShareCommand::Decode { link }) => share::decode(&link),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("kubestep: {message}");
            ExitCode::from(2)
        }
    }
}
