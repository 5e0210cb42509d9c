/** Messages as a person thinks of them: a text to somebody, an answer to a message. Each carries an idempotency key, so that sending is safe to repeat. */
import { address } from "./addresses.js";
import { check } from "./codec.js";
import type { Address, Message, MessageRef, SendRequest } from "./types.js";

/** What an answer's subject starts with, once. */
const ANSWER_PREFIX = "Re: ";
const SUBJECT_BYTES = 512;

/** What a letter may have besides its text. */
export interface LetterFields {
  readonly subject?: string;
  readonly replyTo?: string | null;
  readonly correlation?: string | null;
  readonly refs?: readonly MessageRef[];
  /** A new one unless it is given. */
  readonly idempotencyKey?: string;
  readonly allowDead?: boolean;
}

/** What an answer may have besides its text. */
export interface AnswerFields {
  /** Instead of the message's room or else its author. */
  readonly to?: Address | string;
  readonly subject?: string;
  readonly refs?: readonly MessageRef[];
  readonly idempotencyKey?: string;
}

/** A key that no other message has. */
export function idempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One message. Throws RefusalError. */
export function letter(to: Address | string, body: string, fields: LetterFields = {}): SendRequest {
  return check("SendRequest", {
    to: address(to),
    subject: fields.subject ?? "",
    body,
    reply_to: fields.replyTo ?? null,
    correlation: fields.correlation ?? null,
    refs: fields.refs ?? [],
    idempotency_key: fields.idempotencyKey ?? idempotencyKey(),
    allow_dead: fields.allowDead ?? false,
  });
}

/** An answer to a message: its subject behind `Re: `, cut to the bound of a subject, and its correlation. Throws RefusalError. */
export function answer(message: Message, body: string, fields: AnswerFields = {}): SendRequest {
  const { to = message.to.kind === "room" ? message.to : message.from, idempotencyKey: key, refs } = fields;
  const behind = message.subject.startsWith(ANSWER_PREFIX) ? message.subject : ANSWER_PREFIX + message.subject;
  return letter(to, body, {
    subject: fields.subject ?? cut(behind, SUBJECT_BYTES),
    replyTo: message.message_id,
    correlation: message.correlation ?? null,
    ...(refs === undefined ? {} : { refs }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  });
}

/** At most so many bytes of UTF-8, ending on a whole character. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true });
}
