// What a type checker must accept and refuse of the generated types; each planted mistake must be an error.
import type { Address, InboxRequest, Message, MessageId, Operations, ParticipantId, RoomId, SendRequest, Refusal } from "mail4agent";

declare const participant: ParticipantId;
declare const room: RoomId;
declare const message: Message;
declare const refusal: Refusal;

export const shortest: SendRequest = { to: { kind: "room", room }, subject: "s", body: "b" };
export const page: InboxRequest = {};
export const text: string = message.message_id;

export function accountOf(address: Address): ParticipantId | null {
  return address.kind === "room" ? null : address.participant;
}

export function secondsToWait(refused: Refusal): number {
  return refused.kind === "rate_limited" || refused.kind === "overloaded" ? refused.retry_after_secs : 0;
}

export async function call<Name extends keyof Operations>(
  name: Name,
  request: Operations[Name]["request"],
): Promise<Operations[Name]["response"]> {
  throw new Error(`${name} ${JSON.stringify(request)}`);
}

export async function post(): Promise<MessageId> {
  const answer = await call("mail.send", shortest);
  return answer.message_id;
}

// @ts-expect-error a room id is no participant id
export const swapped: Address = { kind: "direct", participant: room };
// @ts-expect-error plain text is no identifier
export const plain: ParticipantId = "alice";
// @ts-expect-error no request names its sender
export const forged: SendRequest = { ...shortest, from: { kind: "direct", participant } };
// @ts-expect-error a message is never from a room
export const fromRoom: Message["from"] = { kind: "room", room };
// @ts-expect-error the subject is required
export const noSubject: SendRequest = { to: { kind: "room", room }, body: "b" };
// @ts-expect-error a page has a limit or the default, not null
export const nullLimit: InboxRequest = { limit: null };
// @ts-expect-error there is no such order
export const wrongOrder: InboxRequest = { order: "random" };
// @ts-expect-error a message does not change
message.subject = "other";
// @ts-expect-error only some refusals have a time to wait
export const always: number = refusal.retry_after_secs;
// @ts-expect-error mail.ack takes no subject
void call("mail.ack", shortest);
