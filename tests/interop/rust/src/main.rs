//! Judges every conformance vector with the published bundles, the two custom keywords and nothing else of ours.
//!
//! It takes the folder of the schemas as its argument, prints what it got wrong and ends with 1, or how many it got right.

mod keywords;
mod strict;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use base64::{Engine, engine::general_purpose::STANDARD};
use jsonschema::{ValidationError, Validator};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::keywords::{MaxUtf8Bytes, NotEqual};
use crate::strict::NoKeyTwice;

const CONSUMER: &str = "rust";

#[derive(Deserialize)]
struct File {
    r#type: String,
    cases: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    description: String,
    valid: bool,
    #[serde(default)]
    data: Option<Box<RawValue>>,
    raw_base64: Option<String>,
    #[serde(default)]
    differs: BTreeMap<String, String>,
}

impl Vector {
    /// What a consumer receives. `data: null` is the JSON null.
    fn bytes(&self) -> Vec<u8> {
        match (&self.raw_base64, &self.data) {
            (Some(raw), _) => STANDARD.decode(raw).expect("the vectors hold base64"),
            (None, Some(data)) => data.get().as_bytes().to_vec(),
            (None, None) => b"null".to_vec(),
        }
    }
}

/// The files in the folders of a folder, or in the folder itself, whose names end so.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn validator(bundle: &Value, name: &str) -> Validator {
    let mut root = bundle.clone();
    root["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::options()
        .with_keyword("x-maxUtf8Bytes", |_, limit, _| {
            let limit = limit.as_u64().ok_or_else(|| ValidationError::custom("must be a number of bytes"))?;
            Ok(Box::new(MaxUtf8Bytes(limit as usize)))
        })
        .with_keyword("x-notEqual", |_, pairs, _| {
            let pairs = Vec::<(String, String)>::deserialize(pairs);
            Ok(Box::new(NotEqual(pairs.map_err(|_| ValidationError::custom("must be pairs of names"))?)))
        })
        .build(&root)
        .expect("the bundle is a schema")
}

/// Whether bytes are strict JSON of a definition.
fn judge(validator: &Validator, raw: &[u8]) -> bool {
    serde_json::from_slice::<NoKeyTwice>(raw).is_ok()
        && serde_json::from_slice::<Value>(raw).is_ok_and(|value| validator.is_valid(&value))
}

fn main() -> Result<(), Box<dyn Error>> {
    let schemas = PathBuf::from(env::args().nth(1).ok_or("the folder of the schemas is missing")?);
    let mut bundles = Vec::new();
    for path in files(&schemas.join("bundle"), ".bundle.json")? {
        bundles.push(serde_json::from_slice::<Value>(&fs::read(path)?)?);
    }
    let (mut judged, mut mistakes) = (0, 0);
    for path in files(&schemas.join("vectors"), ".json")? {
        if path.ends_with("vectors.schema.json") {
            continue;
        }
        let vectors: File = serde_json::from_slice(&fs::read(&path)?)?;
        let name = &vectors.r#type;
        let having: Vec<_> = bundles.iter().filter(|bundle| bundle["$defs"].get(name).is_some()).collect();
        if having.is_empty() {
            mistakes += 1;
            println!("{name} is in no bundle");
        }
        for bundle in having {
            let validator = validator(bundle, name);
            for vector in &vectors.cases {
                judged += 1;
                let differs = vector.differs.contains_key(CONSUMER);
                if (judge(&validator, &vector.bytes()) == vector.valid) == differs {
                    mistakes += 1;
                    println!("{name}: {}", vector.description);
                }
            }
        }
    }
    println!("{judged} verdicts, {mistakes} wrong");
    process::exit(i32::from(mistakes > 0 || judged == 0));
}
