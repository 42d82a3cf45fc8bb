//! Korean particles: the form after a word depends on its last sound.

/// `value` followed by the form of `pair` (`after a consonant/after a vowel`) that fits its last sound.
///
/// Hangul is decided by its final consonant; digits and Latin letters by how Korean speakers read them aloud. After a
/// final ㄹ, `으로/로` takes the vowel form.
pub fn with_particle(value: &str, pair: &str) -> String {
    let (after_consonant, after_vowel) = pair.split_once('/').unwrap_or((pair, pair));
    let ending = ending_of(value);
    let form = match ending {
        Ending::Vowel => after_vowel,
        Ending::Rieul if after_vowel.starts_with('로') => after_vowel,
        Ending::Rieul | Ending::Consonant => after_consonant,
    };
    let mut said = String::with_capacity(value.len() + form.len());
    said.push_str(value);
    said.push_str(form);
    said
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Vowel,
    Rieul,
    Consonant,
}

fn ending_of(value: &str) -> Ending {
    let Some(last) = value.chars().rev().find(|letter| letter.is_alphanumeric()) else {
        return Ending::Vowel;
    };
    match last {
        '가'..='힣' => match (last as u32 - '가' as u32) % 28 {
            0 => Ending::Vowel,
            8 => Ending::Rieul,
            _ => Ending::Consonant,
        },
        // 영 일 이 삼 사 오 육 칠 팔 구
        '1' | '7' | '8' => Ending::Rieul,
        '0' | '3' | '6' => Ending::Consonant,
        '2' | '4' | '5' | '9' => Ending::Vowel,
        _ => ending_of_latin(value, last.to_ascii_lowercase()),
    }
}

/// English words as they are read in Korean: `Pod` 파드, `Set` 셋, `Deployment` 디플로이먼트, `kubectl` 큐브컨트롤.
fn ending_of_latin(value: &str, last: char) -> Ending {
    let word = value.rsplit(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_acronym = word.len() <= 4 && word.chars().all(|letter| letter.is_ascii_uppercase());
    if is_acronym {
        // 엘 엠 엔 알: the names of these letters end in a consonant.
        return match last {
            'l' | 'r' => Ending::Rieul,
            'm' | 'n' => Ending::Consonant,
            _ => Ending::Vowel,
        };
    }
    let lower = word.to_ascii_lowercase();
    if lower.ends_with("let")
        || lower.ends_with("set")
        || lower.ends_with("budget")
        || lower.ends_with("secret")
    {
        return Ending::Consonant;
    }
    if lower.ends_with("ble") || lower.ends_with("ple") || lower.ends_with("le") && lower.len() > 3 {
        return Ending::Rieul;
    }
    match last {
        'l' => Ending::Rieul,
        'm' | 'n' | 'k' | 'p' | 'b' => Ending::Consonant,
        'g' if lower.ends_with("ng") => Ending::Consonant,
        _ => Ending::Vowel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_particle_follows_the_last_sound() {
        for (value, pair, expected) in [
            ("파드", "은/는", "파드는"),
            ("노드들", "은/는", "노드들은"),
            ("요청", "이/가", "요청이"),
            ("서울", "으로/로", "서울로"),
            ("강", "으로/로", "강으로"),
            ("node-1", "은/는", "node-1은"),
            ("node-2", "은/는", "node-2는"),
            ("node-1", "으로/로", "node-1로"),
            ("Pod", "을/를", "Pod를"),
            ("ReplicaSet", "을/를", "ReplicaSet을"),
            ("Deployment", "이/가", "Deployment가"),
            ("kubelet", "이/가", "kubelet이"),
            ("DNS", "은/는", "DNS는"),
            ("YAML", "을/를", "YAML을"),
            ("kubectl", "로/로", "kubectl로"),
            ("\"api\"", "을/를", "\"api\"를"),
            ("", "은/는", "는"),
        ] {
            assert_eq!(with_particle(value, pair), expected);
        }
    }
}
