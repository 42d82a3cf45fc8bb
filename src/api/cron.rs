//! Schedules of CronJobs: five fields, or a word such as `@daily`.
//!
//! Models: the parser of `robfig/cron` v3 as `ParseStandard` sets it up, `SpecSchedule.Next`, `ConstantDelaySchedule`.
//! Leaves out: zones with summer time, which count as UTC.

use super::time::{Timestamp, civil_from_days};

/// When something is due, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At the times that all fields allow.
    Fields(Fields),
    /// Every so many seconds.
    Every(i64),
}

/// The allowed values of each field, a bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether the field for days allows all of them by a star.
    days_star: bool,
    /// Whether the field for weekdays allows all of them by a star.
    weekdays_star: bool,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const SECONDS_PER_DAY: i64 = 86_400;
/// A schedule that is not due within so many days never is (the 29th of February comes at least every eight years).
const MOST_DAYS: i64 = 366 * 9;

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// What is wrong, in the parser's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(word) = text.strip_prefix('@') {
            let fields = match word {
                "yearly" | "annually" => "0 0 1 1 *",
                "monthly" => "0 0 1 * *",
                "weekly" => "0 0 * * 0",
                "daily" | "midnight" => "0 0 * * *",
                "hourly" => "0 * * * *",
                _ => {
                    let Some(duration) = word.strip_prefix("every ") else {
                        return Err(format!("unrecognized descriptor: {text}"));
                    };
                    return seconds_of(duration).map(|seconds| Self::Every(seconds.max(1))).ok_or_else(
                        || format!("failed to parse duration {text}: time: invalid duration {duration:?}"),
                    );
                }
            };
            return Self::parse(fields);
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
        };
        let has_star = |field: &str| field.split(',').any(|part| part.starts_with(['*', '?']));
        Ok(Self::Fields(Fields {
            minutes: bits(minutes, 0, 59, &[])?,
            hours: bits(hours, 0, 23, &[])?,
            days: bits(days, 1, 31, &[])?,
            months: bits(months, 1, 12, &MONTHS)?,
            weekdays: bits(weekdays, 0, 6, &WEEKDAYS)?,
            days_star: has_star(days),
            weekdays_star: has_star(weekdays),
        }))
    }

    /// The first time after `after` at which it is due, in a zone so many seconds ahead of UTC. `None` if it never is.
    pub fn next(&self, after: Timestamp, zone_seconds: i64) -> Option<Timestamp> {
        match self {
            Self::Every(seconds) => Some(Timestamp(after.0 + seconds)),
            Self::Fields(fields) => {
                fields.next(after.0 + zone_seconds).map(|local| Timestamp(local - zone_seconds))
            }
        }
    }
}

impl Fields {
    fn next(&self, after: i64) -> Option<i64> {
        let has = |bits: u64, value: i64| bits >> value & 1 == 1;
        // The first whole minute after it.
        let start = (after.div_euclid(60) + 1) * 60;
        let first_day = start.div_euclid(SECONDS_PER_DAY);
        for day in first_day..first_day + MOST_DAYS {
            let (_, month, day_of_month) = civil_from_days(day);
            let weekday = (day + 4).rem_euclid(7);
            let (by_day, by_weekday) = (has(self.days, day_of_month), has(self.weekdays, weekday));
            // With a star in either field both must allow the day, else one of them.
            let allows = match self.days_star || self.weekdays_star {
                true => by_day && by_weekday,
                false => by_day || by_weekday,
            };
            if !allows || !has(self.months, month) {
                continue;
            }
            let from = if day == first_day { start.rem_euclid(SECONDS_PER_DAY) / 60 } else { 0 };
            let minute =
                (from..1440).find(|minute| has(self.hours, minute / 60) && has(self.minutes, minute % 60));
            if let Some(minute) = minute {
                return Some(day * SECONDS_PER_DAY + minute * 60);
            }
        }
        None
    }
}

/// `1h30m10s` as seconds.
fn seconds_of(text: &str) -> Option<i64> {
    let mut total = 0;
    let mut digits = String::new();
    for letter in text.trim().chars() {
        match letter {
            '0'..='9' => digits.push(letter),
            'h' | 'm' | 's' => {
                let factor = [('h', 3600), ('m', 60), ('s', 1)].iter().find(|(unit, _)| *unit == letter)?.1;
                total += std::mem::take(&mut digits).parse::<i64>().ok()?.checked_mul(factor)?;
            }
            _ => return None,
        }
    }
    (digits.is_empty() && !text.is_empty()).then_some(total)
}

/// The values that a field allows, a bit each.
fn bits(field: &str, low: u32, high: u32, words: &[&str]) -> Result<u64, String> {
    let mut bits = 0;
    for part in field.split(',') {
        let (start, end, step) = range(part, low, high, words)?;
        let mut value = start;
        while value <= end {
            bits |= 1 << value;
            value += step;
        }
    }
    Ok(bits)
}

/// First, last and step of one part of a field.
fn range(part: &str, low: u32, high: u32, words: &[&str]) -> Result<(u32, u32, u32), String> {
    let number = |text: &str| -> Result<u32, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(index) = words.iter().position(|word| *word == lower) {
            return Ok(u32::try_from(index).unwrap_or(0) + low);
        }
        match text.parse::<i64>() {
            Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
            Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
            Err(_) => Err(format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
            )),
        }
    };
    let pieces: Vec<&str> = part.split('/').collect();
    let ends: Vec<&str> = pieces[0].split('-').collect();
    let (start, mut end) = match ends[..] {
        ["*" | "?"] => (low, high),
        [only] => {
            let only = number(only)?;
            (only, only)
        }
        [first, last] => (number(first)?, number(last)?),
        _ => return Err(format!("too many hyphens: {part}")),
    };
    let step = match pieces[..] {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                end = high;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {part}")),
    };
    if start < low {
        return Err(format!("beginning of range ({start}) below minimum ({low}): {part}"));
    }
    if end > high {
        return Err(format!("end of range ({end}) above maximum ({high}): {part}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {part}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    Ok((start, end, step))
}

/// Seconds that a zone is ahead of UTC; zones with summer time count as UTC.
pub fn zone_seconds(zone: &str) -> i64 {
    const HOURS: [(&str, i64); 14] = [
        ("Asia/Seoul", 9),
        ("Asia/Tokyo", 9),
        ("Asia/Shanghai", 8),
        ("Asia/Hong_Kong", 8),
        ("Asia/Singapore", 8),
        ("Asia/Taipei", 8),
        ("Asia/Manila", 8),
        ("Asia/Jakarta", 7),
        ("Asia/Bangkok", 7),
        ("Asia/Ho_Chi_Minh", 7),
        ("Asia/Dubai", 4),
        ("Europe/Moscow", 3),
        ("Europe/Istanbul", 3),
        ("America/Sao_Paulo", -3),
    ];
    HOURS.iter().find(|(name, _)| *name == zone).map_or(0, |(_, hours)| hours * 3600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_is_the_first_that_all_fields_allow() {
        let table = [
            ("every minute", "* * * * *", "2026-01-05T09:00:00Z", "2026-01-05T09:01:00Z"),
            ("seconds are cut", "* * * * *", "2026-01-05T09:00:30Z", "2026-01-05T09:01:00Z"),
            ("every five minutes", "*/5 * * * *", "2026-01-05T09:02:00Z", "2026-01-05T09:05:00Z"),
            ("at night", "30 3 * * *", "2026-01-05T09:00:00Z", "2026-01-06T03:30:00Z"),
            ("on Sundays", "0 0 * * sun", "2026-01-05T09:00:00Z", "2026-01-11T00:00:00Z"),
            ("on the 13th or a Friday", "0 0 13 * 5", "2026-01-05T09:00:00Z", "2026-01-09T00:00:00Z"),
            ("in a leap year", "0 0 29 2 *", "2026-01-05T09:00:00Z", "2028-02-29T00:00:00Z"),
            ("a word", "@monthly", "2026-01-05T09:00:00Z", "2026-02-01T00:00:00Z"),
            ("a period", "@every 1h30m", "2026-01-05T09:00:10Z", "2026-01-05T10:30:10Z"),
        ];
        for (sentence, schedule, after, expected) in table {
            let next = Schedule::parse(schedule).unwrap().next(Timestamp::parse(after).unwrap(), 0);
            assert_eq!(next.map(|time| time.to_string()).as_deref(), Some(expected), "{sentence}");
        }
        let seoul = Schedule::parse("0 9 * * *").unwrap();
        let next = seoul.next(Timestamp::parse("2026-01-05T09:00:00Z").unwrap(), zone_seconds("Asia/Seoul"));
        assert_eq!(next, Timestamp::parse("2026-01-06T00:00:00Z"), "in Seoul");
        assert_eq!(Schedule::parse("0 0 31 2 *").unwrap().next(Timestamp(0), 0), None, "never");
    }
}
