/** The text form of an address, as a person writes it: `account`, `account/s-...`, `#room`. */
import { check } from "./codec.js";
import type { Address, Message, ParticipantAddress, Position } from "./types.js";

type Absent = null | undefined;

/** The text form of an address. */
export function textOf(from: Address): string {
  switch (from.kind) {
    case "room":
      return `#${from.room}`;
    case "session":
      return `${from.participant}/${from.session}`;
    default:
      return from.participant;
  }
}

/** An address from its text form. Throws RefusalError naming the id that is wrong. */
export function addressOf(text: string): Address {
  return text.startsWith("#") ? { kind: "room", room: check("RoomId", text.slice(1)) } : participantOf(text);
}

/** The address of an account or a session from its text form. Throws RefusalError naming the id that is wrong. */
export function participantOf(text: string): ParticipantAddress {
  const slash = text.indexOf("/");
  if (slash < 0) return { kind: "direct", participant: check("ParticipantId", text) };
  return {
    kind: "session",
    participant: check("ParticipantId", text.slice(0, slash)),
    session: check("SessionId", text.slice(slash + 1)),
  };
}

/** What is no text stays what it is. */
export function address<Given>(given: Given | string): Given | Address {
  return typeof given === "string" ? addressOf(given) : given;
}

/** What is no text stays what it is. */
export function participant<Given>(given: Given | string): Given | ParticipantAddress {
  return typeof given === "string" ? participantOf(given) : given;
}

/** The position of a message in the order of commits; what is no message stays what it is. */
export function position(given: Position | Message | Absent): Position | Absent {
  if (typeof given !== "object" || given === null || !("body" in given)) return given;
  return { created_at_unix_ms: given.created_at_unix_ms, message_id: given.message_id };
}
