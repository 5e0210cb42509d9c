// Generated from schemas/bundle/ and schemas/operations.json by tools/generate.py; do not edit.

declare const brand: unique symbol;
/** Text of one identifier type: another identifier, or plain text, is not assignable to it. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The label of a field: 1 to 64 bytes of UTF-8, no control characters. */
export type RefusedField = string;

/** A fixed sentence: 1 to 512 bytes of UTF-8, no control characters. */
export type Reason = string;

/** The id of an item: 1 to 128 bytes of UTF-8, no control characters. */
export type ItemId = string;

/** 1 to 64 characters from A-Z, a-z, 0-9 and . _ -. */
export type RequestId = string;

/** No account is registered under this id. */
export interface UnknownParticipant {
  readonly kind: "unknown_participant";
  readonly participant: ParticipantId;
}

/** No room has this id. */
export interface UnknownRoom {
  readonly kind: "unknown_room";
  readonly room: RoomId;
}

/** No session has this id. */
export interface UnknownSession {
  readonly kind: "unknown_session";
  readonly session: SessionId;
}

/** The session belongs to another account. */
export interface SessionAccountMismatch {
  readonly kind: "session_account_mismatch";
  readonly session: SessionId;
  readonly expected: ParticipantId;
  readonly presented: ParticipantId;
}

/** No message has this id. */
export interface UnknownMessage {
  readonly kind: "unknown_message";
  readonly message_id: MessageId;
}

/** The message is not addressed to the caller. */
export interface NotAddressedToYou {
  readonly kind: "not_addressed_to_you";
  readonly message_id: MessageId;
}

/** The caller lacks a capability. */
export interface PermissionDenied {
  readonly kind: "permission_denied";
  readonly need: Word;
}

/** A field is not what the contract says. */
export interface Malformed {
  readonly kind: "malformed";
  readonly field: RefusedField;
  readonly reason: Reason;
}

/** A field is past its bound; for texts both numbers are bytes of UTF-8. */
export interface TooLarge {
  readonly kind: "too_large";
  readonly field: RefusedField;
  readonly limit: U64;
  readonly actual: U64;
}

/** The store could not complete the operation; nothing was changed. */
export interface StoreUnavailable {
  readonly kind: "store_unavailable";
  readonly operation: Word;
}

/** No valid credential was presented. */
export interface Unauthenticated {
  readonly kind: "unauthenticated";
}

/** The process behind the connection could not be proved. */
export interface AttestationFailed {
  readonly kind: "attestation_failed";
  readonly reason: Reason;
}

/** The request comes from a web page that is not the daemon's own. */
export interface ForbiddenOrigin {
  readonly kind: "forbidden_origin";
}

/** Nothing is served at this path. */
export interface UnknownPath {
  readonly kind: "unknown_path";
}

/** No item has this id. */
export interface UnknownItem {
  readonly kind: "unknown_item";
  readonly id: ItemId;
}

/** The path is served, but not with this method. */
export interface MethodNotAllowed {
  readonly kind: "method_not_allowed";
}

/** The session is not live, and nobody else may ever read its mail. */
export interface SessionNotLive {
  readonly kind: "session_not_live";
  readonly session: SessionId;
  readonly last_seen_unix_ms: UnixMs;
}

/** The key was used for other content. */
export interface IdempotencyConflict {
  readonly kind: "idempotency_conflict";
  readonly idempotency_key: Selector;
}

/** The id is taken. */
export interface AlreadyExists {
  readonly kind: "already_exists";
  readonly id: ItemId;
}

/** The id belonged to a removed account and is not given again until it is purged. */
export interface IdRetired {
  readonly kind: "id_retired";
  readonly id: ItemId;
}

/** The draft is no longer the one that was shown. */
export interface DraftChanged {
  readonly kind: "draft_changed";
  readonly id: ItemId;
}

/** The item is not pending. */
export interface NotPending {
  readonly kind: "not_pending";
  readonly id: ItemId;
  readonly status: Word;
}

/** A release of this item was interrupted; a person settles it. */
export interface OutcomeUnknown {
  readonly kind: "outcome_unknown";
  readonly id: ItemId;
}

/** No room is left; something must be removed first. */
export interface MailboxFull {
  readonly kind: "mailbox_full";
  readonly scope: Word;
}

/** Another drain holds the lease of the box. */
export interface LeaseHeld {
  readonly kind: "lease_held";
  readonly retry_after_secs: Seconds;
}

/** The lease of the box is not the caller's; it must be taken first. */
export interface LeaseLost {
  readonly kind: "lease_lost";
}

/** The queue of the box is of another epoch; its numbers mean nothing here. */
export interface EpochChanged {
  readonly kind: "epoch_changed";
}

/** The request body is past the limit, in bytes. */
export interface RequestTooLarge {
  readonly kind: "request_too_large";
  readonly limit: U64;
}

/** The body must be application/json. */
export interface UnsupportedMediaType {
  readonly kind: "unsupported_media_type";
}

/** The Host header names another server. */
export interface ForbiddenHost {
  readonly kind: "forbidden_host";
}

/** Too many requests. */
export interface RateLimited {
  readonly kind: "rate_limited";
  readonly retry_after_secs: Seconds;
}

/** The daemon is at a limit; try again. */
export interface Overloaded {
  readonly kind: "overloaded";
  readonly retry_after_secs: Seconds;
}

/** The daemon failed; the request id finds the reason in its log. */
export interface Internal {
  readonly kind: "internal";
  readonly request_id: RequestId;
}

/** A refusal of the original's family. */
export type MailError = 
  | UnknownParticipant
  | UnknownRoom
  | UnknownSession
  | SessionAccountMismatch
  | UnknownMessage
  | NotAddressedToYou
  | PermissionDenied
  | Malformed
  | TooLarge
  | StoreUnavailable;

/** A refusal. */
export type Refusal = 
  | UnknownParticipant
  | UnknownRoom
  | UnknownSession
  | SessionAccountMismatch
  | UnknownMessage
  | NotAddressedToYou
  | PermissionDenied
  | Malformed
  | TooLarge
  | StoreUnavailable
  | Unauthenticated
  | AttestationFailed
  | ForbiddenOrigin
  | UnknownPath
  | UnknownItem
  | MethodNotAllowed
  | SessionNotLive
  | IdempotencyConflict
  | AlreadyExists
  | IdRetired
  | DraftChanged
  | NotPending
  | OutcomeUnknown
  | MailboxFull
  | LeaseHeld
  | LeaseLost
  | EpochChanged
  | RequestTooLarge
  | UnsupportedMediaType
  | ForbiddenHost
  | RateLimited
  | Overloaded
  | Internal;

/** A time in whole milliseconds since 1970-01-01 UTC, 0 to 2^64-1. */
export type UnixMs = number;

/** A time in whole milliseconds since 1970-01-01 UTC, 1 to 2^64-1; zero is no time. */
export type Stamp = number;

/** A whole number from 0 to 2^64-1. */
export type U64 = number;

/** A whole number from 0 to 4294967295. */
export type U32 = number;

/** A whole number of seconds from 1 to 86400. */
export type Seconds = number;

/** One line of text: at most 512 bytes of UTF-8, no control characters. */
export type Line = string;

/** A display name: at most 512 bytes of UTF-8, no control characters. */
export type Label = string;

/** One line of text: 1 to 64 bytes of UTF-8, no control characters. */
export type Word = string;

/** 1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -. */
export type Selector = string;

/** The name of a capability. */
export type Capability = "mail:send" | "mail:read" | "mail:operator" | "outbox:stage" | "outbox:stamp" | "outbox:review" | "frontdoor:drain" | "frontdoor:extract" | "frontdoor:brief" | "frontdoor:review" | "note:deliver" | "note:produce" | "note:read" | "mailbox:read";

/** The two legs of a conversation's taint, which are set and never cleared. */
export interface Taint {
  readonly private: boolean;
  readonly untrusted: boolean;
}

/** An acknowledgement: the exact address that gave it and the time of the first one. */
export interface Ack {
  readonly message_id: MessageId;
  readonly reader: ParticipantAddress;
  readonly acked_at_unix_ms: Stamp;
}

/** Acknowledge one message as the caller. */
export interface AckRequest {
  readonly message_id: MessageId;
}

/** The acknowledgement on record. */
export interface AckResponse {
  readonly ack: Ack;
}

/** Acknowledge 1 to 256 messages as the caller; each has its own outcome. */
export interface AckManyRequest {
  /** 1 to 256 entries. */
  readonly message_ids: ReadonlyArray<MessageId>;
}

/** The acknowledgement on record. */
export interface AckRecorded {
  readonly kind: "acked";
  readonly ack: Ack;
}

/** Why this message was not acknowledged. */
export interface AckRefused {
  readonly kind: "refused";
  readonly message_id: MessageId;
  readonly refusal: Refusal;
}

/** What became of one acknowledgement (acked or refused). */
export type AckOutcome = 
  | AckRecorded
  | AckRefused;

/** One outcome for each message asked for, in the order asked. */
export interface AckManyResponse {
  /** 0 to 256 entries. */
  readonly outcomes: ReadonlyArray<AckOutcome>;
}

/** One account. */
export interface DirectAddress {
  readonly kind: "direct";
  readonly participant: ParticipantId;
}

/** One session of an account. */
export interface SessionAddress {
  readonly kind: "session";
  readonly participant: ParticipantId;
  readonly session: SessionId;
}

/** A room. */
export interface RoomAddress {
  readonly kind: "room";
  readonly room: RoomId;
}

/** An address: an account (direct), one of its sessions (session) or a room (room). */
export type Address = 
  | DirectAddress
  | SessionAddress
  | RoomAddress;

/** A participant address (direct or session), not a room. */
export type ParticipantAddress = 
  | DirectAddress
  | SessionAddress;

/** The number of an audit entry, from 1 to 9007199254740991. */
export type AuditNumber = number;

/** What an operation was about: 1 to 256 bytes of UTF-8, no control characters. */
export type AuditTarget = string;

/** One administrative operation that was carried out. */
export interface AuditEntry {
  readonly number: AuditNumber;
  readonly at_unix_ms: UnixMs;
  readonly actor: ParticipantAddress;
  readonly operation: Word;
  readonly target?: AuditTarget | null;
  readonly detail: Line;
}

/** Audit entries, the newest first. */
export interface AuditRequest {
  readonly before?: AuditNumber | null;
  /** Default: 50. */
  readonly limit?: PageLimit;
}

/** A page of audit entries. */
export interface AuditPage {
  /** 0 to 256 entries. */
  readonly entries: ReadonlyArray<AuditEntry>;
}

/** Good, note or bad. */
export type FindingState = "good" | "note" | "bad";

/** One thing that was looked at, how it is, and words for a person. */
export interface Finding {
  readonly check: Word;
  readonly state: FindingState;
  readonly text: Line;
}

/** Look everything over; with database, read the whole database too. */
export interface CheckupRequest {
  /** Default: false. */
  readonly database?: boolean;
}

/** What was found, the first bad thing being the first to mend. */
export interface Checkup {
  /** 0 to 256 entries. */
  readonly findings: ReadonlyArray<Finding>;
}

/** A setting in force, and where it comes from. */
export interface Setting {
  readonly name: Line;
  readonly value?: Line | null;
  readonly origin: Line;
}

/** The settings in force. */
export type SettingsRequest = Record<string, never>;

/** The settings in force, no secret among them. */
export interface SettingList {
  /** 0 to 1024 entries. */
  readonly settings: ReadonlyArray<Setting>;
}

/** A registered account. */
export interface Participant {
  readonly id: ParticipantId;
  readonly label?: Label | null;
}

/** An account and its sessions; never a secret or a capability. */
export interface DirectoryEntry {
  readonly id: ParticipantId;
  readonly label?: Label | null;
  /** Default: []. */
  readonly sessions?: ReadonlyArray<SessionEntry>;
}

/** A room, and whether the caller is in it. */
export interface RoomEntry {
  readonly id: RoomId;
  readonly member: boolean;
}

/** Ask for the directory. */
export type DirectoryRequest = Record<string, never>;

/** Every account and room, as the caller sees them. */
export interface Directory {
  readonly participants: ReadonlyArray<DirectoryEntry>;
  readonly rooms: ReadonlyArray<RoomEntry>;
}

/** Ask who the caller is. */
export type WhoAmIRequest = Record<string, never>;

/** Who the credential and the connection proved the caller to be. */
export interface WhoAmI {
  readonly address: ParticipantAddress;
  readonly label?: Label | null;
  readonly rooms: ReadonlyArray<RoomId>;
  readonly card?: SessionCard | null;
}

/** A span of time in seconds from 1 to 604800, a week. */
export type FlowSecs = number;

/** Who wrote to whom of late, those who wrote most first. */
export interface FlowRequest {
  /** Default: 3600. */
  readonly secs?: FlowSecs;
  /** Default: 50. */
  readonly limit?: PageLimit;
}

/** What one account, its sessions included, wrote to an account with its sessions or to a room. */
export interface FlowPair {
  readonly from: ParticipantAddress;
  readonly to: Address;
  readonly messages: U64;
  readonly last_at_unix_ms: UnixMs;
}

/** Who wrote to whom since a time, those who wrote most first, and how much that is of all. */
export interface Flow {
  readonly since_unix_ms: UnixMs;
  /** 0 to 256 entries. */
  readonly pairs: ReadonlyArray<FlowPair>;
  readonly total_pairs: U64;
  readonly total_messages: U64;
}

/** M4a_ and 24 lower-case hexadecimal digits. */
export type MessageId = Branded<"MessageId">;

/** S- and 8 to 64 lower-case hexadecimal digits. */
export type SessionId = Branded<"SessionId">;

/** 1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -. */
export type ParticipantId = Branded<"ParticipantId">;

/** 1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -. */
export type RoomId = Branded<"RoomId">;

/** A page length from 1 to 256. */
export type PageLimit = number;

/** A page size from 1 to 16777216 bytes. */
export type PageBytes = number;

/** A wait in seconds from 0 to 65535; more than 60 counts as 60. */
export type PollSecs = number;

/** A wait in seconds from 0 to 60. */
export type WaitSecs = number;

/** Oldest or newest. */
export type PageOrder = "oldest" | "newest";

/** One page of the caller's inbox. */
export interface InboxRequest {
  readonly since_unix_ms?: UnixMs | null;
  /** Default: 50. */
  readonly limit?: PageLimit;
  readonly wait_secs?: PollSecs | null;
  readonly after?: Position | null;
  readonly before?: Position | null;
  /** Default: "oldest". */
  readonly order?: PageOrder;
  /** Default: false. */
  readonly unread_only?: boolean;
  readonly thread?: MessageId | null;
  readonly sent_by?: ParticipantId | null;
  readonly room?: RoomId | null;
  readonly correlation?: Correlation | null;
  /** Default: 1048576. */
  readonly max_bytes?: PageBytes;
}

/** A page of an inbox, and how many messages the reader has not acknowledged. */
export interface InboxPage {
  /** 0 to 256 entries. */
  readonly messages: ReadonlyArray<Message>;
  readonly unread: U32;
}

/** One message by its id. */
export interface MessageGetRequest {
  readonly message_id: MessageId;
}

/** How many messages a participant has not acknowledged. */
export interface UnreadCountRequest {
  readonly target: ParticipantAddress;
}

/** The number of readable messages, not its own, that this reader has not acknowledged. */
export interface UnreadCount {
  readonly target: ParticipantAddress;
  readonly unread: U32;
}

/** Wait until a readable message that is not the caller's own stands after a position. */
export interface WaitRequest {
  readonly after?: Position | null;
  /** Default: 25. */
  readonly wait_secs?: WaitSecs;
}

/** The caller's unread count and the newest position it can read. */
export interface WaitResult {
  readonly unread: U32;
  readonly newest?: Position | null;
}

/** Http://127.0.0.1 or http://localhost with an optional port and an optional plain ASCII path and query, at most 512 bytes. */
export type ListenerUrl = string;

/** Whsec_ and the base64 of 24 to 64 bytes. */
export type ListenerKey = string;

/** Why a ring failed. */
export type RingFailure = "refused" | "unreachable" | "timed_out" | "bad_status" | "redirected" | "bad_response" | "port_not_yours";

/** A listener with what became of its rings; never its key. */
export interface ListenerRecord {
  readonly owner: ParticipantAddress;
  readonly url: ListenerUrl;
  readonly signed: boolean;
  readonly outstanding: U32;
  readonly rung: U64;
  readonly given_up: U64;
  readonly last_rung_at_unix_ms?: Stamp | null;
  readonly last_failed_at_unix_ms?: Stamp | null;
  readonly failure?: RingFailure | null;
}

/** Have a listener told of an account's mail; one that is there is replaced. */
export interface ListenerSetRequest {
  readonly account: ParticipantId;
  readonly url: ListenerUrl;
  readonly key?: ListenerKey | null;
}

/** End an account's listener, or with session that of a session of it. */
export interface ListenerRemoveRequest {
  readonly account: ParticipantId;
  readonly session?: SessionId | null;
}

/** List the listeners of an account and of its sessions. */
export interface ListenerGetRequest {
  readonly account: ParticipantId;
}

/** An account's listener and its sessions' own. */
export interface ListenerList {
  /** 0 to 65 entries. */
  readonly listeners: ReadonlyArray<ListenerRecord>;
}

/** Which listeners: all, those whose last ring failed, or those that are dead. */
export type ListenerState = "all" | "failing" | "dead";

/** List the listeners of every account by their owners. */
export interface ListenerListRequest {
  /** Default: "failing". */
  readonly state?: ListenerState;
  readonly after?: ParticipantAddress | null;
  /** Default: 50. */
  readonly limit?: PageLimit;
}

/** A listener and how it stands: dead once it failed five times in a row. */
export interface ListenerStanding {
  readonly listener: ListenerRecord;
  readonly dead: boolean;
  readonly failures: U32;
  readonly failing_since_unix_ms?: Stamp | null;
  readonly retry_at_unix_ms?: Stamp | null;
}

/** Listeners by their owners, and how many of that state there are in all. */
export interface ListenerPage {
  /** 0 to 256 entries. */
  readonly listeners: ReadonlyArray<ListenerStanding>;
  readonly total: U32;
}

/** Try an account's listener again, or with session that of a session of it. */
export interface ListenerRetryRequest {
  readonly account: ParticipantId;
  readonly session?: SessionId | null;
}

/** Have a listener of the caller's own told of its mail; null stops it. */
export interface ListenRequest {
  readonly url: ListenerUrl | null;
  readonly key?: ListenerKey | null;
}

/** A listener, null when there is none. */
export interface Listening {
  readonly listener?: ListenerRecord | null;
}

/** 1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -. */
export type RefKind = string;

/** One line of text: 1 to 512 bytes of UTF-8, no control characters. */
export type RefLocator = string;

/** 1 to 128 lower-case hexadecimal digits. */
export type RefDigest = string;

/** A reference that the mailbox keeps and returns as it is, and never resolves. */
export interface MessageRef {
  readonly kind: RefKind;
  readonly locator: RefLocator;
  readonly digest?: RefDigest | null;
}

/** Text of at most 65536 bytes of UTF-8; of the control characters only line feed and tab. */
export type Body = string;

/** One line of text: 1 to 512 bytes of UTF-8, no control characters. */
export type Correlation = string;

/** A message as it is stored: immutable, posted once. */
export interface Message {
  readonly message_id: MessageId;
  readonly from: ParticipantAddress;
  readonly to: Address;
  readonly subject: Line;
  readonly body: Body;
  readonly reply_to?: MessageId | null;
  readonly correlation?: Correlation | null;
  /** 0 to 8 entries. Default: []. */
  readonly refs?: ReadonlyArray<MessageRef>;
  readonly created_at_unix_ms: Stamp;
}

/** The place of a message in the order of commits. */
export interface Position {
  readonly created_at_unix_ms: UnixMs;
  readonly message_id: MessageId;
}

/** Mail has arrived for an account. */
export interface DeliveryNotification {
  readonly account: ParticipantId;
  readonly to: Address;
  readonly message_id: MessageId;
  readonly from: Address;
}

/** 64 lower-case hexadecimal digits. */
export type Secret = string;

/** Inherit (as the daemon is set), required, preferred or off. */
export type AttestationPolicy = "inherit" | "required" | "preferred" | "off";

/** Register an account. */
export interface ParticipantRegistration {
  readonly id: ParticipantId;
  readonly label?: Label | null;
  /** Default: false. */
  readonly may_send?: boolean;
  /** Default: false. */
  readonly may_read?: boolean;
  /** Default: false. */
  readonly operator?: boolean;
  /** Default: "inherit". */
  readonly attestation?: AttestationPolicy;
}

/** An account's new secret, shown this once. */
export interface IssuedSecret {
  readonly id: ParticipantId;
  readonly secret: Secret;
}

/** Replace an account's secret; the old one is dead at once. */
export interface ParticipantRotateRequest {
  readonly id: ParticipantId;
}

/** Kill an account's secret without a new one. */
export interface ParticipantRevokeRequest {
  readonly id: ParticipantId;
}

/** Remove an account; its id is retired. */
export interface ParticipantRemoveRequest {
  readonly id: ParticipantId;
}

/** Delete a removed account with its mail and free its id. */
export interface ParticipantPurgeRequest {
  readonly id: ParticipantId;
}

/** How many messages were deleted. */
export interface PurgeReport {
  readonly messages: U32;
}

/** Grant and revoke capabilities, and set the attestation policy; both must be true to hold outbox:stage and outbox:review together. */
export interface ParticipantPermitRequest {
  readonly id: ParticipantId;
  /** 0 to 32 entries. Default: []. */
  readonly grant?: ReadonlyArray<Capability>;
  /** 0 to 32 entries. Default: []. */
  readonly revoke?: ReadonlyArray<Capability>;
  /** Default: false. */
  readonly both?: boolean;
  readonly attestation?: AttestationPolicy | null;
}

/** An account as an operator sees it; never its secret. */
export interface ParticipantRecord {
  readonly id: ParticipantId;
  readonly label?: Label | null;
  /** 0 to 32 entries. */
  readonly capabilities: ReadonlyArray<Capability>;
  readonly created_at_unix_ms: Stamp;
  readonly secret_issued_at_unix_ms?: Stamp | null;
  readonly removed_at_unix_ms?: Stamp | null;
  /** Default: "inherit". */
  readonly attestation?: AttestationPolicy;
}

/** Accounts by id, the removed ones included. */
export interface ParticipantListRequest {
  readonly after?: ParticipantId | null;
  /** Default: 256. */
  readonly limit?: PageLimit;
}

/** A page of accounts. */
export interface ParticipantList {
  /** 0 to 256 entries. */
  readonly participants: ReadonlyArray<ParticipantRecord>;
}

/** Open (any sender may post) or members. */
export type RoomPosting = "open" | "members";

/** Create a room. */
export interface RoomCreateRequest {
  readonly id: RoomId;
  /** Default: "open". */
  readonly posting?: RoomPosting;
}

/** A room and an account. */
export interface RoomMemberRequest {
  readonly room: RoomId;
  readonly participant: ParticipantId;
}

/** Remove a room and its mail. */
export interface RoomRemoveRequest {
  readonly room: RoomId;
}

/** Rooms by id. */
export interface RoomListRequest {
  readonly after?: RoomId | null;
  /** Default: 256. */
  readonly limit?: PageLimit;
}

/** A room as an operator sees it. */
export interface RoomRecord {
  readonly id: RoomId;
  readonly posting: RoomPosting;
  readonly members: U32;
  readonly messages: U32;
  readonly created_at_unix_ms: Stamp;
}

/** A page of rooms. */
export interface RoomList {
  /** 0 to 256 entries. */
  readonly rooms: ReadonlyArray<RoomRecord>;
}

/** The members of a room by id. */
export interface RoomMembersRequest {
  readonly room: RoomId;
  readonly after?: ParticipantId | null;
  /** Default: 256. */
  readonly limit?: PageLimit;
}

/** A page of a room's members. */
export interface RoomMembers {
  readonly room: RoomId;
  /** 0 to 256 entries. */
  readonly members: ReadonlyArray<ParticipantId>;
}

/** Post one message as the caller. */
export interface SendRequest {
  readonly to: Address;
  readonly subject: Line;
  readonly body: Body;
  readonly reply_to?: MessageId | null;
  readonly correlation?: Correlation | null;
  /** 0 to 8 entries. Default: []. */
  readonly refs?: ReadonlyArray<MessageRef>;
  readonly idempotency_key?: Selector | null;
  /** Default: false. */
  readonly allow_dead?: boolean;
}

/** The message's id, and the caller's own address. */
export interface SendResponse {
  readonly message_id: MessageId;
  readonly from: ParticipantAddress;
}

/** Post 1 to 100 messages as the caller; each has its own outcome. */
export interface SendManyRequest {
  /** 1 to 100 entries. */
  readonly messages: ReadonlyArray<SendRequest>;
}

/** The message was posted, or had been under this key. */
export interface SendAccepted {
  readonly kind: "sent";
  readonly message_id: MessageId;
  readonly from: ParticipantAddress;
}

/** Why this message was not posted. */
export interface SendRefused {
  readonly kind: "refused";
  readonly refusal: Refusal;
}

/** What became of one message (sent or refused). */
export type SendOutcome = 
  | SendAccepted
  | SendRefused;

/** One outcome for each message, in the order given. */
export interface SendManyResponse {
  /** 0 to 100 entries. */
  readonly outcomes: ReadonlyArray<SendOutcome>;
}

/** One line of text: at most 512 bytes of UTF-8, no control characters. */
export type DeclaredText = string;

/** Proved by the kernel. */
export interface SessionAttested {
  readonly pid: U32;
  readonly started_at_unix_ms: UnixMs;
  readonly exe?: Line | null;
}

/** Read out of the process's own command line: real, but no proof. */
export interface SessionCorroborated {
  readonly provider_session_id?: DeclaredText | null;
  readonly model?: DeclaredText | null;
  readonly cwd?: DeclaredText | null;
}

/** Said by the session about itself. */
export interface SessionDeclared {
  readonly working_on?: Line | null;
  readonly role?: Line | null;
  readonly parent?: SessionId | null;
}

/** One session, by provenance. */
export interface SessionCard {
  readonly attested: SessionAttested;
  readonly corroborated: SessionCorroborated;
  readonly declared: SessionDeclared;
}

/** A session as the directory reports it. */
export interface SessionEntry {
  readonly id: SessionId;
  readonly card: SessionCard;
  readonly last_seen_unix_ms: UnixMs;
  readonly live: boolean;
}

/** What the calling session says about itself from now on; what is left out is cleared. */
export interface StatusRequest {
  readonly working_on?: Line | null;
  readonly role?: Line | null;
  readonly parent?: SessionId | null;
}

/** The calling session's card after the change. */
export interface Status {
  readonly card: SessionCard;
}

/** Ask for a credential that means the account and a session of its own. */
export type SessionIssueRequest = Record<string, never>;

/** A session and its secret, shown this once. */
export interface IssuedSession {
  readonly address: ParticipantAddress;
  readonly secret: Secret;
}

/** The messages of one thread that the caller may read or wrote, oldest first. */
export interface ThreadRequest {
  readonly message_id: MessageId;
  /** Default: 50. */
  readonly limit?: PageLimit;
  readonly after?: Position | null;
}

/** A page of a thread. */
export interface ThreadPage {
  /** 0 to 256 entries. */
  readonly messages: ReadonlyArray<Message>;
}

/** Words to find, and phrases in double quotes: 1 to 512 bytes of UTF-8 on one line. */
export type SearchQuery = string;

/** Messages the caller may read that hold every word and phrase, newest first. */
export interface SearchRequest {
  readonly query: SearchQuery;
  /** Default: 20. */
  readonly limit?: PageLimit;
  readonly before?: Position | null;
  readonly room?: RoomId | null;
  readonly sent_by?: ParticipantId | null;
}

/** A page of found messages. */
export interface SearchPage {
  /** 0 to 256 entries. */
  readonly messages: ReadonlyArray<Message>;
}

/** What the caller's exact address sent, newest first. */
export interface SentRequest {
  /** Default: 50. */
  readonly limit?: PageLimit;
  readonly before?: Position | null;
}

/** A sent message, the first 64 acknowledgements of it and their number, and whether nobody can read it any more. */
export interface SentMessage {
  readonly message: Message;
  /** 0 to 64 entries. */
  readonly acks: ReadonlyArray<Ack>;
  readonly acknowledged: U32;
  readonly undeliverable: boolean;
}

/** A page of sent messages. */
export interface SentPage {
  /** 0 to 256 entries. */
  readonly sent: ReadonlyArray<SentMessage>;
}

/** A number of messages to tell of, from 1 to 32. */
export type ToldLimit = number;

/** The oldest unread messages that the caller was not told of before; they count as told by this. */
export interface ToldRequest {
  /** Default: 16. */
  readonly limit?: ToldLimit;
}

/** That a message came, without its body; room when it was posted to one. */
export interface Notice {
  readonly message_id: MessageId;
  readonly from: ParticipantAddress;
  readonly room?: RoomId | null;
  readonly subject: Line;
  readonly created_at_unix_ms: Stamp;
}

/** What the caller is told of now, whether more such messages stand after them, its unread count, and the newest position it can read. */
export interface Told {
  readonly unread: U32;
  /** 0 to 32 entries. */
  readonly messages: ReadonlyArray<Notice>;
  readonly more: boolean;
  readonly newest?: Position | null;
}

/** An address as text: account, account/s-... or #room. */
export type AddressText = string;

/** An address as text (account, account/s-... or #room) or as the tagged object. */
export type Recipient = AddressText | Address;

/** A wait in seconds from 0 to 65535; more than 50 counts as 50. */
export type ToolPollSecs = number;

/** A page length from 1 to 50. */
export type ToolPageLimit = number;

/** A bound of a reply from 1000 to 8000 tokens. */
export type ToolTokens = number;

/** A place in a body in bytes of UTF-8, from 0 to 65536. */
export type ToolOffset = number;

/** 16 lower-case hexadecimal digits that are in no text of the reply. */
export type Boundary = string;

/** Text of others between two lines that carry the boundary: at most 65536 bytes of UTF-8. */
export type UntrustedText = string;

/** A message: what the mailbox vouches for, and between boundary lines what its sender wrote. */
export interface ToolMessage {
  readonly message_id: MessageId;
  readonly from: AddressText;
  readonly to: AddressText;
  readonly created_at_unix_ms: Stamp;
  readonly reply_to?: MessageId | null;
  readonly text: UntrustedText;
  readonly body_bytes: ToolOffset;
  readonly cut: boolean;
}

/** Post one message as the caller. */
export interface ToolSendRequest {
  readonly to: Recipient;
  readonly subject: Line;
  readonly body: Body;
  readonly reply_to?: MessageId | null;
  readonly correlation?: Correlation | null;
  /** 0 to 8 entries. Default: []. */
  readonly refs?: ReadonlyArray<MessageRef>;
  readonly idempotency_key?: Selector | null;
  /** Default: false. */
  readonly allow_dead?: boolean;
}

/** The message's id, and the caller's own address. */
export interface ToolSendResult {
  readonly message_id: MessageId;
  readonly from: AddressText;
}

/** One page of the caller's inbox, small enough for a model. */
export interface ToolInboxRequest {
  /** Default: true. */
  readonly unread_only?: boolean;
  /** Default: "oldest". */
  readonly order?: PageOrder;
  readonly after?: Position | null;
  /** Default: 20. */
  readonly limit?: ToolPageLimit;
  /** Default: 0. */
  readonly wait_secs?: ToolPollSecs;
  readonly thread?: MessageId | null;
  readonly sent_by?: ParticipantId | null;
  readonly room?: RoomId | null;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** A page of an inbox, how much is unread, and where the next page begins. */
export interface ToolInboxResult {
  readonly boundary: Boundary;
  /** 0 to 50 entries. */
  readonly messages: ReadonlyArray<ToolMessage>;
  readonly unread: U32;
  readonly next?: Position | null;
}

/** One message by its id, or a further part of its body. */
export interface ToolGetRequest {
  readonly message_id: MessageId;
  /** Default: 0. */
  readonly from_byte?: ToolOffset;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** A message, and where the rest of its body begins. */
export interface ToolGetResult {
  readonly boundary: Boundary;
  readonly message: ToolMessage;
  readonly next_byte?: ToolOffset | null;
}

/** The message, and when it was first acknowledged. */
export interface ToolAckResult {
  readonly message_id: MessageId;
  readonly acked_at_unix_ms: Stamp;
}

/** Who the caller is, and the first of its rooms. */
export interface ToolWhoAmIResult {
  readonly address: AddressText;
  readonly label?: Label | null;
  /** 0 to 50 entries. */
  readonly rooms: ReadonlyArray<RoomId>;
  readonly rooms_left: U32;
  readonly working_on?: Line | null;
  readonly role?: Line | null;
}

/** What the calling session says about itself. */
export interface ToolStatusResult {
  readonly working_on?: Line | null;
  readonly role?: Line | null;
  readonly parent?: SessionId | null;
}

/** Account, live or dead for a session, member or open for a room. */
export type PeerState = "account" | "live" | "dead" | "member" | "open";

/** An address that mail can go to. */
export interface ToolPeer {
  readonly address: AddressText;
  readonly state: PeerState;
}

/** Whom the caller can write to. */
export interface ToolPeersRequest {
  /** Default: false. */
  readonly dead?: boolean;
  readonly after?: AddressText | null;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** Addresses in order, and between boundary lines what they say of themselves. */
export interface ToolPeersResult {
  readonly boundary: Boundary;
  /** 0 to 256 entries. */
  readonly peers: ReadonlyArray<ToolPeer>;
  readonly text: UntrustedText;
  readonly next?: AddressText | null;
}

/** Wait for mail without reading it. */
export interface ToolWaitRequest {
  readonly after?: Position | null;
  /** Default: 25. */
  readonly wait_secs?: ToolPollSecs;
}

/** How much is unread, the newest position, and what can be done next. */
export interface ToolWaitResult {
  readonly unread: U32;
  readonly newest?: Position | null;
  readonly then: Line;
}

/** It is done. */
export type Done = Record<string, never>;

/** One page of a named participant's inbox, as an operator. */
export interface InboxOfRequest {
  readonly address: ParticipantAddress;
  /** Default: 50. */
  readonly limit?: PageLimit;
  readonly after?: Position | null;
  /** Default: false. */
  readonly unread_only?: boolean;
}

/** Delete one message. */
export interface MessagePurgeRequest {
  readonly message_id: MessageId;
}

/** Report on retention; with run, first run it now. */
export interface RetentionRequest {
  /** Default: false. */
  readonly run?: boolean;
}

/** The rule in force, and what the last run removed. */
export interface RetentionReport {
  readonly keep_days?: U32 | null;
  readonly last_run_unix_ms?: Stamp | null;
  readonly removed_messages: U32;
  readonly removed_keys: U32;
}

/** The daemon wrote to and read from its store within the last two seconds. */
export interface Health {
  readonly ok: boolean;
  readonly service: Word;
  readonly version: Word;
  readonly started_at: Word;
  readonly uptime_secs: U64;
  /** 0 to 64 entries. */
  readonly dependencies: ReadonlyArray<Word>;
  /** 0 to 64 entries. */
  readonly background_tasks: ReadonlyArray<Word>;
}

/** The boot of the machine: 36 characters from 0-9, a-f and -. */
export type BootId = string;

/** One live session: its producer, its process and since when. */
export interface AgentMarker {
  readonly producer: ProducerName;
  readonly session_id: MailboxSession;
  readonly pid: U32;
  readonly started_at: MailboxTime;
  readonly process_start?: U64 | null;
  readonly boot?: BootId | null;
}

/** 1 to 64 characters from a-z, 0-9 and _ -. */
export type ProducerName = Branded<"ProducerName">;

/** 1 to 128 characters from A-Z, a-z, 0-9 and . _ -. */
export type MailboxSession = Branded<"MailboxSession">;

/** 1 to 80 characters from A-Z, a-z, 0-9 and _ -. */
export type MailboxMessageId = Branded<"MailboxMessageId">;

/** A time of RFC 3339 in UTC, 20 to 40 characters. */
export type MailboxTime = string;

/** Pending, leased, delivered, dismissed or dead. */
export type MailboxStatus = "pending" | "leased" | "delivered" | "dismissed" | "dead";

/** Who holds a message until when, and which delivery of it this is. */
export interface MailboxLease {
  readonly session: MailboxSession;
  readonly until: MailboxTime;
  readonly attempt: MailboxAttempt;
}

/** A whole number of deliveries from 1 to 1000. */
export type MailboxAttempt = number;

/** The version of the file's form, 2 to 1000000. */
export type MailboxSchema = number;

/** 64 lower-case hexadecimal digits. */
export type MailboxSeal = string;

/** One message with its taint, its state and who has it. */
export interface MailboxMessage {
  readonly id: MailboxMessageId;
  readonly status: MailboxStatus;
  readonly from: ProducerName;
  readonly from_session?: MailboxSession | null;
  readonly to: ProducerName;
  readonly body: Body;
  readonly reply_to?: MailboxMessageId | null;
  readonly taint: Taint;
  readonly taint_recorded: boolean;
  readonly created_at: MailboxTime;
  readonly delivered_at?: MailboxTime | null;
  readonly delivered_to?: MailboxSession | null;
  readonly dismissed_at?: MailboxTime | null;
  readonly schema: MailboxSchema;
  readonly lease?: MailboxLease | null;
  readonly attempts: U32;
  readonly dead_at?: MailboxTime | null;
  readonly seal: MailboxSeal;
}

/** Whose messages, which, and how many. */
export interface MailboxListRequest {
  readonly to?: ProducerName | null;
  /** Default: false. */
  readonly all?: boolean;
  readonly status?: MailboxStatus | null;
  /** Default: 50. */
  readonly limit?: PageLimit;
}

/** One message by its whole id. */
export interface MailboxShowRequest {
  readonly id: MailboxMessageId;
}

/** A message as it stands, without its text; what its file says otherwise is null. */
export interface MailboxEntry {
  readonly id: MailboxMessageId;
  readonly status: Word;
  readonly from: ProducerName;
  readonly from_session?: MailboxSession | null;
  readonly to: ProducerName;
  readonly reply_to?: MailboxMessageId | null;
  readonly taint: Taint;
  readonly created_at?: MailboxTime | null;
  readonly delivered_at?: MailboxTime | null;
  readonly delivered_to?: MailboxSession | null;
  readonly dismissed_at?: MailboxTime | null;
  readonly dead_at?: MailboxTime | null;
  readonly lease?: MailboxLease | null;
  readonly attempts: U32;
  readonly body_bytes: U32;
}

/** Messages of file mailboxes, by recipient and in the order of sending, and how many there are in all. */
export interface MailboxList {
  /** 0 to 256 entries. */
  readonly messages: ReadonlyArray<MailboxEntry>;
  readonly total: U32;
}

/** A message with its text, of which what no text of the contract may hold is replaced. */
export interface MailboxText {
  readonly entry: MailboxEntry;
  readonly body: Body;
}

/** What a run is told of the prose. */
export interface BriefExtraction {
  readonly topic: ExtractedLine;
  readonly urgency_claimed: Urgency;
  /** 0 to 8 entries. */
  readonly dates_mentioned: ReadonlyArray<ExtractedDate>;
  readonly institution: ExtractedLine;
}

/** The measurements of a file. */
export interface BriefAttachment {
  readonly field: RequestField;
  readonly size: FileBytes;
  readonly content_type: FileType;
  readonly sha256: RequestFileDigest;
}

/** An object of typed values under the names of declared fields. */
export type BriefFields = Readonly<Record<string, unknown>>;

/** A request without a word that a stranger wrote. */
export interface FrontdoorBrief {
  readonly seq: RequestSeq;
  readonly type: RequestTypeId;
  readonly received: RequestTime;
  readonly reply_to?: ReplyAddress | null;
  readonly fields: BriefFields;
  readonly extracted: BriefExtraction;
  /** 0 to 16 entries. */
  readonly attachments: ReadonlyArray<BriefAttachment>;
  readonly note?: RequestNote | null;
  readonly taint: Taint;
}

/** An object of values under the names of their fields. */
export type RequestValues = Readonly<Record<string, unknown>>;

/** A file that came with a request, and where it rests. */
export interface RequestAttachment {
  readonly field: RequestField;
  readonly filename: Line;
  readonly size: FileBytes;
  readonly sha256: RequestFileDigest;
  readonly content_type: FileType;
  readonly id?: Line | null;
  readonly path?: Line | null;
  readonly [member: string]: unknown;
}

/** What the quarantined pass made of the prose. */
export interface RequestExtraction {
  /** Default: "". */
  readonly reading?: ReadingText;
  /** Default: "". */
  readonly topic?: ExtractedLine;
  /** Default: "". */
  readonly urgency_claimed?: Urgency;
  /** 0 to 8 entries. Default: []. */
  readonly dates_mentioned?: ReadonlyArray<ExtractedDate>;
  /** Default: "". */
  readonly institution?: ExtractedLine;
  /** Default: false. */
  readonly reads_like_instructions?: boolean;
  readonly [member: string]: unknown;
}

/** The account of an extractor, of at most 8192 bytes of UTF-8. */
export type ReadingText = string;

/** A request, with what its writers know of it and this contract does not. */
export interface FrontdoorRecord {
  readonly seq: RequestSeq;
  readonly type_id: RequestTypeId;
  readonly state: RequestState;
  readonly created_at: RequestTime;
  readonly drained_at: RequestTime;
  /** Default: false. */
  readonly valid?: boolean;
  readonly invalid_reason?: RequestNote | null;
  readonly values: RequestValues;
  readonly free_text?: FreeTextNames | null;
  readonly reply_to?: ReplyAddress | null;
  readonly extraction?: RequestExtraction | null;
  readonly extraction_error?: RequestNote | null;
  readonly triage_session?: Line | null;
  /** 0 to 256 entries. Default: []. */
  readonly outbox?: ReadonlyArray<RequestDraftId>;
  readonly note?: RequestNote | null;
  /** Default: false. */
  readonly note_by_person?: boolean;
  /** 0 to 16 entries. Default: []. */
  readonly attachments?: ReadonlyArray<RequestAttachment>;
  readonly type_version?: RequestTypeVersion | null;
  readonly box_seq?: RequestSeq | null;
  readonly box_epoch?: BoxEpoch | null;
  readonly box_digest?: RequestFileDigest | null;
  readonly [member: string]: unknown;
}

/** The names of the values that are prose, at most 200. */
export type FreeTextNames = ReadonlyArray<Line>;

/** 1 to 64 characters from a-z, 0-9 and _ -. */
export type FormTypeId = string;

/** 1 to 64 characters from a-z, 0-9 and _ -. */
export type FormName = string;

/** A whole number from 1 to 1000000. */
export type FormVersion = number;

/** One line of text: 1 to 200 bytes of UTF-8, no control characters. */
export type FormLabel = string;

/** Text of at most 2000 bytes of UTF-8; of the control characters only line feed and tab. */
export type FormProse = string;

/** A regular expression: 1 to 256 bytes of UTF-8, no control characters. */
export type FormPattern = string;

/** One line of text: 1 to 128 bytes of UTF-8, no control characters. */
export type OptionValue = string;

/** A whole number of characters from 1 to 100000. */
export type TextLength = number;

/** A whole number of characters from 6 to 254. */
export type EmailLength = number;

/** A whole number of characters from 12 to 2048. */
export type UrlLength = number;

/** A whole number from -9007199254740991 to 9007199254740991. */
export type FormInteger = number;

/** A date, written YYYY-MM-DD. */
export type FormDate = string;

/** A whole number of choices from 1 to 200. */
export type ChoiceCount = number;

/** A whole number of bytes from 1 to 16777216. */
export type FormFileBytes = number;

/** Pdf, png, jpeg or jpg. */
export type FileKind = "pdf" | "png" | "jpeg" | "jpg";

/** One choice: what is submitted and what is shown for it. */
export interface FieldOption {
  readonly value: OptionValue;
  readonly label: FormLabel;
}

/** Eq, ne, in, not_in, gt, gte, lt, lte, present, absent, is_true or is_false. */
export type ConditionOp = "eq" | "ne" | "in" | "not_in" | "gt" | "gte" | "lt" | "lte" | "present" | "absent" | "is_true" | "is_false";

/** When something is shown: another field or acknowledgment, and what must hold of it. */
export interface ShowWhen {
  readonly field: FormName;
  readonly op: ConditionOp;
  readonly value?: OptionValue | null;
  /** 0 to 200 entries. Default: []. */
  readonly values?: ReadonlyArray<OptionValue>;
}

/** A line of free text. */
export interface TextField {
  readonly kind: "text";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  readonly max_length: TextLength;
  readonly pattern?: FormPattern | null;
}

/** Free text of several lines. */
export interface LongTextField {
  readonly kind: "long_text";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  readonly max_length: TextLength;
}

/** An address of email. */
export interface EmailField {
  readonly kind: "email";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  /** Default: 254. */
  readonly max_length?: EmailLength;
}

/** An address of a page, http or https. */
export interface UrlField {
  readonly kind: "url";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  /** Default: 2048. */
  readonly max_length?: UrlLength;
}

/** A day. */
export interface DateField {
  readonly kind: "date";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  readonly min?: FormDate | null;
  readonly max?: FormDate | null;
}

/** A whole number. */
export interface IntegerField {
  readonly kind: "integer";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  readonly min?: FormInteger | null;
  readonly max?: FormInteger | null;
}

/** One of several choices. */
export interface SelectField {
  readonly kind: "select";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  /** 1 to 200 entries. */
  readonly options: ReadonlyArray<FieldOption>;
}

/** Some of several choices. */
export interface MultiSelectField {
  readonly kind: "multi_select";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  /** 1 to 200 entries. */
  readonly options: ReadonlyArray<FieldOption>;
  readonly max_choices?: ChoiceCount | null;
}

/** Yes or no. */
export interface BoolField {
  readonly kind: "bool";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
}

/** A file of a kind that is accepted. */
export interface FileField {
  readonly kind: "file";
  readonly name: FormName;
  readonly label: FormLabel;
  readonly help?: FormProse | null;
  /** Default: false. */
  readonly required?: boolean;
  readonly show_when?: ShowWhen | null;
  /** 1 to 4 entries. Default: ["pdf", "png", "jpeg"]. */
  readonly accept?: ReadonlyArray<FileKind>;
  /** Default: 8388608. */
  readonly max_bytes?: FormFileBytes;
}

/** A field of one of ten kinds: text, long_text, email, url, date, integer, select, multi_select, bool or file. */
export type FormField = 
  | TextField
  | LongTextField
  | EmailField
  | UrlField
  | DateField
  | IntegerField
  | SelectField
  | MultiSelectField
  | BoolField
  | FileField;

/** What must be agreed to before a form is sent. */
export interface Acknowledgment {
  readonly id: FormName;
  readonly label: FormLabel;
  readonly description?: FormProse | null;
}

/** One page of a form: the fields on it, and when it is shown. */
export interface FormStep {
  readonly id: FormName;
  readonly title: FormLabel;
  readonly description?: FormProse | null;
  /** 1 to 100 entries. */
  readonly fields: ReadonlyArray<FormName>;
  readonly show_when?: ShowWhen | null;
}

/** A whole number of hours from 1 to 720. */
export type VerificationHours = number;

/** Which field holds the address that is proved, and for how long the link is good. */
export interface FormVerification {
  readonly field: FormName;
  /** Default: 48. */
  readonly expires_hours?: VerificationHours;
}

/** What is said when a form has been sent. */
export interface FormConfirmation {
  readonly heading: FormLabel;
  readonly body: FormProse;
  readonly expect_reply_within?: FormLabel | null;
}

/** A whole number of days from 1 to 3650. */
export type RetainDays = number;

/** Request; bookings are not taken. */
export type ManifestKind = "request";

/** What may be asked at the front door, and in which fields. */
export interface RequestTypeManifest {
  readonly id: FormTypeId;
  readonly version: FormVersion;
  readonly title: FormLabel;
  readonly description?: FormProse | null;
  /** Default: "request". */
  readonly kind?: ManifestKind;
  readonly retain_days?: RetainDays | null;
  /** 1 to 100 entries. */
  readonly fields: ReadonlyArray<FormField>;
  /** 0 to 20 entries. Default: []. */
  readonly steps?: ReadonlyArray<FormStep>;
  /** 0 to 20 entries. Default: []. */
  readonly acknowledgments?: ReadonlyArray<Acknowledgment>;
  readonly verification?: FormVerification | null;
  readonly confirmation?: FormConfirmation | null;
}

/** A piece of a file: at most 65536 characters of base64url without padding. */
export type FileChunk = string;

/** The bytes of an attachment, in pieces of base64url that are joined. */
export interface IngestedFile {
  readonly field: RequestField;
  /** 1 to 256 entries. */
  readonly data: ReadonlyArray<FileChunk>;
}

/** One drained submission with the bytes of its files. */
export interface FrontdoorIngestRequest {
  readonly box_epoch: BoxEpoch;
  readonly record: FrontdoorRecord;
  /** 0 to 16 entries. Default: []. */
  readonly files?: ReadonlyArray<IngestedFile>;
}

/** The number that a submission has here; it may be acknowledged to the box. */
export interface FrontdoorReceipt {
  readonly seq: RequestSeq;
  readonly valid: boolean;
  readonly repeated: boolean;
}

/** A number of requests from 1 to 256. */
export type RequestLimit = number;

/** A number of requests from 1 to 16. */
export type BriefLimit = number;

/** Which requests to list, the lowest numbers first. */
export interface FrontdoorListRequest {
  readonly state?: RequestState | null;
  /** Default: 0. */
  readonly after?: U64;
  /** Default: 50. */
  readonly limit?: RequestLimit;
}

/** One request in a list. */
export interface RequestSummary {
  readonly seq: RequestSeq;
  readonly type_id?: RequestTypeId | null;
  readonly state?: RequestState | null;
  readonly valid: boolean;
  readonly topic?: ExtractedLine | null;
  readonly reads_like_instructions: boolean;
  readonly received?: RequestTime | null;
  readonly drained_at?: RequestTime | null;
  readonly attachments: U32;
  readonly duplicate: boolean;
}

/** A file of the store that is no request, and why. */
export interface UnreadableFile {
  readonly name: Line;
  readonly reason: Line;
}

/** Requests, how many there are, and what could not be read. */
export interface FrontdoorList {
  /** 0 to 256 entries. */
  readonly requests: ReadonlyArray<RequestSummary>;
  readonly total: U64;
  /** 0 to 64 entries. */
  readonly unreadable: ReadonlyArray<UnreadableFile>;
  readonly unreadable_total: U64;
}

/** The number of a request. */
export interface FrontdoorGetRequest {
  readonly seq: RequestSeq;
}

/** An object of a file, as it lies there. */
export type RequestFile = Readonly<Record<string, unknown>>;

/** A whole request for a person, prose and all. */
export interface FrontdoorItem {
  readonly record: RequestFile;
  readonly fields: BriefFields;
  readonly prose: ProseTexts;
  readonly briefed: boolean;
}

/** Lists of a stranger's texts under the names of their values. */
export type ProseTexts = Readonly<Record<string, unknown>>;

/** How many briefs to give at most. */
export interface FrontdoorNextRequest {
  /** Default: 5. */
  readonly limit?: BriefLimit;
}

/** Briefs of extracted requests, oldest first, and how many may be told to no run. */
export interface FrontdoorBriefs {
  /** 0 to 16 entries. */
  readonly briefs: ReadonlyArray<FrontdoorBrief>;
  readonly withheld: U64;
}

/** Which requests to extract: one, or the oldest that wait for it. */
export interface FrontdoorExtractRequest {
  readonly seq?: RequestSeq | null;
  /** Default: false. */
  readonly retry?: boolean;
  /** Default: 1. */
  readonly limit?: BriefLimit;
}

/** What became of requests that were extracted, and how many still wait. */
export interface FrontdoorExtracted {
  /** 0 to 16 entries. */
  readonly moved: ReadonlyArray<FrontdoorMoved>;
  readonly left: U64;
}

/** A request and the states that it went between. */
export interface FrontdoorMoved {
  readonly seq: RequestSeq;
  readonly from: RequestState;
  readonly to: RequestState;
}

/** The drafts that a run staged for a request; none are a triage too. */
export interface FrontdoorTriagedRequest {
  readonly seq: RequestSeq;
  /** 0 to 16 entries. Default: []. */
  readonly drafts?: ReadonlyArray<RequestDraftId>;
}

/** A request that waits for its sender, and for what. */
export interface FrontdoorNeedsInfoRequest {
  readonly seq: RequestSeq;
  readonly note?: RequestNote | null;
}

/** A request to be closed, and why. */
export interface FrontdoorCloseRequest {
  readonly seq: RequestSeq;
  readonly reason: RequestReason;
}

/** A request to be taken up again. */
export interface FrontdoorReopenRequest {
  readonly seq: RequestSeq;
}

/** Nothing: every request that waits for a draft is looked at. */
export type FrontdoorReconcileRequest = Record<string, never>;

/** The requests whose drafts were decided, the first 256 of them. */
export interface FrontdoorReconciled {
  /** 0 to 256 entries. */
  readonly moved: ReadonlyArray<FrontdoorMoved>;
  readonly total: U64;
}

/** A place in a text in bytes of UTF-8, from 0 to 16777216. */
export type ToolTextOffset = number;

/** Briefs of requests, few enough for a model. */
export interface ToolBriefsRequest {
  /** Default: 5. */
  readonly limit?: BriefLimit;
  readonly seq?: RequestSeq | null;
  /** Default: 0. */
  readonly from_byte?: ToolTextOffset;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** A request: what the daemon vouches for, and between boundary lines its brief. */
export interface ToolBrief {
  readonly seq: RequestSeq;
  readonly type: RequestTypeId;
  readonly received: RequestTime;
  readonly taint: Taint;
  readonly text: UntrustedText;
  readonly text_bytes: ToolTextOffset;
  readonly cut: boolean;
}

/** Briefs, oldest first, how many were left out for want of room, how many may be told to no run, and where the rest of one that was cut begins. */
export interface ToolBriefsResult {
  readonly boundary: Boundary;
  /** 0 to 16 entries. */
  readonly briefs: ReadonlyArray<ToolBrief>;
  readonly left: U32;
  readonly withheld: U64;
  readonly next_byte?: ToolTextOffset | null;
}

/** The number of a request, from 1 to 2^53-1. */
export type RequestSeq = number;

/** 1 to 64 characters from a-z, 0-9 and _ -. */
export type RequestTypeId = string;

/** The version of a request type, from 1 to 1000000. */
export type RequestTypeVersion = number;

/** The state of a request. */
export type RequestState = "drained" | "extracted" | "extraction_failed" | "triaged" | "awaiting_me" | "needs_info" | "answered" | "closed";

/** A time of RFC 3339, 20 to 40 characters. */
export type RequestTime = string;

/** The name of a field: 1 to 64 characters from a-z, 0-9 and _ -. */
export type RequestField = string;

/** 1 to 64 characters from A-Z, a-z, 0-9 and . _ -. */
export type BoxEpoch = string;

/** One bare email address of 6 to 254 characters. */
export type ReplyAddress = string;

/** Sha256: and 64 lower-case hexadecimal digits. */
export type RequestFileDigest = string;

/** The content type of a file: pdf, png or jpeg. */
export type FileType = "application/pdf" | "image/png" | "image/jpeg";

/** The size of a file, from 1 byte to 16 MiB. */
export type FileBytes = number;

/** 1 to 80 characters from A-Z, a-z, 0-9 and _ -. */
export type RequestDraftId = string;

/** A note of at most 2048 bytes of UTF-8. */
export type RequestNote = string;

/** A reason of 1 to 2048 bytes of UTF-8. */
export type RequestReason = string;

/** A claimed urgency of at most 16 bytes of UTF-8. */
export type Urgency = string;

/** One extracted line of at most 480 bytes of UTF-8. */
export type ExtractedLine = string;

/** An extracted date of at most 160 bytes of UTF-8. */
export type ExtractedDate = string;

/** The command of a reply envelope that delivers a note. */
export interface NoteCommand {
  readonly op: "note";
  readonly id: NodeId;
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  /** Default: "live". */
  readonly deliver?: DeliverWhen;
  /** Default: true. */
  readonly persist?: boolean;
}

/** A command of a reply envelope; those of other seams are not here. */
export type ReplyCommand = 
  | NoteCommand;

/** Who replies: 1 to 64 characters from a-z, 0-9 and -. */
export type Author = string;

/** A reply to a run: notes for its nodes, in order. */
export interface ReplyEnvelope {
  readonly version?: U32 | null;
  /** Default: "planner". */
  readonly author?: Author;
  readonly completion?: boolean | null;
  readonly message?: RunText | null;
  readonly reason?: RunText | null;
  /** 0 to 64 entries. Default: []. */
  readonly commands?: ReadonlyArray<ReplyCommand>;
}

/** A file that a record refers to. */
export interface JournalArtifact {
  readonly id: RunWord;
  readonly kind: RunWord;
  readonly bytes: U64;
}

/** An object of labels or of a payload, whose members depend on the kind. */
export type JournalObject = Readonly<Record<string, unknown>>;

/** One record of a journal: who wrote what when. */
export interface JournalEnvelope {
  readonly v: JournalVersion;
  readonly ts: RunTime;
  readonly stream: RunWord;
  readonly seq: U64;
  readonly source: JournalSource;
  readonly kind: RunWord;
  readonly phase?: JournalPhase | null;
  readonly labels: JournalObject;
  readonly payload: JournalObject;
  /** 0 to 256 entries. Default: []. */
  readonly artifacts?: ReadonlyArray<JournalArtifact>;
}

/** The notes that a turn opened on. */
export type NoteIds = ReadonlyArray<NoteId>;

/** A turn that a party of a node's conversation opened. */
export interface TurnStarted {
  readonly node: NodeId;
  readonly member: RunWord;
  readonly turn: U64;
  readonly role: TurnRole;
  readonly instruction: Instruction;
  /** Default: false. */
  readonly instruction_truncated?: boolean;
  readonly started_at: RunTime;
  readonly origin?: TurnOrigin | null;
  readonly note_ids?: NoteIds | null;
}

/** A note: whose task it updates, what it says and what it binds. */
export interface NoteObject {
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
}

/** A note on its way to the conversation of a node, the body of a message. */
export interface NoteOffer {
  readonly run: RunName;
  readonly node: NodeId;
  readonly note_id: NoteId;
  readonly note: NoteObject;
}

/** A note as the run's record carries it. */
export interface RecordedNote {
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  readonly reached: ReachedWord;
  readonly completion_reason?: CompletionReason | null;
  readonly note_id?: NoteId | null;
}

/** The kind of an operation that delivers a note: note-delivered. */
export type NoteOperationKind = "note-delivered";

/** The operation that a committed note is. */
export interface NoteDelivered {
  readonly kind: NoteOperationKind;
  readonly node: NodeId;
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  readonly reached: ReachedWord;
  readonly completion_reason?: CompletionReason | null;
  readonly note_id?: NoteId | null;
  /** 0 to 2 entries. Default: []. */
  readonly shown_to?: ReadonlyArray<Party>;
  /** 0 to 2 entries. Default: []. */
  readonly routed_to?: ReadonlyArray<Party>;
  readonly offered_at?: RunTime | null;
  readonly idempotency_key?: Selector | null;
  readonly request?: RunWord | null;
}

/** One presentation of a note to a party. */
export interface NoteShown {
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  readonly reached: ReachedWord;
  readonly completion_reason?: CompletionReason | null;
  readonly note_id?: NoteId | null;
  readonly party: Party;
  readonly turn: U64;
  readonly evidence: NoteEvidence;
}

/** The note of an entry of a carry store. */
export interface CarriedNote {
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  readonly note_id?: NoteId | null;
}

/** What an entry of a carry store holds: agent.note@1. */
export type CarrySchema = "agent.note@1";

/** An entry of a carry store. */
export interface CarryRecord {
  readonly ts: RunTime;
  readonly schema: CarrySchema;
  readonly message: CarriedNote;
}

/** Nobody was taking a turn; the next turn to open takes it. */
export interface ReachedQueued {
  readonly reached: "queued";
}

/** The worker's turn was live and was reopened with it. */
export interface ReachedWorker {
  readonly reached: "worker";
}

/** The judge's turn was live and decided again with it in hand. */
export interface ReachedSupervisor {
  readonly reached: "supervisor";
}

/** No turn took it; the node's next dispatch carries it. */
export interface ReachedCarried {
  readonly reached: "carried";
}

/** The judge decided with it in hand that the work is complete. */
export interface ReachedJudgedWith {
  readonly reached: "judged-with";
  readonly completion_reason: CompletionReason;
}

/** What became of a note, as the run records it. */
export type Reached = 
  | ReachedQueued
  | ReachedWorker
  | ReachedSupervisor
  | ReachedJudgedWith
  | ReachedCarried;

/** The run recorded what became of the note. */
export interface DeliveredTo {
  readonly kind: "to";
  readonly reached: Reached;
}

/** The note is durable and not answered yet; it is not to be sent again. */
export interface DeliveredQueued {
  readonly kind: "queued";
}

/** What a delivery answered. */
export type Delivered = 
  | DeliveredTo
  | DeliveredQueued;

/** Nobody is taking a turn; the next turn to open takes the note. */
export interface OfferQueued {
  readonly kind: "queued";
}

/** The live turn of this party takes the note. */
export interface OfferInterrupted {
  readonly kind: "interrupted";
  readonly party: Party;
}

/** The judge decided with the note in hand that the work is complete. */
export interface OfferJudgedWith {
  readonly kind: "judged_with";
  readonly completion_reason: CompletionReason;
}

/** The conversation is over and the work is passed. */
export interface OfferConversationCompleted {
  readonly kind: "conversation_completed";
  readonly completion_reason: CompletionReason;
}

/** The member that ran the conversation has ended. */
export interface OfferMemberSettled {
  readonly kind: "member_settled";
  readonly outcome: RunText;
}

/** There is no conversation to hand the note to. */
export interface OfferNoConversation {
  readonly kind: "no_conversation";
  readonly reason: RunText;
}

/** What a conversation answered to a note that it was offered. */
export type OfferAnswer = 
  | OfferQueued
  | OfferInterrupted
  | OfferJudgedWith
  | OfferConversationCompleted
  | OfferMemberSettled
  | OfferNoConversation;

/** A note for a node of a run, and when it may reach it. */
export interface NoteRequest {
  readonly run: RunName;
  readonly node: NodeId;
  readonly addressee: Addressee;
  readonly text: NoteText;
  readonly criterion?: Criterion | null;
  /** Default: "live". */
  readonly deliver?: DeliverWhen;
  /** Default: true. */
  readonly persist?: boolean;
  readonly idempotency_key?: Selector | null;
}

/** What became of a note, whom it was shown and whom it is owed to. */
export interface NoteReceipt {
  readonly note_id: NoteId;
  readonly run: RunName;
  readonly node: NodeId;
  readonly delivered: Delivered;
  /** 0 to 2 entries. */
  readonly shown_to: ReadonlyArray<Party>;
  /** 0 to 2 entries. */
  readonly owed_to: ReadonlyArray<Party>;
  readonly repeated: boolean;
}

/** The node of a run whose notes are asked for. */
export interface NoteStandingRequest {
  readonly run: RunName;
  readonly node: NodeId;
}

/** A note that the current dispatch holds, and where it sits. */
export interface StandingNote {
  readonly note: RecordedNote;
  readonly placement: NotePlacement;
  readonly read: boolean;
}

/** The notes that stand for a node, that it owes, and that no turn could decide. */
export interface NoteStanding {
  readonly run: RunName;
  readonly node: NodeId;
  /** 0 to 256 entries. */
  readonly standing: ReadonlyArray<StandingNote>;
  /** 0 to 256 entries. */
  readonly owed: ReadonlyArray<RecordedNote>;
  /** 0 to 256 entries. */
  readonly undecidable: ReadonlyArray<RecordedNote>;
}

/** Turns to append to the journal of a run, in order. */
export interface NoteEventsRequest {
  readonly run: RunName;
  /** 1 to 64 entries. */
  readonly events: ReadonlyArray<TurnStarted>;
}

/** A presentation and the node whose note it is of. */
export interface NodePresentation {
  readonly node: NodeId;
  readonly shown: NoteShown;
}

/** The presentations that turns showed. */
export interface NotePresentations {
  /** 0 to 256 entries. */
  readonly presentations: ReadonlyArray<NodePresentation>;
}

/** A stretch of the journal of a run. */
export interface NoteJournalRequest {
  readonly run: RunName;
  /** Default: 0. */
  readonly after?: U64;
  /** Default: 100. */
  readonly limit?: JournalLimit;
}

/** Records of a journal, and where the next stretch begins. */
export interface NoteJournal {
  /** 0 to 256 entries. */
  readonly records: ReadonlyArray<JournalEnvelope>;
  readonly next: U64;
  readonly unreadable: U64;
  readonly torn_bytes: U64;
}

/** Runs by name. */
export interface NoteRunsRequest {
  readonly after?: RunName | null;
  /** Default: 100. */
  readonly limit?: JournalLimit;
}

/** A run, how long its journal is, and when that was written last. */
export interface NoteRun {
  readonly run: RunName;
  readonly journal_bytes: U64;
  readonly changed_at_unix_ms: UnixMs;
}

/** A page of runs by name, and how many there are in all. */
export interface NoteRuns {
  /** 0 to 256 entries. */
  readonly runs: ReadonlyArray<NoteRun>;
  readonly total: U32;
}

/** Note_ and 24 lower-case hexadecimal digits. */
export type NoteId = Branded<"NoteId">;

/** The name of a run: 1 to 128 characters from A-Z, a-z, 0-9 and . _ -. */
export type RunName = string;

/** The id of a node: 1 to 8192 bytes of UTF-8 without null characters. */
export type NodeId = string;

/** The text of a note: 1 to 16384 bytes of UTF-8 without null characters. */
export type NoteText = string;

/** The criterion of a note: 1 to 2048 bytes of UTF-8 without null characters. */
export type Criterion = string;

/** What a judge said of finished work: at most 16384 bytes of UTF-8 without null characters. */
export type CompletionReason = string;

/** What a program of the run wrote: at most 4096 bytes of UTF-8 without null characters. */
export type RunText = string;

/** The instruction of a turn: at most 16384 bytes of UTF-8 without null characters. */
export type Instruction = string;

/** A word of a run's record: 1 to 256 bytes of UTF-8 on one line, no control characters. */
export type RunWord = string;

/** A time in UTC to the millisecond: YYYY-MM-DDTHH:MM:SS.mmmZ. */
export type RunTime = string;

/** Whose task a note updates: worker, supervisor or both. */
export type Addressee = "worker" | "supervisor" | "both";

/** A side of the conversation: worker or supervisor. */
export type Party = "worker" | "supervisor";

/** Live, which attempts the running turn, or next. */
export type DeliverWhen = "live" | "next";

/** What became of a note: queued, worker, supervisor, judged-with or carried. */
export type ReachedWord = "queued" | "worker" | "supervisor" | "judged-with" | "carried";

/** What a presentation was decided from: delivered-origin, opening-task, instruction-text or answering-turn. */
export type NoteEvidence = "delivered-origin" | "opening-task" | "instruction-text" | "answering-turn";

/** Where a standing note sits: composed or delivered-since. */
export type NotePlacement = "composed" | "delivered-since";

/** Who takes a turn: assistant is the worker, user the supervisor. */
export type TurnRole = "assistant" | "user" | "system";

/** What a turn opened on: task, supervisor or delivered. */
export type TurnOrigin = "task" | "supervisor" | "delivered";

/** Who wrote a record: agentgraph, vcs or pipeline. */
export type JournalSource = "agentgraph" | "vcs" | "pipeline";

/** A phase of a record: development, integrate, review or release. */
export type JournalPhase = "development" | "integrate" | "review" | "release";

/** The version of an envelope, 1 or 2. */
export type JournalVersion = number;

/** A whole number of records from 1 to 256. */
export type JournalLimit = number;

/** Give a message other arguments; refused when it changed since it was read. */
export interface OutboxEditRequest {
  readonly id: OutboxId;
  readonly digest: DraftDigest;
  readonly args: DraftArguments;
}

/** Release the draft that was read. */
export interface OutboxReleaseRequest {
  readonly id: OutboxId;
  readonly digest: DraftDigest;
}

/** What came of a release: it left, or certainly nothing did and the draft waits on. */
export interface OutboxReleased {
  readonly id: OutboxId;
  readonly sent: boolean;
  readonly status: OutboxStatus;
  readonly attempts: U32;
  readonly sent_as?: Line | null;
  readonly error?: DecisionReason | null;
}

/** A draft as it was read. */
export interface DraftNamed {
  readonly id: OutboxId;
  readonly digest: DraftDigest;
}

/** Reject 1 to 100 drafts for one reason; each has an outcome of its own. */
export interface OutboxRejectRequest {
  /** 1 to 100 entries. */
  readonly drafts: ReadonlyArray<DraftNamed>;
  readonly reason: DecisionReason;
}

/** The draft is rejected. */
export interface DraftRejected {
  readonly kind: "rejected";
  readonly id: OutboxId;
}

/** The draft is as it was, and why. */
export interface DraftKept {
  readonly kind: "refused";
  readonly id: OutboxId;
  readonly refusal: Refusal;
}

/** What became of one rejection (rejected or refused). */
export type RejectOutcome = 
  | DraftRejected
  | DraftKept;

/** An outcome for each draft that was named, in that order. */
export interface OutboxRejected {
  /** 0 to 100 entries. */
  readonly outcomes: ReadonlyArray<RejectOutcome>;
}

/** Say whether a draft left whose outcome is unknown. */
export interface OutboxSettleRequest {
  readonly id: OutboxId;
  readonly sent: boolean;
}

/** Nothing to say. */
export type OutboxTallyRequest = Record<string, never>;

/** A share in thousandths, 0 to 1000. */
export type Permille = number;

/** Released messages, and the share that left as drafted; null where none left. */
export interface OutboxTally {
  readonly unchanged: U32;
  readonly edited: U32;
  readonly sent: U32;
  readonly unchanged_permille?: Permille | null;
}

/** A piece of a shown text: 1 to 16384 bytes of UTF-8; of the control characters only line feed and tab. */
export type DraftPiece = string;

/** An argument as it is shown: the pieces of its text, to be joined with nothing between. */
export interface DraftRow {
  readonly name: DraftPiece;
  /** 0 to 128 entries. */
  readonly text: ReadonlyArray<DraftPiece>;
}

/** How many characters are shown as numbers, 0 to 16777216. */
export type HiddenCount = number;

/** Every argument once: whom and what it is about, the prose, and all else. */
export interface DraftShown {
  /** 0 to 12 entries. */
  readonly headers: ReadonlyArray<DraftRow>;
  readonly body?: DraftRow | null;
  /** 0 to 64 entries. */
  readonly other: ReadonlyArray<DraftRow>;
  readonly hidden: HiddenCount;
}

/** Private, untrusted, hidden_characters, edited, no_sink, outcome_unknown, failed_before or files_changed. */
export type DraftWarning = "private" | "untrusted" | "hidden_characters" | "edited" | "no_sink" | "outcome_unknown" | "failed_before" | "files_changed";

/** A whole draft, and the digest that a decision on it names. */
export interface OutboxDraft {
  readonly entry: OutboxEntry;
  readonly digest: DraftDigest;
  readonly args?: DraftArguments | null;
  readonly args_before?: DraftArguments | null;
  readonly view: DraftShown;
  readonly workspace?: DraftPath | null;
  readonly sink?: Line | null;
  /** 0 to 256 entries. */
  readonly files: ReadonlyArray<DraftFile>;
  /** 0 to 8 entries. */
  readonly warnings: ReadonlyArray<DraftWarning>;
  readonly release?: ReleaseIntent | null;
  readonly sent_as?: Line | null;
  readonly decided_at?: MailboxTime | null;
}

/** 1 to 80 characters from A-Z, a-z, 0-9 and _ -. */
export type OutboxId = Branded<"OutboxId">;

/** The name of a tool: 1 to 128 characters from A-Z, a-z, 0-9 and . _ -. */
export type ToolName = Branded<"ToolName">;

/** Sha256: and 64 lower-case hexadecimal digits. */
export type DraftDigest = Branded<"DraftDigest">;

/** 64 lower-case hexadecimal digits. */
export type FileDigest = string;

/** A path: 1 to 4096 bytes of UTF-8, no control characters. */
export type DraftPath = string;

/** Who decides: 1 to 256 bytes of UTF-8, no control characters. */
export type Decider = string;

/** Why: 1 to 2048 bytes of UTF-8; of the control characters only line feed and tab. */
export type DecisionReason = string;

/** Pending, releasing, sent, rejected, withdrawn or superseded. */
export type OutboxStatus = "pending" | "releasing" | "sent" | "rejected" | "withdrawn" | "superseded";

/** Message or publish. */
export type OutboxKind = "message" | "publish";

/** The version of the file's form, 2 to 1000000. */
export type OutboxSchema = number;

/** The number of an attempt, 1 to 4294967295. */
export type OutboxAttempt = number;

/** The arguments of a tool call, an object. */
export type DraftArguments = Readonly<Record<string, unknown>>;

/** A file as it was when the draft was staged. */
export interface DraftFile {
  readonly path: DraftPath;
  readonly size: U32;
  readonly sha256: FileDigest;
}

/** A release that was begun and has no outcome. */
export interface ReleaseIntent {
  readonly attempt: OutboxAttempt;
  readonly by: Decider;
  readonly digest: DraftDigest;
  readonly started_at: MailboxTime;
}

/** One staged draft; without taint both legs count, without schema it is the original's. */
export interface OutboxItem {
  readonly id: OutboxId;
  readonly status: OutboxStatus;
  readonly tool: ToolName;
  /** Default: "message". */
  readonly kind?: OutboxKind;
  readonly args_before: DraftArguments;
  readonly args: DraftArguments;
  readonly summary: Body;
  readonly session_id?: Selector | null;
  readonly workspace?: DraftPath | null;
  readonly taint?: Taint | null;
  readonly created_at: MailboxTime;
  readonly resolved_at?: MailboxTime | null;
  readonly reason?: DecisionReason | null;
  readonly error?: DecisionReason | null;
  readonly schema?: OutboxSchema | null;
  readonly release?: ReleaseIntent | null;
  /** Default: 0. */
  readonly attempts?: U32;
  readonly decided_by?: Decider | null;
  readonly idempotency_key?: Selector | null;
  /** 0 to 256 entries. Default: []. */
  readonly files?: ReadonlyArray<DraftFile>;
  readonly staged_by?: Decider | null;
  readonly sink?: Line | null;
  readonly sent_as?: Line | null;
  readonly superseded_by?: OutboxId | null;
  readonly decided_at?: MailboxTime | null;
}

/** Stage a tool call that a person releases; only a holder of outbox:stamp gives its taint. */
export interface OutboxStageRequest {
  readonly tool: ToolName;
  readonly args: DraftArguments;
  readonly workspace?: DraftPath | null;
  readonly taint?: StampedTaint | null;
  readonly idempotency_key?: Selector | null;
}

/** What a harness says of the conversation; a leg that is left out is set. */
export interface StampedTaint {
  /** Default: true. */
  readonly private?: boolean;
  /** Default: true. */
  readonly untrusted?: boolean;
}

/** The draft that waits for a person. */
export interface OutboxStaged {
  readonly id: OutboxId;
  readonly digest: DraftDigest;
  readonly summary: Line;
  readonly status: OutboxStatus;
  readonly repeated: boolean;
}

/** Which drafts, and how many; without status those that wait or are in doubt. */
export interface OutboxListRequest {
  readonly status?: OutboxStatus | null;
  /** Default: false. */
  readonly all?: boolean;
  readonly kind?: OutboxKind | null;
  readonly tool?: ToolName | null;
  readonly after?: OutboxId | null;
  /** Default: 50. */
  readonly limit?: PageLimit;
}

/** A draft as a list shows it; what its file says otherwise is null. */
export interface OutboxEntry {
  readonly id: OutboxId;
  readonly status: Word;
  readonly tool: Line;
  readonly kind: OutboxKind;
  readonly summary: Line;
  readonly session_id?: Selector | null;
  readonly staged_by?: Decider | null;
  readonly taint: Taint;
  readonly edited: boolean;
  readonly created_at?: MailboxTime | null;
  readonly resolved_at?: MailboxTime | null;
  readonly attempts: U32;
  readonly outcome_unknown: boolean;
  readonly error?: DecisionReason | null;
  readonly reason?: DecisionReason | null;
  readonly decided_by?: Decider | null;
  readonly superseded_by?: OutboxId | null;
}

/** Drafts, oldest first, how many there are in all, and how many files are none. */
export interface OutboxList {
  /** 0 to 256 entries. */
  readonly drafts: ReadonlyArray<OutboxEntry>;
  readonly total: U32;
  readonly unreadable: U32;
}

/** One draft by its whole id. */
export interface OutboxGetRequest {
  readonly id: OutboxId;
}

/** Take back a draft that nobody has decided. */
export interface OutboxWithdrawRequest {
  readonly id: OutboxId;
  readonly reason?: DecisionReason | null;
}

/** Stage a draft in the place of one that nobody has decided. */
export interface OutboxSupersedeRequest {
  readonly id: OutboxId;
  readonly args: DraftArguments;
  readonly workspace?: DraftPath | null;
  readonly taint?: StampedTaint | null;
  readonly idempotency_key?: Selector | null;
}

/** Stage a tool call that a person releases. */
export interface ToolStageRequest {
  readonly tool: ToolName;
  readonly args: DraftArguments;
  readonly workspace?: DraftPath | null;
  readonly idempotency_key?: Selector | null;
}

/** Stage a draft in the place of one that nobody has decided. */
export interface ToolSupersedeRequest {
  readonly id: OutboxId;
  readonly args: DraftArguments;
  readonly workspace?: DraftPath | null;
  readonly idempotency_key?: Selector | null;
}

/** The draft that waits for a person. */
export interface ToolStageResult {
  readonly id: OutboxId;
  readonly status: OutboxStatus;
  readonly repeated: boolean;
}

/** The caller's own drafts; without status those that wait or are in doubt. */
export interface ToolDraftsRequest {
  readonly status?: OutboxStatus | null;
  /** Default: false. */
  readonly all?: boolean;
  readonly after?: OutboxId | null;
  /** Default: 20. */
  readonly limit?: ToolPageLimit;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** Pending, releasing, sent, rejected, withdrawn, superseded, or unknown where a file says none of them. */
export type ToolDraftStatus = "pending" | "releasing" | "sent" | "rejected" | "withdrawn" | "superseded" | "unknown";

/** A draft: what the daemon vouches for. */
export interface ToolDraft {
  readonly id: OutboxId;
  readonly status: ToolDraftStatus;
  readonly edited: boolean;
  readonly outcome_unknown: boolean;
  readonly created_at?: MailboxTime | null;
  readonly superseded_by?: OutboxId | null;
}

/** Drafts, oldest first, between boundary lines a line on each, how many there are, and where the next page begins. */
export interface ToolDraftsResult {
  readonly boundary: Boundary;
  /** 0 to 50 entries. */
  readonly drafts: ReadonlyArray<ToolDraft>;
  readonly text: UntrustedText;
  readonly total: U32;
  readonly next?: OutboxId | null;
}

/** One draft of the caller's own, or a further part of it. */
export interface ToolDraftRequest {
  readonly id: OutboxId;
  /** Default: 0. */
  readonly from_byte?: ToolTextOffset;
  /** Default: 2000. */
  readonly max_tokens?: ToolTokens;
}

/** A draft, between boundary lines what it says, and where the rest of that begins. */
export interface ToolDraftResult {
  readonly boundary: Boundary;
  readonly draft: ToolDraft;
  readonly text: UntrustedText;
  readonly text_bytes: ToolTextOffset;
  readonly cut: boolean;
  readonly next_byte?: ToolTextOffset | null;
}

/** The draft that was taken back. */
export interface ToolWithdrawResult {
  readonly id: OutboxId;
  readonly status: ToolDraftStatus;
}

/** Who is to hold the lease of the box, and for how long; its holder renews it so. */
export interface BoxLeaseRequest {
  readonly holder: BoxHolder;
  /** Default: 60. */
  readonly secs?: BoxLeaseSecs;
}

/** The lease is the caller's for so many seconds; the epoch of the box's queue. */
export interface BoxLease {
  readonly epoch: BoxEpoch;
  readonly secs: BoxLeaseSecs;
}

/** Who gives the lease back. */
export interface BoxReleaseRequest {
  readonly holder: BoxHolder;
}

/** Whether the lease was the caller's. */
export interface BoxReleased {
  readonly released: boolean;
}

/** Rows of the queue past a number, the lowest first; with a wait for the first one. */
export interface BoxQueueRequest {
  readonly holder: BoxHolder;
  readonly epoch?: BoxEpoch | null;
  /** Default: 0. */
  readonly after?: U64;
  /** Default: 0. */
  readonly wait_secs?: BoxWaitSecs;
  /** Default: 50. */
  readonly limit?: BoxQueueLimit;
}

/** A file of a submission, as the box measured it, and where its bytes are. */
export interface BoxAttachment {
  readonly field: RequestField;
  readonly filename: UploadName;
  readonly size: FileBytes;
  readonly sha256: RequestFileDigest;
  readonly content_type: FileType;
  readonly blob: BoxBlob;
}

/** A confirmed submission; its values are all but its files. */
export interface BoxRow {
  readonly seq: RequestSeq;
  readonly type_id: RequestTypeId;
  readonly type_version: RequestTypeVersion;
  readonly created_at: RequestTime;
  readonly values: RequestValues;
  /** 0 to 16 entries. */
  readonly attachments: ReadonlyArray<BoxAttachment>;
}

/** Rows of one epoch, and the number to go on after. */
export interface BoxQueue {
  readonly epoch: BoxEpoch;
  /** 0 to 100 entries. */
  readonly rows: ReadonlyArray<BoxRow>;
  readonly last: U64;
}

/** Rows of one epoch that are safe at home; they are deleted with their files. */
export interface BoxAckRequest {
  readonly holder: BoxHolder;
  readonly epoch: BoxEpoch;
  /** 1 to 100 entries. */
  readonly seqs: ReadonlyArray<RequestSeq>;
}

/** How many rows were deleted; one that was gone is not counted. */
export interface BoxAcked {
  readonly deleted: U32;
}

/** A manifest as its author wrote it. */
export interface BoxPushRequest {
  readonly language: ManifestLanguage;
  readonly text: ManifestText;
}

/** One version of a request type in the box. */
export interface BoxType {
  readonly id: RequestTypeId;
  readonly version: RequestTypeVersion;
  readonly sha256: RequestFileDigest;
  readonly current: boolean;
  readonly served: boolean;
}

/** The type that a manifest became, and whether it was there already. */
export interface BoxPushed {
  readonly type: BoxType;
  readonly repeated: boolean;
}

/** Nothing. */
export type BoxListRequest = Record<string, never>;

/** The request types of the box: current versions, and older ones that something still waits under. */
export interface BoxTypes {
  /** 0 to 1000 entries. */
  readonly types: ReadonlyArray<BoxType>;
}

/** What is to happen next to a submission, and where its files are taken. */
export interface SubmissionState {
  readonly step: SubmissionStep;
  readonly upload?: UploadPath | null;
}

/** The name of a drain: 1 to 64 characters from A-Z, a-z, 0-9 and . _ -. */
export type BoxHolder = string;

/** A whole number of seconds from 5 to 600. */
export type BoxLeaseSecs = number;

/** A whole number of seconds from 0 to 25. */
export type BoxWaitSecs = number;

/** A number of rows from 1 to 100. */
export type BoxQueueLimit = number;

/** 32 lower-case hexadecimal digits. */
export type BoxBlob = string;

/** Toml or json. */
export type ManifestLanguage = "toml" | "json";

/** Text of 1 to 262144 bytes of UTF-8; of the control characters only those that end lines, and tab. */
export type ManifestText = string;

/** The name that a stranger gave a file: 1 to 255 bytes of UTF-8 without control characters. */
export type UploadName = string;

/** Confirm_by_mail, awaiting_upload or queued. */
export type SubmissionStep = "confirm_by_mail" | "awaiting_upload" | "queued";

/** The path at which the files of a submission are taken. */
export type UploadPath = string;

/** 43 characters from A-Z, a-z, 0-9 and _ -. */
export type IntakeToken = string;

/** The kinds of refusal. */
export type RefusalKind = Refusal["kind"];

/** The refusals of some kinds. */
export type RefusalOf<Kind extends RefusalKind> = Extract<Refusal, { readonly kind: Kind }>;

/** Each operation: its method and path, what it takes and gives, and how it may refuse. */
export interface Operations {
  /** Post one message; with an idempotency key a repeat gives the first answer. */
  readonly "mail.send": {
    readonly method: "POST";
    readonly path: "/mail/send";
    readonly request: SendRequest;
    readonly response: SendResponse;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "idempotency_conflict" | "internal" | "malformed" | "method_not_allowed" | "not_addressed_to_you" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "session_not_live" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_message" | "unknown_participant" | "unknown_path" | "unknown_room" | "unknown_session" | "unsupported_media_type">;
  };
  /** Post up to 100 messages in one commit; each has its own outcome. */
  readonly "mail.send_many": {
    readonly method: "POST";
    readonly path: "/mail/send_many";
    readonly request: SendManyRequest;
    readonly response: SendManyResponse;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read one page of the caller's inbox, waiting for mail when asked to. */
  readonly "mail.inbox": {
    readonly method: "POST";
    readonly path: "/mail/inbox";
    readonly request: InboxRequest;
    readonly response: InboxPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Wait until mail that is not the caller's own stands after a position. */
  readonly "mail.wait": {
    readonly method: "POST";
    readonly path: "/mail/wait";
    readonly request: WaitRequest;
    readonly response: WaitResult;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Tell the caller of unread mail that it was not told of before, once. */
  readonly "mail.told": {
    readonly method: "POST";
    readonly path: "/mail/told";
    readonly request: ToldRequest;
    readonly response: Told;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Acknowledge one message; a repeat gives the first acknowledgement. */
  readonly "mail.ack": {
    readonly method: "POST";
    readonly path: "/mail/ack";
    readonly request: AckRequest;
    readonly response: AckResponse;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_addressed_to_you" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_message" | "unknown_path" | "unsupported_media_type">;
  };
  /** Acknowledge up to 256 messages in one commit; each has its own outcome. */
  readonly "mail.ack_many": {
    readonly method: "POST";
    readonly path: "/mail/ack_many";
    readonly request: AckManyRequest;
    readonly response: AckManyResponse;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read one message that the caller may read or wrote. */
  readonly "mail.get": {
    readonly method: "POST";
    readonly path: "/mail/get";
    readonly request: MessageGetRequest;
    readonly response: Message;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_addressed_to_you" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_message" | "unknown_path" | "unsupported_media_type">;
  };
  /** Count what a participant has not acknowledged: oneself, or for an operator anyone. */
  readonly "mail.unread": {
    readonly method: "POST";
    readonly path: "/mail/unread";
    readonly request: UnreadCountRequest;
    readonly response: UnreadCount;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unknown_session" | "unsupported_media_type">;
  };
  /** Read the thread of a message, oldest first. */
  readonly "mail.thread": {
    readonly method: "POST";
    readonly path: "/mail/thread";
    readonly request: ThreadRequest;
    readonly response: ThreadPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_addressed_to_you" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_message" | "unknown_path" | "unsupported_media_type">;
  };
  /** Find messages by words and phrases, newest first. */
  readonly "mail.search": {
    readonly method: "POST";
    readonly path: "/mail/search";
    readonly request: SearchRequest;
    readonly response: SearchPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List what the caller sent and who acknowledged it, newest first. */
  readonly "mail.sent": {
    readonly method: "POST";
    readonly path: "/mail/sent";
    readonly request: SentRequest;
    readonly response: SentPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Tell the caller its own address, label and rooms. */
  readonly "mail.whoami": {
    readonly method: "POST";
    readonly path: "/mail/whoami";
    readonly request: WhoAmIRequest;
    readonly response: WhoAmI;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Say what the calling session is doing; what is left out is cleared. */
  readonly "mail.status": {
    readonly method: "POST";
    readonly path: "/mail/status";
    readonly request: StatusRequest;
    readonly response: Status;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unknown_session" | "unsupported_media_type">;
  };
  /** Issue a session credential, where no kernel can vouch for a process. */
  readonly "mail.session": {
    readonly method: "POST";
    readonly path: "/mail/session";
    readonly request: SessionIssueRequest;
    readonly response: IssuedSession;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List every account and room. */
  readonly "mail.directory": {
    readonly method: "POST";
    readonly path: "/mail/directory";
    readonly request: DirectoryRequest;
    readonly response: Directory;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Have the calling session's own listener rung when mail comes for it, or stop that. */
  readonly "mail.listen": {
    readonly method: "POST";
    readonly path: "/mail/listen";
    readonly request: ListenRequest;
    readonly response: Listening;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List what waits in the file mailboxes of this machine. */
  readonly "mailbox.list": {
    readonly method: "POST";
    readonly path: "/mailbox/list";
    readonly request: MailboxListRequest;
    readonly response: MailboxList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read one message of a file mailbox; it stays as it is. */
  readonly "mailbox.show": {
    readonly method: "POST";
    readonly path: "/mailbox/show";
    readonly request: MailboxShowRequest;
    readonly response: MailboxText;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Deliver a note to a node of a run, and say what became of it. */
  readonly "note.deliver": {
    readonly method: "POST";
    readonly path: "/note/deliver";
    readonly request: NoteRequest;
    readonly response: NoteReceipt;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "idempotency_conflict" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Say which notes stand for a node and which it still owes. */
  readonly "note.standing": {
    readonly method: "POST";
    readonly path: "/note/standing";
    readonly request: NoteStandingRequest;
    readonly response: NoteStanding;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Append turns of a run's conversations; returns the presentations that they show. */
  readonly "note.events": {
    readonly method: "POST";
    readonly path: "/note/events";
    readonly request: NoteEventsRequest;
    readonly response: NotePresentations;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read records of a run's journal. */
  readonly "note.journal": {
    readonly method: "POST";
    readonly path: "/note/journal";
    readonly request: NoteJournalRequest;
    readonly response: NoteJournal;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** List runs by name. */
  readonly "note.runs": {
    readonly method: "POST";
    readonly path: "/note/runs";
    readonly request: NoteRunsRequest;
    readonly response: NoteRuns;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Register an account and show its secret once. */
  readonly "admin.participant": {
    readonly method: "POST";
    readonly path: "/admin/participant";
    readonly request: ParticipantRegistration;
    readonly response: IssuedSecret;
    readonly refusal: RefusalOf<"already_exists" | "attestation_failed" | "forbidden_host" | "forbidden_origin" | "id_retired" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Replace an account's secret; the old one is dead at once. */
  readonly "admin.participant.rotate": {
    readonly method: "POST";
    readonly path: "/admin/participant/rotate";
    readonly request: ParticipantRotateRequest;
    readonly response: IssuedSecret;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Kill an account's secret. */
  readonly "admin.participant.revoke": {
    readonly method: "POST";
    readonly path: "/admin/participant/revoke";
    readonly request: ParticipantRevokeRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Remove an account and retire its id. */
  readonly "admin.participant.remove": {
    readonly method: "POST";
    readonly path: "/admin/participant/remove";
    readonly request: ParticipantRemoveRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Delete a removed account with its mail and free its id. */
  readonly "admin.participant.purge": {
    readonly method: "POST";
    readonly path: "/admin/participant/purge";
    readonly request: ParticipantPurgeRequest;
    readonly response: PurgeReport;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Grant and revoke capabilities, and set the attestation policy. */
  readonly "admin.participant.permit": {
    readonly method: "POST";
    readonly path: "/admin/participant/permit";
    readonly request: ParticipantPermitRequest;
    readonly response: ParticipantRecord;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** List accounts with their capabilities. */
  readonly "admin.participant.list": {
    readonly method: "POST";
    readonly path: "/admin/participant/list";
    readonly request: ParticipantListRequest;
    readonly response: ParticipantList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Create a room. */
  readonly "admin.room": {
    readonly method: "POST";
    readonly path: "/admin/room";
    readonly request: RoomCreateRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"already_exists" | "attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Remove a room with its mail. */
  readonly "admin.room.remove": {
    readonly method: "POST";
    readonly path: "/admin/room/remove";
    readonly request: RoomRemoveRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unknown_room" | "unsupported_media_type">;
  };
  /** List rooms. */
  readonly "admin.room.list": {
    readonly method: "POST";
    readonly path: "/admin/room/list";
    readonly request: RoomListRequest;
    readonly response: RoomList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List the members of a room. */
  readonly "admin.room.members": {
    readonly method: "POST";
    readonly path: "/admin/room/members";
    readonly request: RoomMembersRequest;
    readonly response: RoomMembers;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unknown_room" | "unsupported_media_type">;
  };
  /** Put an account into a room. */
  readonly "admin.room.member.add": {
    readonly method: "POST";
    readonly path: "/admin/room/member/add";
    readonly request: RoomMemberRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unknown_room" | "unsupported_media_type">;
  };
  /** Take an account out of a room. */
  readonly "admin.room.member.remove": {
    readonly method: "POST";
    readonly path: "/admin/room/member/remove";
    readonly request: RoomMemberRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unknown_room" | "unsupported_media_type">;
  };
  /** Have a listener on this machine rung when mail comes for an account. */
  readonly "admin.listener": {
    readonly method: "POST";
    readonly path: "/admin/listener";
    readonly request: ListenerSetRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** End an account's listener, or that of a session of it. */
  readonly "admin.listener.remove": {
    readonly method: "POST";
    readonly path: "/admin/listener/remove";
    readonly request: ListenerRemoveRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Show an account's listener and its sessions' own, and what became of their rings. */
  readonly "admin.listener.get": {
    readonly method: "POST";
    readonly path: "/admin/listener/get";
    readonly request: ListenerGetRequest;
    readonly response: ListenerList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** List the listeners that fail or are dead, or all, with what waits for them and since when they fail. */
  readonly "admin.listener.list": {
    readonly method: "POST";
    readonly path: "/admin/listener/list";
    readonly request: ListenerListRequest;
    readonly response: ListenerPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Try a listener again at once, as when it is set again. */
  readonly "admin.listener.retry": {
    readonly method: "POST";
    readonly path: "/admin/listener/retry";
    readonly request: ListenerRetryRequest;
    readonly response: Listening;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read one page of a named participant's inbox. */
  readonly "admin.inbox": {
    readonly method: "POST";
    readonly path: "/admin/inbox";
    readonly request: InboxOfRequest;
    readonly response: InboxPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_participant" | "unknown_path" | "unknown_session" | "unsupported_media_type">;
  };
  /** Delete one message. */
  readonly "admin.message.purge": {
    readonly method: "POST";
    readonly path: "/admin/message/purge";
    readonly request: MessagePurgeRequest;
    readonly response: Done;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_message" | "unknown_path" | "unsupported_media_type">;
  };
  /** Report on retention, or run it now. */
  readonly "admin.retention": {
    readonly method: "POST";
    readonly path: "/admin/retention";
    readonly request: RetentionRequest;
    readonly response: RetentionReport;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List what operators did, newest first. */
  readonly "admin.audit": {
    readonly method: "POST";
    readonly path: "/admin/audit";
    readonly request: AuditRequest;
    readonly response: AuditPage;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Count who wrote to whom of late, those who wrote most first. */
  readonly "admin.flow": {
    readonly method: "POST";
    readonly path: "/admin/flow";
    readonly request: FlowRequest;
    readonly response: Flow;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Look the data folder over as doctor does, the whole database when asked to. */
  readonly "admin.checkup": {
    readonly method: "POST";
    readonly path: "/admin/checkup";
    readonly request: CheckupRequest;
    readonly response: Checkup;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List the settings in force and where each comes from; no secret is shown. */
  readonly "admin.settings": {
    readonly method: "POST";
    readonly path: "/admin/settings";
    readonly request: SettingsRequest;
    readonly response: SettingList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Tell whether the daemon can write and read. */
  readonly "health": {
    readonly method: "GET";
    readonly path: "/health";
    readonly request: undefined;
    readonly response: Health;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unknown_path" | "unsupported_media_type">;
  };
  /** Stage a tool call as a draft that a person reads and releases. */
  readonly "outbox.stage": {
    readonly method: "POST";
    readonly path: "/outbox/stage";
    readonly request: OutboxStageRequest;
    readonly response: OutboxStaged;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "idempotency_conflict" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List drafts: one's own, or with outbox:review everybody's. */
  readonly "outbox.list": {
    readonly method: "POST";
    readonly path: "/outbox/list";
    readonly request: OutboxListRequest;
    readonly response: OutboxList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read a whole draft: its arguments, files, warnings and digest. */
  readonly "outbox.get": {
    readonly method: "POST";
    readonly path: "/outbox/get";
    readonly request: OutboxGetRequest;
    readonly response: OutboxDraft;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Take back a draft of one's own that nobody has decided. */
  readonly "outbox.withdraw": {
    readonly method: "POST";
    readonly path: "/outbox/withdraw";
    readonly request: OutboxWithdrawRequest;
    readonly response: OutboxEntry;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "outcome_unknown" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Stage a draft in the place of one of one's own that nobody has decided. */
  readonly "outbox.supersede": {
    readonly method: "POST";
    readonly path: "/outbox/supersede";
    readonly request: OutboxSupersedeRequest;
    readonly response: OutboxStaged;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "idempotency_conflict" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "outcome_unknown" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Change the arguments of a draft; it is read again before it is released. */
  readonly "outbox.edit": {
    readonly method: "POST";
    readonly path: "/outbox/edit";
    readonly request: OutboxEditRequest;
    readonly response: OutboxDraft;
    readonly refusal: RefusalOf<"attestation_failed" | "draft_changed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "outcome_unknown" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Release the draft that was read; it leaves once. */
  readonly "outbox.release": {
    readonly method: "POST";
    readonly path: "/outbox/release";
    readonly request: OutboxReleaseRequest;
    readonly response: OutboxReleased;
    readonly refusal: RefusalOf<"attestation_failed" | "draft_changed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "outcome_unknown" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Reject drafts for a reason; each has an outcome of its own. */
  readonly "outbox.reject": {
    readonly method: "POST";
    readonly path: "/outbox/reject";
    readonly request: OutboxRejectRequest;
    readonly response: OutboxRejected;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Say whether a draft left whose outcome is unknown. */
  readonly "outbox.settle": {
    readonly method: "POST";
    readonly path: "/outbox/settle";
    readonly request: OutboxSettleRequest;
    readonly response: OutboxEntry;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Count how many released messages left as they were drafted. */
  readonly "outbox.tally": {
    readonly method: "POST";
    readonly path: "/outbox/tally";
    readonly request: OutboxTallyRequest;
    readonly response: OutboxTally;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Take in one drained submission with its files; the same one again gives the same number. */
  readonly "frontdoor.ingest": {
    readonly method: "POST";
    readonly path: "/frontdoor/ingest";
    readonly request: FrontdoorIngestRequest;
    readonly response: FrontdoorReceipt;
    readonly refusal: RefusalOf<"already_exists" | "attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** List requests, and the files that could not be read as one. */
  readonly "frontdoor.list": {
    readonly method: "POST";
    readonly path: "/frontdoor/list";
    readonly request: FrontdoorListRequest;
    readonly response: FrontdoorList;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Read one request whole, prose and all; for a person. */
  readonly "frontdoor.get": {
    readonly method: "POST";
    readonly path: "/frontdoor/get";
    readonly request: FrontdoorGetRequest;
    readonly response: FrontdoorItem;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Give briefs of extracted requests; whoever is given one stages with untrusted taint. */
  readonly "frontdoor.next": {
    readonly method: "POST";
    readonly path: "/frontdoor/next";
    readonly request: FrontdoorNextRequest;
    readonly response: FrontdoorBriefs;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
  /** Have the prose of requests read by the quarantined extractor. */
  readonly "frontdoor.extract": {
    readonly method: "POST";
    readonly path: "/frontdoor/extract";
    readonly request: FrontdoorExtractRequest;
    readonly response: FrontdoorExtracted;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Report the drafts that a run staged for a request. */
  readonly "frontdoor.triaged": {
    readonly method: "POST";
    readonly path: "/frontdoor/triaged";
    readonly request: FrontdoorTriagedRequest;
    readonly response: FrontdoorMoved;
    readonly refusal: RefusalOf<"already_exists" | "attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Park a request until its sender has said more. */
  readonly "frontdoor.needs_info": {
    readonly method: "POST";
    readonly path: "/frontdoor/needs_info";
    readonly request: FrontdoorNeedsInfoRequest;
    readonly response: FrontdoorMoved;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Close a request, with a reason. */
  readonly "frontdoor.close": {
    readonly method: "POST";
    readonly path: "/frontdoor/close";
    readonly request: FrontdoorCloseRequest;
    readonly response: FrontdoorMoved;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Take a request up again that was closed, triaged or parked. */
  readonly "frontdoor.reopen": {
    readonly method: "POST";
    readonly path: "/frontdoor/reopen";
    readonly request: FrontdoorReopenRequest;
    readonly response: FrontdoorMoved;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "not_pending" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_item" | "unknown_path" | "unsupported_media_type">;
  };
  /** Move every request whose drafts were decided. */
  readonly "frontdoor.reconcile": {
    readonly method: "POST";
    readonly path: "/frontdoor/reconcile";
    readonly request: FrontdoorReconcileRequest;
    readonly response: FrontdoorReconciled;
    readonly refusal: RefusalOf<"attestation_failed" | "forbidden_host" | "forbidden_origin" | "internal" | "malformed" | "method_not_allowed" | "overloaded" | "permission_denied" | "rate_limited" | "request_too_large" | "session_account_mismatch" | "store_unavailable" | "too_large" | "unauthenticated" | "unknown_path" | "unsupported_media_type">;
  };
}

/** Every type of the contract, by its name. */
export interface Contract {
  readonly RefusedField: RefusedField;
  readonly Reason: Reason;
  readonly ItemId: ItemId;
  readonly RequestId: RequestId;
  readonly UnknownParticipant: UnknownParticipant;
  readonly UnknownRoom: UnknownRoom;
  readonly UnknownSession: UnknownSession;
  readonly SessionAccountMismatch: SessionAccountMismatch;
  readonly UnknownMessage: UnknownMessage;
  readonly NotAddressedToYou: NotAddressedToYou;
  readonly PermissionDenied: PermissionDenied;
  readonly Malformed: Malformed;
  readonly TooLarge: TooLarge;
  readonly StoreUnavailable: StoreUnavailable;
  readonly Unauthenticated: Unauthenticated;
  readonly AttestationFailed: AttestationFailed;
  readonly ForbiddenOrigin: ForbiddenOrigin;
  readonly UnknownPath: UnknownPath;
  readonly UnknownItem: UnknownItem;
  readonly MethodNotAllowed: MethodNotAllowed;
  readonly SessionNotLive: SessionNotLive;
  readonly IdempotencyConflict: IdempotencyConflict;
  readonly AlreadyExists: AlreadyExists;
  readonly IdRetired: IdRetired;
  readonly DraftChanged: DraftChanged;
  readonly NotPending: NotPending;
  readonly OutcomeUnknown: OutcomeUnknown;
  readonly MailboxFull: MailboxFull;
  readonly LeaseHeld: LeaseHeld;
  readonly LeaseLost: LeaseLost;
  readonly EpochChanged: EpochChanged;
  readonly RequestTooLarge: RequestTooLarge;
  readonly UnsupportedMediaType: UnsupportedMediaType;
  readonly ForbiddenHost: ForbiddenHost;
  readonly RateLimited: RateLimited;
  readonly Overloaded: Overloaded;
  readonly Internal: Internal;
  readonly MailError: MailError;
  readonly Refusal: Refusal;
  readonly UnixMs: UnixMs;
  readonly Stamp: Stamp;
  readonly U64: U64;
  readonly U32: U32;
  readonly Seconds: Seconds;
  readonly Line: Line;
  readonly Label: Label;
  readonly Word: Word;
  readonly Selector: Selector;
  readonly Capability: Capability;
  readonly Taint: Taint;
  readonly Ack: Ack;
  readonly AckRequest: AckRequest;
  readonly AckResponse: AckResponse;
  readonly AckManyRequest: AckManyRequest;
  readonly AckRecorded: AckRecorded;
  readonly AckRefused: AckRefused;
  readonly AckOutcome: AckOutcome;
  readonly AckManyResponse: AckManyResponse;
  readonly DirectAddress: DirectAddress;
  readonly SessionAddress: SessionAddress;
  readonly RoomAddress: RoomAddress;
  readonly Address: Address;
  readonly ParticipantAddress: ParticipantAddress;
  readonly AuditNumber: AuditNumber;
  readonly AuditTarget: AuditTarget;
  readonly AuditEntry: AuditEntry;
  readonly AuditRequest: AuditRequest;
  readonly AuditPage: AuditPage;
  readonly FindingState: FindingState;
  readonly Finding: Finding;
  readonly CheckupRequest: CheckupRequest;
  readonly Checkup: Checkup;
  readonly Setting: Setting;
  readonly SettingsRequest: SettingsRequest;
  readonly SettingList: SettingList;
  readonly Participant: Participant;
  readonly DirectoryEntry: DirectoryEntry;
  readonly RoomEntry: RoomEntry;
  readonly DirectoryRequest: DirectoryRequest;
  readonly Directory: Directory;
  readonly WhoAmIRequest: WhoAmIRequest;
  readonly WhoAmI: WhoAmI;
  readonly FlowSecs: FlowSecs;
  readonly FlowRequest: FlowRequest;
  readonly FlowPair: FlowPair;
  readonly Flow: Flow;
  readonly MessageId: MessageId;
  readonly SessionId: SessionId;
  readonly ParticipantId: ParticipantId;
  readonly RoomId: RoomId;
  readonly PageLimit: PageLimit;
  readonly PageBytes: PageBytes;
  readonly PollSecs: PollSecs;
  readonly WaitSecs: WaitSecs;
  readonly PageOrder: PageOrder;
  readonly InboxRequest: InboxRequest;
  readonly InboxPage: InboxPage;
  readonly MessageGetRequest: MessageGetRequest;
  readonly UnreadCountRequest: UnreadCountRequest;
  readonly UnreadCount: UnreadCount;
  readonly WaitRequest: WaitRequest;
  readonly WaitResult: WaitResult;
  readonly ListenerUrl: ListenerUrl;
  readonly ListenerKey: ListenerKey;
  readonly RingFailure: RingFailure;
  readonly ListenerRecord: ListenerRecord;
  readonly ListenerSetRequest: ListenerSetRequest;
  readonly ListenerRemoveRequest: ListenerRemoveRequest;
  readonly ListenerGetRequest: ListenerGetRequest;
  readonly ListenerList: ListenerList;
  readonly ListenerState: ListenerState;
  readonly ListenerListRequest: ListenerListRequest;
  readonly ListenerStanding: ListenerStanding;
  readonly ListenerPage: ListenerPage;
  readonly ListenerRetryRequest: ListenerRetryRequest;
  readonly ListenRequest: ListenRequest;
  readonly Listening: Listening;
  readonly RefKind: RefKind;
  readonly RefLocator: RefLocator;
  readonly RefDigest: RefDigest;
  readonly MessageRef: MessageRef;
  readonly Body: Body;
  readonly Correlation: Correlation;
  readonly Message: Message;
  readonly Position: Position;
  readonly DeliveryNotification: DeliveryNotification;
  readonly Secret: Secret;
  readonly AttestationPolicy: AttestationPolicy;
  readonly ParticipantRegistration: ParticipantRegistration;
  readonly IssuedSecret: IssuedSecret;
  readonly ParticipantRotateRequest: ParticipantRotateRequest;
  readonly ParticipantRevokeRequest: ParticipantRevokeRequest;
  readonly ParticipantRemoveRequest: ParticipantRemoveRequest;
  readonly ParticipantPurgeRequest: ParticipantPurgeRequest;
  readonly PurgeReport: PurgeReport;
  readonly ParticipantPermitRequest: ParticipantPermitRequest;
  readonly ParticipantRecord: ParticipantRecord;
  readonly ParticipantListRequest: ParticipantListRequest;
  readonly ParticipantList: ParticipantList;
  readonly RoomPosting: RoomPosting;
  readonly RoomCreateRequest: RoomCreateRequest;
  readonly RoomMemberRequest: RoomMemberRequest;
  readonly RoomRemoveRequest: RoomRemoveRequest;
  readonly RoomListRequest: RoomListRequest;
  readonly RoomRecord: RoomRecord;
  readonly RoomList: RoomList;
  readonly RoomMembersRequest: RoomMembersRequest;
  readonly RoomMembers: RoomMembers;
  readonly SendRequest: SendRequest;
  readonly SendResponse: SendResponse;
  readonly SendManyRequest: SendManyRequest;
  readonly SendAccepted: SendAccepted;
  readonly SendRefused: SendRefused;
  readonly SendOutcome: SendOutcome;
  readonly SendManyResponse: SendManyResponse;
  readonly DeclaredText: DeclaredText;
  readonly SessionAttested: SessionAttested;
  readonly SessionCorroborated: SessionCorroborated;
  readonly SessionDeclared: SessionDeclared;
  readonly SessionCard: SessionCard;
  readonly SessionEntry: SessionEntry;
  readonly StatusRequest: StatusRequest;
  readonly Status: Status;
  readonly SessionIssueRequest: SessionIssueRequest;
  readonly IssuedSession: IssuedSession;
  readonly ThreadRequest: ThreadRequest;
  readonly ThreadPage: ThreadPage;
  readonly SearchQuery: SearchQuery;
  readonly SearchRequest: SearchRequest;
  readonly SearchPage: SearchPage;
  readonly SentRequest: SentRequest;
  readonly SentMessage: SentMessage;
  readonly SentPage: SentPage;
  readonly ToldLimit: ToldLimit;
  readonly ToldRequest: ToldRequest;
  readonly Notice: Notice;
  readonly Told: Told;
  readonly AddressText: AddressText;
  readonly Recipient: Recipient;
  readonly ToolPollSecs: ToolPollSecs;
  readonly ToolPageLimit: ToolPageLimit;
  readonly ToolTokens: ToolTokens;
  readonly ToolOffset: ToolOffset;
  readonly Boundary: Boundary;
  readonly UntrustedText: UntrustedText;
  readonly ToolMessage: ToolMessage;
  readonly ToolSendRequest: ToolSendRequest;
  readonly ToolSendResult: ToolSendResult;
  readonly ToolInboxRequest: ToolInboxRequest;
  readonly ToolInboxResult: ToolInboxResult;
  readonly ToolGetRequest: ToolGetRequest;
  readonly ToolGetResult: ToolGetResult;
  readonly ToolAckResult: ToolAckResult;
  readonly ToolWhoAmIResult: ToolWhoAmIResult;
  readonly ToolStatusResult: ToolStatusResult;
  readonly PeerState: PeerState;
  readonly ToolPeer: ToolPeer;
  readonly ToolPeersRequest: ToolPeersRequest;
  readonly ToolPeersResult: ToolPeersResult;
  readonly ToolWaitRequest: ToolWaitRequest;
  readonly ToolWaitResult: ToolWaitResult;
  readonly Done: Done;
  readonly InboxOfRequest: InboxOfRequest;
  readonly MessagePurgeRequest: MessagePurgeRequest;
  readonly RetentionRequest: RetentionRequest;
  readonly RetentionReport: RetentionReport;
  readonly Health: Health;
  readonly BootId: BootId;
  readonly AgentMarker: AgentMarker;
  readonly ProducerName: ProducerName;
  readonly MailboxSession: MailboxSession;
  readonly MailboxMessageId: MailboxMessageId;
  readonly MailboxTime: MailboxTime;
  readonly MailboxStatus: MailboxStatus;
  readonly MailboxLease: MailboxLease;
  readonly MailboxAttempt: MailboxAttempt;
  readonly MailboxSchema: MailboxSchema;
  readonly MailboxSeal: MailboxSeal;
  readonly MailboxMessage: MailboxMessage;
  readonly MailboxListRequest: MailboxListRequest;
  readonly MailboxShowRequest: MailboxShowRequest;
  readonly MailboxEntry: MailboxEntry;
  readonly MailboxList: MailboxList;
  readonly MailboxText: MailboxText;
  readonly BriefExtraction: BriefExtraction;
  readonly BriefAttachment: BriefAttachment;
  readonly BriefFields: BriefFields;
  readonly FrontdoorBrief: FrontdoorBrief;
  readonly RequestValues: RequestValues;
  readonly RequestAttachment: RequestAttachment;
  readonly RequestExtraction: RequestExtraction;
  readonly ReadingText: ReadingText;
  readonly FrontdoorRecord: FrontdoorRecord;
  readonly FreeTextNames: FreeTextNames;
  readonly FormTypeId: FormTypeId;
  readonly FormName: FormName;
  readonly FormVersion: FormVersion;
  readonly FormLabel: FormLabel;
  readonly FormProse: FormProse;
  readonly FormPattern: FormPattern;
  readonly OptionValue: OptionValue;
  readonly TextLength: TextLength;
  readonly EmailLength: EmailLength;
  readonly UrlLength: UrlLength;
  readonly FormInteger: FormInteger;
  readonly FormDate: FormDate;
  readonly ChoiceCount: ChoiceCount;
  readonly FormFileBytes: FormFileBytes;
  readonly FileKind: FileKind;
  readonly FieldOption: FieldOption;
  readonly ConditionOp: ConditionOp;
  readonly ShowWhen: ShowWhen;
  readonly TextField: TextField;
  readonly LongTextField: LongTextField;
  readonly EmailField: EmailField;
  readonly UrlField: UrlField;
  readonly DateField: DateField;
  readonly IntegerField: IntegerField;
  readonly SelectField: SelectField;
  readonly MultiSelectField: MultiSelectField;
  readonly BoolField: BoolField;
  readonly FileField: FileField;
  readonly FormField: FormField;
  readonly Acknowledgment: Acknowledgment;
  readonly FormStep: FormStep;
  readonly VerificationHours: VerificationHours;
  readonly FormVerification: FormVerification;
  readonly FormConfirmation: FormConfirmation;
  readonly RetainDays: RetainDays;
  readonly ManifestKind: ManifestKind;
  readonly RequestTypeManifest: RequestTypeManifest;
  readonly FileChunk: FileChunk;
  readonly IngestedFile: IngestedFile;
  readonly FrontdoorIngestRequest: FrontdoorIngestRequest;
  readonly FrontdoorReceipt: FrontdoorReceipt;
  readonly RequestLimit: RequestLimit;
  readonly BriefLimit: BriefLimit;
  readonly FrontdoorListRequest: FrontdoorListRequest;
  readonly RequestSummary: RequestSummary;
  readonly UnreadableFile: UnreadableFile;
  readonly FrontdoorList: FrontdoorList;
  readonly FrontdoorGetRequest: FrontdoorGetRequest;
  readonly RequestFile: RequestFile;
  readonly FrontdoorItem: FrontdoorItem;
  readonly ProseTexts: ProseTexts;
  readonly FrontdoorNextRequest: FrontdoorNextRequest;
  readonly FrontdoorBriefs: FrontdoorBriefs;
  readonly FrontdoorExtractRequest: FrontdoorExtractRequest;
  readonly FrontdoorExtracted: FrontdoorExtracted;
  readonly FrontdoorMoved: FrontdoorMoved;
  readonly FrontdoorTriagedRequest: FrontdoorTriagedRequest;
  readonly FrontdoorNeedsInfoRequest: FrontdoorNeedsInfoRequest;
  readonly FrontdoorCloseRequest: FrontdoorCloseRequest;
  readonly FrontdoorReopenRequest: FrontdoorReopenRequest;
  readonly FrontdoorReconcileRequest: FrontdoorReconcileRequest;
  readonly FrontdoorReconciled: FrontdoorReconciled;
  readonly ToolTextOffset: ToolTextOffset;
  readonly ToolBriefsRequest: ToolBriefsRequest;
  readonly ToolBrief: ToolBrief;
  readonly ToolBriefsResult: ToolBriefsResult;
  readonly RequestSeq: RequestSeq;
  readonly RequestTypeId: RequestTypeId;
  readonly RequestTypeVersion: RequestTypeVersion;
  readonly RequestState: RequestState;
  readonly RequestTime: RequestTime;
  readonly RequestField: RequestField;
  readonly BoxEpoch: BoxEpoch;
  readonly ReplyAddress: ReplyAddress;
  readonly RequestFileDigest: RequestFileDigest;
  readonly FileType: FileType;
  readonly FileBytes: FileBytes;
  readonly RequestDraftId: RequestDraftId;
  readonly RequestNote: RequestNote;
  readonly RequestReason: RequestReason;
  readonly Urgency: Urgency;
  readonly ExtractedLine: ExtractedLine;
  readonly ExtractedDate: ExtractedDate;
  readonly NoteCommand: NoteCommand;
  readonly ReplyCommand: ReplyCommand;
  readonly Author: Author;
  readonly ReplyEnvelope: ReplyEnvelope;
  readonly JournalArtifact: JournalArtifact;
  readonly JournalObject: JournalObject;
  readonly JournalEnvelope: JournalEnvelope;
  readonly NoteIds: NoteIds;
  readonly TurnStarted: TurnStarted;
  readonly NoteObject: NoteObject;
  readonly NoteOffer: NoteOffer;
  readonly RecordedNote: RecordedNote;
  readonly NoteOperationKind: NoteOperationKind;
  readonly NoteDelivered: NoteDelivered;
  readonly NoteShown: NoteShown;
  readonly CarriedNote: CarriedNote;
  readonly CarrySchema: CarrySchema;
  readonly CarryRecord: CarryRecord;
  readonly ReachedQueued: ReachedQueued;
  readonly ReachedWorker: ReachedWorker;
  readonly ReachedSupervisor: ReachedSupervisor;
  readonly ReachedCarried: ReachedCarried;
  readonly ReachedJudgedWith: ReachedJudgedWith;
  readonly Reached: Reached;
  readonly DeliveredTo: DeliveredTo;
  readonly DeliveredQueued: DeliveredQueued;
  readonly Delivered: Delivered;
  readonly OfferQueued: OfferQueued;
  readonly OfferInterrupted: OfferInterrupted;
  readonly OfferJudgedWith: OfferJudgedWith;
  readonly OfferConversationCompleted: OfferConversationCompleted;
  readonly OfferMemberSettled: OfferMemberSettled;
  readonly OfferNoConversation: OfferNoConversation;
  readonly OfferAnswer: OfferAnswer;
  readonly NoteRequest: NoteRequest;
  readonly NoteReceipt: NoteReceipt;
  readonly NoteStandingRequest: NoteStandingRequest;
  readonly StandingNote: StandingNote;
  readonly NoteStanding: NoteStanding;
  readonly NoteEventsRequest: NoteEventsRequest;
  readonly NodePresentation: NodePresentation;
  readonly NotePresentations: NotePresentations;
  readonly NoteJournalRequest: NoteJournalRequest;
  readonly NoteJournal: NoteJournal;
  readonly NoteRunsRequest: NoteRunsRequest;
  readonly NoteRun: NoteRun;
  readonly NoteRuns: NoteRuns;
  readonly NoteId: NoteId;
  readonly RunName: RunName;
  readonly NodeId: NodeId;
  readonly NoteText: NoteText;
  readonly Criterion: Criterion;
  readonly CompletionReason: CompletionReason;
  readonly RunText: RunText;
  readonly Instruction: Instruction;
  readonly RunWord: RunWord;
  readonly RunTime: RunTime;
  readonly Addressee: Addressee;
  readonly Party: Party;
  readonly DeliverWhen: DeliverWhen;
  readonly ReachedWord: ReachedWord;
  readonly NoteEvidence: NoteEvidence;
  readonly NotePlacement: NotePlacement;
  readonly TurnRole: TurnRole;
  readonly TurnOrigin: TurnOrigin;
  readonly JournalSource: JournalSource;
  readonly JournalPhase: JournalPhase;
  readonly JournalVersion: JournalVersion;
  readonly JournalLimit: JournalLimit;
  readonly OutboxEditRequest: OutboxEditRequest;
  readonly OutboxReleaseRequest: OutboxReleaseRequest;
  readonly OutboxReleased: OutboxReleased;
  readonly DraftNamed: DraftNamed;
  readonly OutboxRejectRequest: OutboxRejectRequest;
  readonly DraftRejected: DraftRejected;
  readonly DraftKept: DraftKept;
  readonly RejectOutcome: RejectOutcome;
  readonly OutboxRejected: OutboxRejected;
  readonly OutboxSettleRequest: OutboxSettleRequest;
  readonly OutboxTallyRequest: OutboxTallyRequest;
  readonly Permille: Permille;
  readonly OutboxTally: OutboxTally;
  readonly DraftPiece: DraftPiece;
  readonly DraftRow: DraftRow;
  readonly HiddenCount: HiddenCount;
  readonly DraftShown: DraftShown;
  readonly DraftWarning: DraftWarning;
  readonly OutboxDraft: OutboxDraft;
  readonly OutboxId: OutboxId;
  readonly ToolName: ToolName;
  readonly DraftDigest: DraftDigest;
  readonly FileDigest: FileDigest;
  readonly DraftPath: DraftPath;
  readonly Decider: Decider;
  readonly DecisionReason: DecisionReason;
  readonly OutboxStatus: OutboxStatus;
  readonly OutboxKind: OutboxKind;
  readonly OutboxSchema: OutboxSchema;
  readonly OutboxAttempt: OutboxAttempt;
  readonly DraftArguments: DraftArguments;
  readonly DraftFile: DraftFile;
  readonly ReleaseIntent: ReleaseIntent;
  readonly OutboxItem: OutboxItem;
  readonly OutboxStageRequest: OutboxStageRequest;
  readonly StampedTaint: StampedTaint;
  readonly OutboxStaged: OutboxStaged;
  readonly OutboxListRequest: OutboxListRequest;
  readonly OutboxEntry: OutboxEntry;
  readonly OutboxList: OutboxList;
  readonly OutboxGetRequest: OutboxGetRequest;
  readonly OutboxWithdrawRequest: OutboxWithdrawRequest;
  readonly OutboxSupersedeRequest: OutboxSupersedeRequest;
  readonly ToolStageRequest: ToolStageRequest;
  readonly ToolSupersedeRequest: ToolSupersedeRequest;
  readonly ToolStageResult: ToolStageResult;
  readonly ToolDraftsRequest: ToolDraftsRequest;
  readonly ToolDraftStatus: ToolDraftStatus;
  readonly ToolDraft: ToolDraft;
  readonly ToolDraftsResult: ToolDraftsResult;
  readonly ToolDraftRequest: ToolDraftRequest;
  readonly ToolDraftResult: ToolDraftResult;
  readonly ToolWithdrawResult: ToolWithdrawResult;
  readonly BoxLeaseRequest: BoxLeaseRequest;
  readonly BoxLease: BoxLease;
  readonly BoxReleaseRequest: BoxReleaseRequest;
  readonly BoxReleased: BoxReleased;
  readonly BoxQueueRequest: BoxQueueRequest;
  readonly BoxAttachment: BoxAttachment;
  readonly BoxRow: BoxRow;
  readonly BoxQueue: BoxQueue;
  readonly BoxAckRequest: BoxAckRequest;
  readonly BoxAcked: BoxAcked;
  readonly BoxPushRequest: BoxPushRequest;
  readonly BoxType: BoxType;
  readonly BoxPushed: BoxPushed;
  readonly BoxListRequest: BoxListRequest;
  readonly BoxTypes: BoxTypes;
  readonly SubmissionState: SubmissionState;
  readonly BoxHolder: BoxHolder;
  readonly BoxLeaseSecs: BoxLeaseSecs;
  readonly BoxWaitSecs: BoxWaitSecs;
  readonly BoxQueueLimit: BoxQueueLimit;
  readonly BoxBlob: BoxBlob;
  readonly ManifestLanguage: ManifestLanguage;
  readonly ManifestText: ManifestText;
  readonly UploadName: UploadName;
  readonly SubmissionStep: SubmissionStep;
  readonly UploadPath: UploadPath;
  readonly IntakeToken: IntakeToken;
}
