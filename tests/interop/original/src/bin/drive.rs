//! Calls every operation that the original's client has, against a running daemon.
//!
//! `M4A_URL` and `OPERATOR_TOKEN` say where and as whom. It ends with 0 when each answer was read and was the right one.

use std::{env, error::Error};

use mail4agent_api::*;
use mail4agent_client::{ClientError, MailClient, RegisterParticipantRequest};

fn asked(to: Address) -> SendRequest {
    SendRequest {
        to,
        subject: "From the original".into(),
        body: "Does it arrive?".into(),
        reply_to: None,
        correlation: Some("interop".into()),
        refs: vec![MessageRef { kind: "file".into(), locator: "src/lib.rs".into(), digest: None }],
        idempotency_key: Some("interop-1".into()),
    }
}

async fn register(operator: &MailClient, url: &str, name: &str) -> Result<MailClient, Box<dyn Error>> {
    let id = ParticipantId::new(name)?;
    let issued = operator
        .admin_register_participant(RegisterParticipantRequest {
            id: id.clone(),
            label: Some(format!("{name} of the original")),
            may_send: true,
            may_read: true,
            operator: false,
        })
        .await?;
    assert_eq!(issued.id, id);
    Ok(MailClient::new(url, issued.secret)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::var("M4A_URL")?;
    let health = MailClient::health_at(&url).await?;
    assert!(health.ok && health.version.is_some());
    let operator = MailClient::new(&url, env::var("OPERATOR_TOKEN")?)?;
    assert_eq!(operator.health().await?.service, health.service);
    let ann = register(&operator, &url, "interop-ann").await?;
    let ben = register(&operator, &url, "interop-ben").await?;
    let ben_id = ParticipantId::new("interop-ben")?;

    let here = ann.whoami().await?;
    assert_eq!(here.label.as_deref(), Some("interop-ann of the original"));
    let declared = SessionDeclared { working_on: Some("interop".into()), role: None, parent: None };
    let status = ann.status(declared).await?;
    assert_eq!(here.card.map(|card| card.attested), Some(status.card.attested));

    let sent = ann.send(asked(Address::Direct { participant: ben_id.clone() })).await?;
    let again = ann.send(asked(Address::Direct { participant: ben_id.clone() })).await?;
    assert_eq!(sent.message_id, again.message_id, "a repeat under one key is one message");
    ann.send_direct(ben_id.clone(), "Another", "By the short way.").await?;
    let mailbox = Address::Direct { participant: ben_id.clone() };
    let page = ben.list_inbox().await?;
    assert_eq!(page.messages.iter().map(|message| message.subject.as_str()).collect::<Vec<_>>(), ["From the original", "Another"]);
    let later = InboxRequest { since_unix_ms: Some(page.messages[1].created_at_unix_ms), limit: 1, wait_secs: Some(1) };
    assert!(!ben.inbox(later).await?.messages.is_empty());
    let first = ben.get_message(MessageGetRequest { message_id: sent.message_id.clone() }).await?;
    assert_eq!(first.refs.len(), 1);
    assert_eq!(ben.unread(UnreadCountRequest { target: mailbox.clone() }).await?.unread, 2);
    ben.ack(AckRequest { message_id: sent.message_id.clone() }).await?;
    assert_eq!(ben.unread(UnreadCountRequest { target: mailbox }).await?.unread, 1);

    let room = RoomId::new("interop-room")?;
    operator.admin_create_room(room.clone()).await?;
    operator.admin_add_room_member(room.clone(), ben_id.clone()).await?;
    assert_eq!(ben.whoami().await?.rooms, [room.clone()]);
    assert!(ben.directory().await?.rooms.iter().any(|entry| entry.id == room));
    operator.admin_remove_room_member(room.clone(), ben_id.clone()).await?;
    assert!(ben.whoami().await?.rooms.is_empty());

    let refused = ann.get_message(MessageGetRequest { message_id: MessageId::new("m4a_ffffffffffffffffffffffff")? }).await;
    assert!(matches!(refused, Err(ClientError::Mail(MailError::UnknownMessage { .. }))), "{refused:?}");
    let issued = operator.admin_rotate_participant(ben_id.clone()).await?;
    assert!(matches!(ben.whoami().await, Err(ClientError::UnexpectedStatus { .. })), "the old secret is over");
    MailClient::new(&url, issued.secret)?.whoami().await?;
    operator.admin_remove_participant(ben_id.clone()).await?;
    let refused = ann.send_direct(ben_id, "Too late", "Nobody reads it.").await;
    assert!(matches!(refused, Err(ClientError::Mail(MailError::UnknownParticipant { .. }))), "{refused:?}");
    println!("every operation of the original's client was answered as it expects");
    Ok(())
}
