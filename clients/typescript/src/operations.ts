// Generated from schemas/bundle/ and schemas/operations.json by tools/generate.py; do not edit.

import type { Contract, Operations } from "./types.js";

/** One row of the table of operations. */
export interface Operation {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly authenticated: boolean;
  readonly request: keyof Contract | null;
  readonly response: keyof Contract;
  readonly effect: "read" | "write";
  /** When a lost answer may be asked for again. */
  readonly retry: "always" | "key" | "keys" | "never";
  /** Seconds that the daemon holds it when it is not told for how long; null: it does not wait. */
  readonly waitSecs: number | null;
}

/** Every operation, by its name. */
export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {
  "mail.send": {"method": "POST", "path": "/mail/send", "request": "SendRequest", "response": "SendResponse", "effect": "write", "authenticated": true, "retry": "key", "waitSecs": null},
  "mail.send_many": {"method": "POST", "path": "/mail/send_many", "request": "SendManyRequest", "response": "SendManyResponse", "effect": "write", "authenticated": true, "retry": "keys", "waitSecs": null},
  "mail.inbox": {"method": "POST", "path": "/mail/inbox", "request": "InboxRequest", "response": "InboxPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": 0},
  "mail.wait": {"method": "POST", "path": "/mail/wait", "request": "WaitRequest", "response": "WaitResult", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": 25},
  "mail.told": {"method": "POST", "path": "/mail/told", "request": "ToldRequest", "response": "Told", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.ack": {"method": "POST", "path": "/mail/ack", "request": "AckRequest", "response": "AckResponse", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "mail.ack_many": {"method": "POST", "path": "/mail/ack_many", "request": "AckManyRequest", "response": "AckManyResponse", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "mail.get": {"method": "POST", "path": "/mail/get", "request": "MessageGetRequest", "response": "Message", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.unread": {"method": "POST", "path": "/mail/unread", "request": "UnreadCountRequest", "response": "UnreadCount", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.thread": {"method": "POST", "path": "/mail/thread", "request": "ThreadRequest", "response": "ThreadPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.search": {"method": "POST", "path": "/mail/search", "request": "SearchRequest", "response": "SearchPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.sent": {"method": "POST", "path": "/mail/sent", "request": "SentRequest", "response": "SentPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.whoami": {"method": "POST", "path": "/mail/whoami", "request": "WhoAmIRequest", "response": "WhoAmI", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.status": {"method": "POST", "path": "/mail/status", "request": "StatusRequest", "response": "Status", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "mail.session": {"method": "POST", "path": "/mail/session", "request": "SessionIssueRequest", "response": "IssuedSession", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.directory": {"method": "POST", "path": "/mail/directory", "request": "DirectoryRequest", "response": "Directory", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mail.listen": {"method": "POST", "path": "/mail/listen", "request": "ListenRequest", "response": "Listening", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "mailbox.list": {"method": "POST", "path": "/mailbox/list", "request": "MailboxListRequest", "response": "MailboxList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "mailbox.show": {"method": "POST", "path": "/mailbox/show", "request": "MailboxShowRequest", "response": "MailboxText", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "note.deliver": {"method": "POST", "path": "/note/deliver", "request": "NoteRequest", "response": "NoteReceipt", "effect": "write", "authenticated": true, "retry": "key", "waitSecs": null},
  "note.standing": {"method": "POST", "path": "/note/standing", "request": "NoteStandingRequest", "response": "NoteStanding", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "note.events": {"method": "POST", "path": "/note/events", "request": "NoteEventsRequest", "response": "NotePresentations", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "note.journal": {"method": "POST", "path": "/note/journal", "request": "NoteJournalRequest", "response": "NoteJournal", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "note.runs": {"method": "POST", "path": "/note/runs", "request": "NoteRunsRequest", "response": "NoteRuns", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.participant": {"method": "POST", "path": "/admin/participant", "request": "ParticipantRegistration", "response": "IssuedSecret", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.participant.rotate": {"method": "POST", "path": "/admin/participant/rotate", "request": "ParticipantRotateRequest", "response": "IssuedSecret", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.participant.revoke": {"method": "POST", "path": "/admin/participant/revoke", "request": "ParticipantRevokeRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.participant.remove": {"method": "POST", "path": "/admin/participant/remove", "request": "ParticipantRemoveRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.participant.purge": {"method": "POST", "path": "/admin/participant/purge", "request": "ParticipantPurgeRequest", "response": "PurgeReport", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.participant.permit": {"method": "POST", "path": "/admin/participant/permit", "request": "ParticipantPermitRequest", "response": "ParticipantRecord", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.participant.list": {"method": "POST", "path": "/admin/participant/list", "request": "ParticipantListRequest", "response": "ParticipantList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.room": {"method": "POST", "path": "/admin/room", "request": "RoomCreateRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.room.remove": {"method": "POST", "path": "/admin/room/remove", "request": "RoomRemoveRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.room.list": {"method": "POST", "path": "/admin/room/list", "request": "RoomListRequest", "response": "RoomList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.room.members": {"method": "POST", "path": "/admin/room/members", "request": "RoomMembersRequest", "response": "RoomMembers", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.room.member.add": {"method": "POST", "path": "/admin/room/member/add", "request": "RoomMemberRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.room.member.remove": {"method": "POST", "path": "/admin/room/member/remove", "request": "RoomMemberRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.listener": {"method": "POST", "path": "/admin/listener", "request": "ListenerSetRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.listener.remove": {"method": "POST", "path": "/admin/listener/remove", "request": "ListenerRemoveRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.listener.get": {"method": "POST", "path": "/admin/listener/get", "request": "ListenerGetRequest", "response": "ListenerList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.listener.list": {"method": "POST", "path": "/admin/listener/list", "request": "ListenerListRequest", "response": "ListenerPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.listener.retry": {"method": "POST", "path": "/admin/listener/retry", "request": "ListenerRetryRequest", "response": "Listening", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.inbox": {"method": "POST", "path": "/admin/inbox", "request": "InboxOfRequest", "response": "InboxPage", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.message.purge": {"method": "POST", "path": "/admin/message/purge", "request": "MessagePurgeRequest", "response": "Done", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.retention": {"method": "POST", "path": "/admin/retention", "request": "RetentionRequest", "response": "RetentionReport", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.audit": {"method": "POST", "path": "/admin/audit", "request": "AuditRequest", "response": "AuditPage", "effect": "read", "authenticated": true, "retry": "always", "waitSecs": null},
  "admin.flow": {"method": "POST", "path": "/admin/flow", "request": "FlowRequest", "response": "Flow", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.checkup": {"method": "POST", "path": "/admin/checkup", "request": "CheckupRequest", "response": "Checkup", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "admin.settings": {"method": "POST", "path": "/admin/settings", "request": "SettingsRequest", "response": "SettingList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "health": {"method": "GET", "path": "/health", "request": null, "response": "Health", "effect": "read", "authenticated": false, "retry": "never", "waitSecs": null},
  "outbox.stage": {"method": "POST", "path": "/outbox/stage", "request": "OutboxStageRequest", "response": "OutboxStaged", "effect": "write", "authenticated": true, "retry": "key", "waitSecs": null},
  "outbox.list": {"method": "POST", "path": "/outbox/list", "request": "OutboxListRequest", "response": "OutboxList", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.get": {"method": "POST", "path": "/outbox/get", "request": "OutboxGetRequest", "response": "OutboxDraft", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.withdraw": {"method": "POST", "path": "/outbox/withdraw", "request": "OutboxWithdrawRequest", "response": "OutboxEntry", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.supersede": {"method": "POST", "path": "/outbox/supersede", "request": "OutboxSupersedeRequest", "response": "OutboxStaged", "effect": "write", "authenticated": true, "retry": "key", "waitSecs": null},
  "outbox.edit": {"method": "POST", "path": "/outbox/edit", "request": "OutboxEditRequest", "response": "OutboxDraft", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.release": {"method": "POST", "path": "/outbox/release", "request": "OutboxReleaseRequest", "response": "OutboxReleased", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.reject": {"method": "POST", "path": "/outbox/reject", "request": "OutboxRejectRequest", "response": "OutboxRejected", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.settle": {"method": "POST", "path": "/outbox/settle", "request": "OutboxSettleRequest", "response": "OutboxEntry", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "outbox.tally": {"method": "POST", "path": "/outbox/tally", "request": "OutboxTallyRequest", "response": "OutboxTally", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.ingest": {"method": "POST", "path": "/frontdoor/ingest", "request": "FrontdoorIngestRequest", "response": "FrontdoorReceipt", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "frontdoor.list": {"method": "POST", "path": "/frontdoor/list", "request": "FrontdoorListRequest", "response": "FrontdoorList", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "frontdoor.get": {"method": "POST", "path": "/frontdoor/get", "request": "FrontdoorGetRequest", "response": "FrontdoorItem", "effect": "read", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.next": {"method": "POST", "path": "/frontdoor/next", "request": "FrontdoorNextRequest", "response": "FrontdoorBriefs", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "frontdoor.extract": {"method": "POST", "path": "/frontdoor/extract", "request": "FrontdoorExtractRequest", "response": "FrontdoorExtracted", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.triaged": {"method": "POST", "path": "/frontdoor/triaged", "request": "FrontdoorTriagedRequest", "response": "FrontdoorMoved", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
  "frontdoor.needs_info": {"method": "POST", "path": "/frontdoor/needs_info", "request": "FrontdoorNeedsInfoRequest", "response": "FrontdoorMoved", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.close": {"method": "POST", "path": "/frontdoor/close", "request": "FrontdoorCloseRequest", "response": "FrontdoorMoved", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.reopen": {"method": "POST", "path": "/frontdoor/reopen", "request": "FrontdoorReopenRequest", "response": "FrontdoorMoved", "effect": "write", "authenticated": true, "retry": "never", "waitSecs": null},
  "frontdoor.reconcile": {"method": "POST", "path": "/frontdoor/reconcile", "request": "FrontdoorReconcileRequest", "response": "FrontdoorReconciled", "effect": "write", "authenticated": true, "retry": "always", "waitSecs": null},
};
