/** The client of a mail4agent daemon and the contract's types, for browsers and every other runtime with fetch. */
export { addressOf, participantOf, textOf } from "./addresses.js";
export { MailClient, type ClientSettings } from "./client.js";
export { check, decode, encode } from "./codec.js";
export { CONTRACT_VERSION } from "./definitions.js";
export {
  AnswerInvalidError,
  AnswerTooLargeError,
  ClientError,
  ConnectFailedError,
  ConnectionLostError,
  SettingInvalidError,
  TimedOutError,
} from "./errors.js";
export type { RetryPolicy } from "./exchange.js";
export { answer, idempotencyKey, letter, type AnswerFields, type LetterFields } from "./letters.js";
export type * from "./methods.js";
export { OPERATIONS, type Operation } from "./operations.js";
export { RefusalError, isRefusal } from "./refusal.js";
export { DEFAULT_URL } from "./settings.js";
export type * from "./types.js";
export { Watch, type WatchOptions } from "./watch.js";
