//! Asks the original's own types for their verdict on every vector of a type that they have too.
//!
//! Where the original reads a value and its own check then refuses it, the refusal must be the vector's. It takes the folder of the schemas as its argument. A case that uses what the original's requests lack is left out; one
//! with `original` in `differs` must get the other verdict, so that a reason which no longer holds is found.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs, process};

use base64::{Engine, engine::general_purpose::STANDARD};
use mail4agent_api::*;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

const CONSUMER: &str = "original";

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
    refusal: Option<Map<String, Value>>,
    #[serde(default)]
    differs: BTreeMap<String, String>,
}

/// What the original makes of bytes: a value, none that it reads, or one that its own check refuses.
enum Verdict {
    Taken,
    Unread,
    Refused(MailError),
}

impl Vector {
    fn bytes(&self) -> Vec<u8> {
        match (&self.raw_base64, &self.data) {
            (Some(raw), _) => STANDARD.decode(raw).expect("the vectors hold base64"),
            (None, Some(data)) => data.get().as_bytes().to_vec(),
            (None, None) => b"null".to_vec(),
        }
    }
}

/// The members that only this contract's requests have.
fn additions(name: &str) -> &'static [&'static str] {
    match name {
        "InboxRequest" => {
            &["after", "before", "order", "unread_only", "thread", "sent_by", "room", "correlation", "max_bytes"]
        }
        "SendRequest" => &["allow_dead"],
        _ => &[],
    }
}

/// The types that are read and then checked by a method of their own.
macro_rules! checked {
    ($name:expr, $raw:expr, $($kind:ident),* $(,)?) => {
        match $name {
            $(stringify!($kind) => {
                Some(serde_json::from_slice::<$kind>($raw).map_or(Verdict::Unread, |value| {
                    value.validate().map_or_else(Verdict::Refused, |()| Verdict::Taken)
                }))
            })*
            "MailError" => Some(serde_json::from_slice::<MailError>($raw).map_or(Verdict::Unread, |_| Verdict::Taken)),
            _ => None,
        }
    };
}

/// The original's verdict on bytes; None for a type that it does not have.
fn verdict(name: &str, raw: &[u8]) -> Option<Verdict> {
    checked!(
        name, raw, Ack, AckRequest, AckResponse, Address, DeliveryNotification, Directory, DirectoryEntry, InboxPage,
        InboxRequest, Message, MessageGetRequest, MessageId, MessageRef, Participant, ParticipantId, RoomEntry, RoomId,
        SendRequest, SendResponse, SessionAttested, SessionCard, SessionCorroborated, SessionDeclared, SessionEntry,
        SessionId, UnreadCount, UnreadCountRequest,
    )
}

fn uses_an_addition(name: &str, raw: &[u8]) -> bool {
    let Ok(members) = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(raw) else { return false };
    additions(name).iter().any(|member| members.contains_key(*member))
}

/// Whether a refusal of the original's says what the vector's does; the words of a reason are each side's own.
fn is_that_of(refusal: &MailError, vector: &Vector) -> Result<bool, serde_json::Error> {
    let Value::Object(mut said) = serde_json::to_value(refusal)? else { return Ok(false) };
    said.remove("reason");
    Ok(Some(said) == vector.refusal)
}

fn main() -> Result<(), Box<dyn Error>> {
    let schemas = PathBuf::from(env::args().nth(1).ok_or("the folder of the schemas is missing")?);
    let (mut judged, mut refused, mut mistakes) = (0, 0, 0);
    let mut types = BTreeSet::new();
    let mut paths: Vec<_> =
        fs::read_dir(schemas.join("vectors/mail4agent"))?.map(|entry| Ok(entry?.path())).collect::<Result<_, Box<dyn Error>>>()?;
    paths.sort();
    for path in paths {
        let vectors: File = serde_json::from_slice(&fs::read(&path)?)?;
        for vector in &vectors.cases {
            let raw = vector.bytes();
            if uses_an_addition(&vectors.r#type, &raw) {
                continue;
            }
            let Some(verdict) = verdict(&vectors.r#type, &raw) else { break };
            types.insert(vectors.r#type.clone());
            judged += 1;
            let mut right = matches!(verdict, Verdict::Taken) == vector.valid;
            if let (Verdict::Refused(refusal), false) = (&verdict, vector.valid) {
                refused += 1;
                right = is_that_of(refusal, vector)?;
            }
            if right == vector.differs.contains_key(CONSUMER) {
                mistakes += 1;
                println!("{}: {}", vectors.r#type, vector.description);
            }
        }
    }
    println!("{judged} verdicts on {} types, {refused} of them refusals by its own check, {mistakes} wrong", types.len());
    process::exit(i32::from(mistakes > 0 || judged == 0));
}
