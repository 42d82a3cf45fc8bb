//! Sessions that broke a promise once, as short as they could be made.

use kubestep::cluster::server::request::Propagation;

use super::act::{Act, Image, Template};

/// A template without a wish to be apart.
fn template(cpu_millicores: i64, important: bool, image: Image) -> Template {
    Template { cpu_millicores, important, apart: false, image }
}

/// What was wrong, and the session that showed it.
pub fn sessions() -> Vec<(&'static str, Vec<Act>)> {
    let deploy = |name, replicas, template| Act::Deploy { name, replicas, template };
    vec![
        (
            "a set that was reported to have unhealthy Pods is made smaller when the last of them is just ready",
            vec![
                deploy(1, 3, template(700, false, Image::Good(0))),
                Act::Wait { ticks: 1 },
                deploy(1, 4, template(1500, true, Image::Missing)),
                deploy(2, 2, template(1500, true, Image::Good(0))),
                Act::Job { name: 0, completions: 3, fails: false },
                Act::Wait { ticks: 10 },
            ],
        ),
        (
            "a set with an image that is missing is about to be orphaned when everything is mended",
            vec![
                deploy(1, 1, template(100, false, Image::Missing)),
                Act::Wait { ticks: 1 },
                Act::Delete { workload: 1, propagation: Propagation::Orphan },
            ],
        ),
        (
            "a Deployment is scaled and goes back to its first template at once",
            vec![
                deploy(1, 1, template(100, false, Image::Good(0))),
                Act::Wait { ticks: 1 },
                deploy(1, 3, template(100, false, Image::Good(1))),
                Act::Wait { ticks: 16 },
                Act::Scale { workload: 1, replicas: 2 },
            ],
        ),
    ]
}
