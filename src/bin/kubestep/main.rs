//! The command line of Kubestep: play recorded cases, scripts and lessons, make and read links.

mod conformance;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Conformance { paths, show, failed, floors } => {
            conformance::command(&paths, &show, failed, floors.as_deref())
        }
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("kubestep: {message}");
            ExitCode::from(2)
        }
    }
}
