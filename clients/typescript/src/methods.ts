// Generated from schemas/bundle/ and schemas/operations.json by tools/generate.py; do not edit.

import { address, participant, position } from "./addresses.js";
import type {
  AckManyResponse,
  AckResponse,
  Address,
  Addressee,
  AttestationPolicy,
  AuditPage,
  Capability,
  Checkup,
  DeliverWhen,
  Directory,
  Done,
  DraftArguments,
  DraftNamed,
  Flow,
  FrontdoorBriefs,
  FrontdoorExtracted,
  FrontdoorItem,
  FrontdoorList,
  FrontdoorMoved,
  FrontdoorReceipt,
  FrontdoorReconciled,
  FrontdoorRecord,
  Health,
  InboxPage,
  IngestedFile,
  IssuedSecret,
  IssuedSession,
  ListenerList,
  ListenerPage,
  ListenerState,
  Listening,
  MailboxList,
  MailboxStatus,
  MailboxText,
  Message,
  MessageRef,
  NoteJournal,
  NotePresentations,
  NoteReceipt,
  NoteRuns,
  NoteStanding,
  Operations,
  OutboxDraft,
  OutboxEntry,
  OutboxKind,
  OutboxList,
  OutboxRejected,
  OutboxReleased,
  OutboxStaged,
  OutboxStatus,
  OutboxTally,
  PageOrder,
  ParticipantAddress,
  ParticipantList,
  ParticipantRecord,
  Position,
  PurgeReport,
  RequestState,
  RetentionReport,
  RoomList,
  RoomMembers,
  RoomPosting,
  SearchPage,
  SendManyResponse,
  SendRequest,
  SendResponse,
  SentPage,
  SettingList,
  StampedTaint,
  Status,
  ThreadPage,
  Told,
  TurnStarted,
  UnreadCount,
  WaitResult,
  WhoAmI,
} from "./types.js";

/** What `mail.send` takes: post one message as the caller. */
export interface SendFields {
  readonly to: Address | string;
  readonly subject: string;
  readonly body: string;
  readonly reply_to?: string | null | undefined;
  readonly correlation?: string | null | undefined;
  readonly refs?: ReadonlyArray<MessageRef> | undefined;
  readonly idempotency_key?: string | null | undefined;
  readonly allow_dead?: boolean | undefined;
}

/** What `mail.send_many` takes: post 1 to 100 messages as the caller; each has its own outcome. */
export interface SendManyFields {
  readonly messages: ReadonlyArray<SendRequest>;
}

/** What `mail.inbox` takes: one page of the caller's inbox. */
export interface InboxFields {
  readonly since_unix_ms?: number | null | undefined;
  readonly limit?: number | undefined;
  readonly wait_secs?: number | null | undefined;
  readonly after?: Position | Message | null | undefined;
  readonly before?: Position | Message | null | undefined;
  readonly order?: PageOrder | undefined;
  readonly unread_only?: boolean | undefined;
  readonly thread?: string | null | undefined;
  readonly sent_by?: string | null | undefined;
  readonly room?: string | null | undefined;
  readonly correlation?: string | null | undefined;
  readonly max_bytes?: number | undefined;
}

/** What `mail.wait` takes: wait until a readable message that is not the caller's own stands after a position. */
export interface WaitFields {
  readonly after?: Position | Message | null | undefined;
  readonly wait_secs?: number | undefined;
}

/** What `mail.told` takes: the oldest unread messages that the caller was not told of before; they count as told by this. */
export interface ToldFields {
  readonly limit?: number | undefined;
}

/** What `mail.ack` takes: acknowledge one message as the caller. */
export interface AckFields {
  readonly message_id: string;
}

/** What `mail.ack_many` takes: acknowledge 1 to 256 messages as the caller; each has its own outcome. */
export interface AckManyFields {
  readonly message_ids: ReadonlyArray<string>;
}

/** What `mail.get` takes: one message by its id. */
export interface GetFields {
  readonly message_id: string;
}

/** What `mail.unread` takes: how many messages a participant has not acknowledged. */
export interface UnreadFields {
  readonly target: ParticipantAddress | string;
}

/** What `mail.thread` takes: the messages of one thread that the caller may read or wrote, oldest first. */
export interface ThreadFields {
  readonly message_id: string;
  readonly limit?: number | undefined;
  readonly after?: Position | Message | null | undefined;
}

/** What `mail.search` takes: messages the caller may read that hold every word and phrase, newest first. */
export interface SearchFields {
  readonly query: string;
  readonly limit?: number | undefined;
  readonly before?: Position | Message | null | undefined;
  readonly room?: string | null | undefined;
  readonly sent_by?: string | null | undefined;
}

/** What `mail.sent` takes: what the caller's exact address sent, newest first. */
export interface SentFields {
  readonly limit?: number | undefined;
  readonly before?: Position | Message | null | undefined;
}

/** What `mail.whoami` takes: ask who the caller is. */
export type WhoamiFields = Record<string, never>;

/** What `mail.status` takes: what the calling session says about itself from now on; what is left out is cleared. */
export interface StatusFields {
  readonly working_on?: string | null | undefined;
  readonly role?: string | null | undefined;
  readonly parent?: string | null | undefined;
}

/** What `mail.session` takes: ask for a credential that means the account and a session of its own. */
export type SessionFields = Record<string, never>;

/** What `mail.directory` takes: ask for the directory. */
export type DirectoryFields = Record<string, never>;

/** What `mail.listen` takes: have a listener of the caller's own told of its mail; null stops it. */
export interface ListenFields {
  readonly url: string | null;
  readonly key?: string | null | undefined;
}

/** What `mailbox.list` takes: whose messages, which, and how many. */
export interface MailboxListFields {
  readonly to?: string | null | undefined;
  readonly all?: boolean | undefined;
  readonly status?: MailboxStatus | null | undefined;
  readonly limit?: number | undefined;
}

/** What `mailbox.show` takes: one message by its whole id. */
export interface MailboxShowFields {
  readonly id: string;
}

/** What `note.deliver` takes: a note for a node of a run, and when it may reach it. */
export interface NoteDeliverFields {
  readonly run: string;
  readonly node: string;
  readonly addressee: Addressee;
  readonly text: string;
  readonly criterion?: string | null | undefined;
  readonly deliver?: DeliverWhen | undefined;
  readonly persist?: boolean | undefined;
  readonly idempotency_key?: string | null | undefined;
}

/** What `note.standing` takes: the node of a run whose notes are asked for. */
export interface NoteStandingFields {
  readonly run: string;
  readonly node: string;
}

/** What `note.events` takes: turns to append to the journal of a run, in order. */
export interface NoteEventsFields {
  readonly run: string;
  readonly events: ReadonlyArray<TurnStarted>;
}

/** What `note.journal` takes: a stretch of the journal of a run. */
export interface NoteJournalFields {
  readonly run: string;
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** What `note.runs` takes: runs by name. */
export interface NoteRunsFields {
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.participant` takes: register an account. */
export interface AdminParticipantFields {
  readonly id: string;
  readonly label?: string | null | undefined;
  readonly may_send?: boolean | undefined;
  readonly may_read?: boolean | undefined;
  readonly operator?: boolean | undefined;
  readonly attestation?: AttestationPolicy | undefined;
}

/** What `admin.participant.rotate` takes: replace an account's secret; the old one is dead at once. */
export interface AdminParticipantRotateFields {
  readonly id: string;
}

/** What `admin.participant.revoke` takes: kill an account's secret without a new one. */
export interface AdminParticipantRevokeFields {
  readonly id: string;
}

/** What `admin.participant.remove` takes: remove an account; its id is retired. */
export interface AdminParticipantRemoveFields {
  readonly id: string;
}

/** What `admin.participant.purge` takes: delete a removed account with its mail and free its id. */
export interface AdminParticipantPurgeFields {
  readonly id: string;
}

/** What `admin.participant.permit` takes: grant and revoke capabilities, and set the attestation policy; both must be true to hold outbox:stage and outbox:review together. */
export interface AdminParticipantPermitFields {
  readonly id: string;
  readonly grant?: ReadonlyArray<Capability> | undefined;
  readonly revoke?: ReadonlyArray<Capability> | undefined;
  readonly both?: boolean | undefined;
  readonly attestation?: AttestationPolicy | null | undefined;
}

/** What `admin.participant.list` takes: accounts by id, the removed ones included. */
export interface AdminParticipantListFields {
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.room` takes: create a room. */
export interface AdminRoomFields {
  readonly id: string;
  readonly posting?: RoomPosting | undefined;
}

/** What `admin.room.remove` takes: remove a room and its mail. */
export interface AdminRoomRemoveFields {
  readonly room: string;
}

/** What `admin.room.list` takes: rooms by id. */
export interface AdminRoomListFields {
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.room.members` takes: the members of a room by id. */
export interface AdminRoomMembersFields {
  readonly room: string;
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.room.member.add` takes: a room and an account. */
export interface AdminRoomMemberAddFields {
  readonly room: string;
  readonly participant: string;
}

/** What `admin.room.member.remove` takes: a room and an account. */
export interface AdminRoomMemberRemoveFields {
  readonly room: string;
  readonly participant: string;
}

/** What `admin.listener` takes: have a listener told of an account's mail; one that is there is replaced. */
export interface AdminListenerFields {
  readonly account: string;
  readonly url: string;
  readonly key?: string | null | undefined;
}

/** What `admin.listener.remove` takes: end an account's listener, or with session that of a session of it. */
export interface AdminListenerRemoveFields {
  readonly account: string;
  readonly session?: string | null | undefined;
}

/** What `admin.listener.get` takes: list the listeners of an account and of its sessions. */
export interface AdminListenerGetFields {
  readonly account: string;
}

/** What `admin.listener.list` takes: list the listeners of every account by their owners. */
export interface AdminListenerListFields {
  readonly state?: ListenerState | undefined;
  readonly after?: ParticipantAddress | string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.listener.retry` takes: try an account's listener again, or with session that of a session of it. */
export interface AdminListenerRetryFields {
  readonly account: string;
  readonly session?: string | null | undefined;
}

/** What `admin.inbox` takes: one page of a named participant's inbox, as an operator. */
export interface AdminInboxFields {
  readonly address: ParticipantAddress | string;
  readonly limit?: number | undefined;
  readonly after?: Position | Message | null | undefined;
  readonly unread_only?: boolean | undefined;
}

/** What `admin.message.purge` takes: delete one message. */
export interface AdminMessagePurgeFields {
  readonly message_id: string;
}

/** What `admin.retention` takes: report on retention; with run, first run it now. */
export interface AdminRetentionFields {
  readonly run?: boolean | undefined;
}

/** What `admin.audit` takes: audit entries, the newest first. */
export interface AdminAuditFields {
  readonly before?: number | null | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.flow` takes: who wrote to whom of late, those who wrote most first. */
export interface AdminFlowFields {
  readonly secs?: number | undefined;
  readonly limit?: number | undefined;
}

/** What `admin.checkup` takes: look everything over; with database, read the whole database too. */
export interface AdminCheckupFields {
  readonly database?: boolean | undefined;
}

/** What `admin.settings` takes: the settings in force. */
export type AdminSettingsFields = Record<string, never>;

/** What `outbox.stage` takes: stage a tool call that a person releases; only a holder of outbox:stamp gives its taint. */
export interface OutboxStageFields {
  readonly tool: string;
  readonly args: DraftArguments;
  readonly workspace?: string | null | undefined;
  readonly taint?: StampedTaint | null | undefined;
  readonly idempotency_key?: string | null | undefined;
}

/** What `outbox.list` takes: which drafts, and how many; without status those that wait or are in doubt. */
export interface OutboxListFields {
  readonly status?: OutboxStatus | null | undefined;
  readonly all?: boolean | undefined;
  readonly kind?: OutboxKind | null | undefined;
  readonly tool?: string | null | undefined;
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** What `outbox.get` takes: one draft by its whole id. */
export interface OutboxGetFields {
  readonly id: string;
}

/** What `outbox.withdraw` takes: take back a draft that nobody has decided. */
export interface OutboxWithdrawFields {
  readonly id: string;
  readonly reason?: string | null | undefined;
}

/** What `outbox.supersede` takes: stage a draft in the place of one that nobody has decided. */
export interface OutboxSupersedeFields {
  readonly id: string;
  readonly args: DraftArguments;
  readonly workspace?: string | null | undefined;
  readonly taint?: StampedTaint | null | undefined;
  readonly idempotency_key?: string | null | undefined;
}

/** What `outbox.edit` takes: give a message other arguments; refused when it changed since it was read. */
export interface OutboxEditFields {
  readonly id: string;
  readonly digest: string;
  readonly args: DraftArguments;
}

/** What `outbox.release` takes: release the draft that was read. */
export interface OutboxReleaseFields {
  readonly id: string;
  readonly digest: string;
}

/** What `outbox.reject` takes: reject 1 to 100 drafts for one reason; each has an outcome of its own. */
export interface OutboxRejectFields {
  readonly drafts: ReadonlyArray<DraftNamed>;
  readonly reason: string;
}

/** What `outbox.settle` takes: say whether a draft left whose outcome is unknown. */
export interface OutboxSettleFields {
  readonly id: string;
  readonly sent: boolean;
}

/** What `outbox.tally` takes: nothing to say. */
export type OutboxTallyFields = Record<string, never>;

/** What `frontdoor.ingest` takes: one drained submission with the bytes of its files. */
export interface FrontdoorIngestFields {
  readonly box_epoch: string;
  readonly record: FrontdoorRecord;
  readonly files?: ReadonlyArray<IngestedFile> | undefined;
}

/** What `frontdoor.list` takes: which requests to list, the lowest numbers first. */
export interface FrontdoorListFields {
  readonly state?: RequestState | null | undefined;
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** What `frontdoor.get` takes: the number of a request. */
export interface FrontdoorGetFields {
  readonly seq: number;
}

/** What `frontdoor.next` takes: how many briefs to give at most. */
export interface FrontdoorNextFields {
  readonly limit?: number | undefined;
}

/** What `frontdoor.extract` takes: which requests to extract: one, or the oldest that wait for it. */
export interface FrontdoorExtractFields {
  readonly seq?: number | null | undefined;
  readonly retry?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** What `frontdoor.triaged` takes: the drafts that a run staged for a request; none are a triage too. */
export interface FrontdoorTriagedFields {
  readonly seq: number;
  readonly drafts?: ReadonlyArray<string> | undefined;
}

/** What `frontdoor.needs_info` takes: a request that waits for its sender, and for what. */
export interface FrontdoorNeedsInfoFields {
  readonly seq: number;
  readonly note?: string | null | undefined;
}

/** What `frontdoor.close` takes: a request to be closed, and why. */
export interface FrontdoorCloseFields {
  readonly seq: number;
  readonly reason: string;
}

/** What `frontdoor.reopen` takes: a request to be taken up again. */
export interface FrontdoorReopenFields {
  readonly seq: number;
}

/** What `frontdoor.reconcile` takes: nothing: every request that waits for a draft is looked at. */
export type FrontdoorReconcileFields = Record<string, never>;

/** What every call may be given besides its request. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Every operation as a method: from its request to its response. */
export abstract class Methods {
  protected abstract ask<Name extends keyof Operations>(
    operation: Name,
    request: unknown,
    options: CallOptions | undefined,
  ): Promise<Operations[Name]["response"]>;

  /**
   * Post one message; with an idempotency key a repeat gives the first answer.
   *
   * Refusals of its own: unknown_participant, unknown_room, unknown_session, session_not_live, unknown_message, not_addressed_to_you, permission_denied, idempotency_conflict.
   */
  async send(fields: SendFields, options?: CallOptions): Promise<SendResponse> {
    return this.ask("mail.send", { ...fields, to: address(fields.to) }, options);
  }

  /**
   * Post up to 100 messages in one commit; each has its own outcome.
   *
   * Refusals of its own: permission_denied.
   */
  async sendMany(fields: SendManyFields, options?: CallOptions): Promise<SendManyResponse> {
    return this.ask("mail.send_many", fields, options);
  }

  /**
   * Read one page of the caller's inbox, waiting for mail when asked to.
   *
   * Refusals of its own: permission_denied.
   */
  async inbox(fields: InboxFields = {}, options?: CallOptions): Promise<InboxPage> {
    return this.ask("mail.inbox", { ...fields, after: position(fields.after), before: position(fields.before) }, options);
  }

  /**
   * Wait until mail that is not the caller's own stands after a position.
   *
   * Refusals of its own: permission_denied.
   */
  async wait(fields: WaitFields = {}, options?: CallOptions): Promise<WaitResult> {
    return this.ask("mail.wait", { ...fields, after: position(fields.after) }, options);
  }

  /**
   * Tell the caller of unread mail that it was not told of before, once.
   *
   * Refusals of its own: permission_denied.
   */
  async told(fields: ToldFields = {}, options?: CallOptions): Promise<Told> {
    return this.ask("mail.told", fields, options);
  }

  /**
   * Acknowledge one message; a repeat gives the first acknowledgement.
   *
   * Refusals of its own: unknown_message, not_addressed_to_you, permission_denied.
   */
  async ack(fields: AckFields, options?: CallOptions): Promise<AckResponse> {
    return this.ask("mail.ack", fields, options);
  }

  /**
   * Acknowledge up to 256 messages in one commit; each has its own outcome.
   *
   * Refusals of its own: permission_denied.
   */
  async ackMany(fields: AckManyFields, options?: CallOptions): Promise<AckManyResponse> {
    return this.ask("mail.ack_many", fields, options);
  }

  /**
   * Read one message that the caller may read or wrote.
   *
   * Refusals of its own: unknown_message, not_addressed_to_you, permission_denied.
   */
  async get(fields: GetFields, options?: CallOptions): Promise<Message> {
    return this.ask("mail.get", fields, options);
  }

  /**
   * Count what a participant has not acknowledged: oneself, or for an operator anyone.
   *
   * Refusals of its own: unknown_participant, unknown_session, permission_denied.
   */
  async unread(fields: UnreadFields, options?: CallOptions): Promise<UnreadCount> {
    return this.ask("mail.unread", { ...fields, target: participant(fields.target) }, options);
  }

  /**
   * Read the thread of a message, oldest first.
   *
   * Refusals of its own: unknown_message, not_addressed_to_you, permission_denied.
   */
  async thread(fields: ThreadFields, options?: CallOptions): Promise<ThreadPage> {
    return this.ask("mail.thread", { ...fields, after: position(fields.after) }, options);
  }

  /**
   * Find messages by words and phrases, newest first.
   *
   * Refusals of its own: permission_denied.
   */
  async search(fields: SearchFields, options?: CallOptions): Promise<SearchPage> {
    return this.ask("mail.search", { ...fields, before: position(fields.before) }, options);
  }

  /**
   * List what the caller sent and who acknowledged it, newest first.
   *
   * Refusals of its own: permission_denied.
   */
  async sent(fields: SentFields = {}, options?: CallOptions): Promise<SentPage> {
    return this.ask("mail.sent", { ...fields, before: position(fields.before) }, options);
  }

  /**
   * Tell the caller its own address, label and rooms.
   */
  async whoami(fields: WhoamiFields = {}, options?: CallOptions): Promise<WhoAmI> {
    return this.ask("mail.whoami", fields, options);
  }

  /**
   * Say what the calling session is doing; what is left out is cleared.
   *
   * Refusals of its own: unknown_session, permission_denied.
   */
  async status(fields: StatusFields = {}, options?: CallOptions): Promise<Status> {
    return this.ask("mail.status", fields, options);
  }

  /**
   * Issue a session credential, where no kernel can vouch for a process.
   *
   * Refusals of its own: permission_denied.
   */
  async session(fields: SessionFields = {}, options?: CallOptions): Promise<IssuedSession> {
    return this.ask("mail.session", fields, options);
  }

  /**
   * List every account and room.
   *
   * Refusals of its own: permission_denied.
   */
  async directory(fields: DirectoryFields = {}, options?: CallOptions): Promise<Directory> {
    return this.ask("mail.directory", fields, options);
  }

  /**
   * Have the calling session's own listener rung when mail comes for it, or stop that.
   *
   * Refusals of its own: permission_denied.
   */
  async listen(fields: ListenFields, options?: CallOptions): Promise<Listening> {
    return this.ask("mail.listen", fields, options);
  }

  /**
   * List what waits in the file mailboxes of this machine.
   *
   * Refusals of its own: permission_denied.
   */
  async mailboxList(fields: MailboxListFields = {}, options?: CallOptions): Promise<MailboxList> {
    return this.ask("mailbox.list", fields, options);
  }

  /**
   * Read one message of a file mailbox; it stays as it is.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async mailboxShow(fields: MailboxShowFields, options?: CallOptions): Promise<MailboxText> {
    return this.ask("mailbox.show", fields, options);
  }

  /**
   * Deliver a note to a node of a run, and say what became of it.
   *
   * Refusals of its own: unknown_item, not_pending, idempotency_conflict, permission_denied.
   */
  async noteDeliver(fields: NoteDeliverFields, options?: CallOptions): Promise<NoteReceipt> {
    return this.ask("note.deliver", fields, options);
  }

  /**
   * Say which notes stand for a node and which it still owes.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async noteStanding(fields: NoteStandingFields, options?: CallOptions): Promise<NoteStanding> {
    return this.ask("note.standing", fields, options);
  }

  /**
   * Append turns of a run's conversations; returns the presentations that they show.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async noteEvents(fields: NoteEventsFields, options?: CallOptions): Promise<NotePresentations> {
    return this.ask("note.events", fields, options);
  }

  /**
   * Read records of a run's journal.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async noteJournal(fields: NoteJournalFields, options?: CallOptions): Promise<NoteJournal> {
    return this.ask("note.journal", fields, options);
  }

  /**
   * List runs by name.
   *
   * Refusals of its own: permission_denied.
   */
  async noteRuns(fields: NoteRunsFields = {}, options?: CallOptions): Promise<NoteRuns> {
    return this.ask("note.runs", fields, options);
  }

  /**
   * Register an account and show its secret once.
   *
   * Refusals of its own: already_exists, id_retired, permission_denied.
   */
  async adminParticipant(fields: AdminParticipantFields, options?: CallOptions): Promise<IssuedSecret> {
    return this.ask("admin.participant", fields, options);
  }

  /**
   * Replace an account's secret; the old one is dead at once.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminParticipantRotate(fields: AdminParticipantRotateFields, options?: CallOptions): Promise<IssuedSecret> {
    return this.ask("admin.participant.rotate", fields, options);
  }

  /**
   * Kill an account's secret.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminParticipantRevoke(fields: AdminParticipantRevokeFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.participant.revoke", fields, options);
  }

  /**
   * Remove an account and retire its id.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminParticipantRemove(fields: AdminParticipantRemoveFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.participant.remove", fields, options);
  }

  /**
   * Delete a removed account with its mail and free its id.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminParticipantPurge(fields: AdminParticipantPurgeFields, options?: CallOptions): Promise<PurgeReport> {
    return this.ask("admin.participant.purge", fields, options);
  }

  /**
   * Grant and revoke capabilities, and set the attestation policy.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminParticipantPermit(fields: AdminParticipantPermitFields, options?: CallOptions): Promise<ParticipantRecord> {
    return this.ask("admin.participant.permit", fields, options);
  }

  /**
   * List accounts with their capabilities.
   *
   * Refusals of its own: permission_denied.
   */
  async adminParticipantList(fields: AdminParticipantListFields = {}, options?: CallOptions): Promise<ParticipantList> {
    return this.ask("admin.participant.list", fields, options);
  }

  /**
   * Create a room.
   *
   * Refusals of its own: already_exists, permission_denied.
   */
  async adminRoom(fields: AdminRoomFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.room", fields, options);
  }

  /**
   * Remove a room with its mail.
   *
   * Refusals of its own: unknown_room, permission_denied.
   */
  async adminRoomRemove(fields: AdminRoomRemoveFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.room.remove", fields, options);
  }

  /**
   * List rooms.
   *
   * Refusals of its own: permission_denied.
   */
  async adminRoomList(fields: AdminRoomListFields = {}, options?: CallOptions): Promise<RoomList> {
    return this.ask("admin.room.list", fields, options);
  }

  /**
   * List the members of a room.
   *
   * Refusals of its own: unknown_room, permission_denied.
   */
  async adminRoomMembers(fields: AdminRoomMembersFields, options?: CallOptions): Promise<RoomMembers> {
    return this.ask("admin.room.members", fields, options);
  }

  /**
   * Put an account into a room.
   *
   * Refusals of its own: unknown_room, unknown_participant, permission_denied.
   */
  async adminRoomMemberAdd(fields: AdminRoomMemberAddFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.room.member.add", fields, options);
  }

  /**
   * Take an account out of a room.
   *
   * Refusals of its own: unknown_room, permission_denied.
   */
  async adminRoomMemberRemove(fields: AdminRoomMemberRemoveFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.room.member.remove", fields, options);
  }

  /**
   * Have a listener on this machine rung when mail comes for an account.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminListener(fields: AdminListenerFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.listener", fields, options);
  }

  /**
   * End an account's listener, or that of a session of it.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminListenerRemove(fields: AdminListenerRemoveFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.listener.remove", fields, options);
  }

  /**
   * Show an account's listener and its sessions' own, and what became of their rings.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminListenerGet(fields: AdminListenerGetFields, options?: CallOptions): Promise<ListenerList> {
    return this.ask("admin.listener.get", fields, options);
  }

  /**
   * List the listeners that fail or are dead, or all, with what waits for them and since when they fail.
   *
   * Refusals of its own: permission_denied.
   */
  async adminListenerList(fields: AdminListenerListFields = {}, options?: CallOptions): Promise<ListenerPage> {
    return this.ask("admin.listener.list", { ...fields, after: participant(fields.after) }, options);
  }

  /**
   * Try a listener again at once, as when it is set again.
   *
   * Refusals of its own: unknown_participant, permission_denied.
   */
  async adminListenerRetry(fields: AdminListenerRetryFields, options?: CallOptions): Promise<Listening> {
    return this.ask("admin.listener.retry", fields, options);
  }

  /**
   * Read one page of a named participant's inbox.
   *
   * Refusals of its own: unknown_participant, unknown_session, permission_denied.
   */
  async adminInbox(fields: AdminInboxFields, options?: CallOptions): Promise<InboxPage> {
    return this.ask("admin.inbox", { ...fields, address: participant(fields.address), after: position(fields.after) }, options);
  }

  /**
   * Delete one message.
   *
   * Refusals of its own: unknown_message, permission_denied.
   */
  async adminMessagePurge(fields: AdminMessagePurgeFields, options?: CallOptions): Promise<Done> {
    return this.ask("admin.message.purge", fields, options);
  }

  /**
   * Report on retention, or run it now.
   *
   * Refusals of its own: permission_denied.
   */
  async adminRetention(fields: AdminRetentionFields = {}, options?: CallOptions): Promise<RetentionReport> {
    return this.ask("admin.retention", fields, options);
  }

  /**
   * List what operators did, newest first.
   *
   * Refusals of its own: permission_denied.
   */
  async adminAudit(fields: AdminAuditFields = {}, options?: CallOptions): Promise<AuditPage> {
    return this.ask("admin.audit", fields, options);
  }

  /**
   * Count who wrote to whom of late, those who wrote most first.
   *
   * Refusals of its own: permission_denied.
   */
  async adminFlow(fields: AdminFlowFields = {}, options?: CallOptions): Promise<Flow> {
    return this.ask("admin.flow", fields, options);
  }

  /**
   * Look the data folder over as doctor does, the whole database when asked to.
   *
   * Refusals of its own: permission_denied.
   */
  async adminCheckup(fields: AdminCheckupFields = {}, options?: CallOptions): Promise<Checkup> {
    return this.ask("admin.checkup", fields, options);
  }

  /**
   * List the settings in force and where each comes from; no secret is shown.
   *
   * Refusals of its own: permission_denied.
   */
  async adminSettings(fields: AdminSettingsFields = {}, options?: CallOptions): Promise<SettingList> {
    return this.ask("admin.settings", fields, options);
  }

  /**
   * Tell whether the daemon can write and read.
   */
  async health(options?: CallOptions): Promise<Health> {
    return this.ask("health", undefined, options);
  }

  /**
   * Stage a tool call as a draft that a person reads and releases.
   *
   * Refusals of its own: idempotency_conflict, permission_denied.
   */
  async outboxStage(fields: OutboxStageFields, options?: CallOptions): Promise<OutboxStaged> {
    return this.ask("outbox.stage", fields, options);
  }

  /**
   * List drafts: one's own, or with outbox:review everybody's.
   *
   * Refusals of its own: permission_denied.
   */
  async outboxList(fields: OutboxListFields = {}, options?: CallOptions): Promise<OutboxList> {
    return this.ask("outbox.list", fields, options);
  }

  /**
   * Read a whole draft: its arguments, files, warnings and digest.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async outboxGet(fields: OutboxGetFields, options?: CallOptions): Promise<OutboxDraft> {
    return this.ask("outbox.get", fields, options);
  }

  /**
   * Take back a draft of one's own that nobody has decided.
   *
   * Refusals of its own: unknown_item, not_pending, outcome_unknown, permission_denied.
   */
  async outboxWithdraw(fields: OutboxWithdrawFields, options?: CallOptions): Promise<OutboxEntry> {
    return this.ask("outbox.withdraw", fields, options);
  }

  /**
   * Stage a draft in the place of one of one's own that nobody has decided.
   *
   * Refusals of its own: unknown_item, not_pending, outcome_unknown, idempotency_conflict, permission_denied.
   */
  async outboxSupersede(fields: OutboxSupersedeFields, options?: CallOptions): Promise<OutboxStaged> {
    return this.ask("outbox.supersede", fields, options);
  }

  /**
   * Change the arguments of a draft; it is read again before it is released.
   *
   * Refusals of its own: unknown_item, not_pending, outcome_unknown, draft_changed, permission_denied.
   */
  async outboxEdit(fields: OutboxEditFields, options?: CallOptions): Promise<OutboxDraft> {
    return this.ask("outbox.edit", fields, options);
  }

  /**
   * Release the draft that was read; it leaves once.
   *
   * Refusals of its own: unknown_item, not_pending, outcome_unknown, draft_changed, permission_denied.
   */
  async outboxRelease(fields: OutboxReleaseFields, options?: CallOptions): Promise<OutboxReleased> {
    return this.ask("outbox.release", fields, options);
  }

  /**
   * Reject drafts for a reason; each has an outcome of its own.
   *
   * Refusals of its own: permission_denied.
   */
  async outboxReject(fields: OutboxRejectFields, options?: CallOptions): Promise<OutboxRejected> {
    return this.ask("outbox.reject", fields, options);
  }

  /**
   * Say whether a draft left whose outcome is unknown.
   *
   * Refusals of its own: unknown_item, not_pending, permission_denied.
   */
  async outboxSettle(fields: OutboxSettleFields, options?: CallOptions): Promise<OutboxEntry> {
    return this.ask("outbox.settle", fields, options);
  }

  /**
   * Count how many released messages left as they were drafted.
   *
   * Refusals of its own: permission_denied.
   */
  async outboxTally(fields: OutboxTallyFields = {}, options?: CallOptions): Promise<OutboxTally> {
    return this.ask("outbox.tally", fields, options);
  }

  /**
   * Take in one drained submission with its files; the same one again gives the same number.
   *
   * Refusals of its own: already_exists, permission_denied.
   */
  async frontdoorIngest(fields: FrontdoorIngestFields, options?: CallOptions): Promise<FrontdoorReceipt> {
    return this.ask("frontdoor.ingest", fields, options);
  }

  /**
   * List requests, and the files that could not be read as one.
   *
   * Refusals of its own: permission_denied.
   */
  async frontdoorList(fields: FrontdoorListFields = {}, options?: CallOptions): Promise<FrontdoorList> {
    return this.ask("frontdoor.list", fields, options);
  }

  /**
   * Read one request whole, prose and all; for a person.
   *
   * Refusals of its own: unknown_item, permission_denied.
   */
  async frontdoorGet(fields: FrontdoorGetFields, options?: CallOptions): Promise<FrontdoorItem> {
    return this.ask("frontdoor.get", fields, options);
  }

  /**
   * Give briefs of extracted requests; whoever is given one stages with untrusted taint.
   *
   * Refusals of its own: permission_denied.
   */
  async frontdoorNext(fields: FrontdoorNextFields = {}, options?: CallOptions): Promise<FrontdoorBriefs> {
    return this.ask("frontdoor.next", fields, options);
  }

  /**
   * Have the prose of requests read by the quarantined extractor.
   *
   * Refusals of its own: unknown_item, not_pending, permission_denied.
   */
  async frontdoorExtract(fields: FrontdoorExtractFields = {}, options?: CallOptions): Promise<FrontdoorExtracted> {
    return this.ask("frontdoor.extract", fields, options);
  }

  /**
   * Report the drafts that a run staged for a request.
   *
   * Refusals of its own: unknown_item, not_pending, already_exists, permission_denied.
   */
  async frontdoorTriaged(fields: FrontdoorTriagedFields, options?: CallOptions): Promise<FrontdoorMoved> {
    return this.ask("frontdoor.triaged", fields, options);
  }

  /**
   * Park a request until its sender has said more.
   *
   * Refusals of its own: unknown_item, not_pending, permission_denied.
   */
  async frontdoorNeedsInfo(fields: FrontdoorNeedsInfoFields, options?: CallOptions): Promise<FrontdoorMoved> {
    return this.ask("frontdoor.needs_info", fields, options);
  }

  /**
   * Close a request, with a reason.
   *
   * Refusals of its own: unknown_item, not_pending, permission_denied.
   */
  async frontdoorClose(fields: FrontdoorCloseFields, options?: CallOptions): Promise<FrontdoorMoved> {
    return this.ask("frontdoor.close", fields, options);
  }

  /**
   * Take a request up again that was closed, triaged or parked.
   *
   * Refusals of its own: unknown_item, not_pending, permission_denied.
   */
  async frontdoorReopen(fields: FrontdoorReopenFields, options?: CallOptions): Promise<FrontdoorMoved> {
    return this.ask("frontdoor.reopen", fields, options);
  }

  /**
   * Move every request whose drafts were decided.
   *
   * Refusals of its own: permission_denied.
   */
  async frontdoorReconcile(fields: FrontdoorReconcileFields = {}, options?: CallOptions): Promise<FrontdoorReconciled> {
    return this.ask("frontdoor.reconcile", fields, options);
  }
}
