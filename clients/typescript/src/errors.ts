/**
 * What can go wrong between a client and the daemon besides a refusal: no answer of the contract was got. None of the errors here holds a
 * credential, a request or an answer's text.
 */

/** Base of the family. */
export abstract class ClientError extends Error {
  /** The name that programs match on; unlike the message it does not change. */
  abstract readonly kind:
    | "setting_invalid"
    | "connect_failed"
    | "connection_lost"
    | "timed_out"
    | "answer_invalid"
    | "answer_too_large";
  override readonly name: string = "ClientError";
}

/** A setting cannot be used; nothing was sent. The value is not repeated, it may be a secret. */
export class SettingInvalidError extends ClientError {
  readonly kind = "setting_invalid";
  override readonly name = "SettingInvalidError";
  constructor(
    readonly setting: string,
    readonly reason: string,
  ) {
    super(`${setting} ${reason}`);
  }
}

/** No connection was made; nothing was sent. A browser does not tell this from a connection that was lost. */
export class ConnectFailedError extends ClientError {
  readonly kind = "connect_failed";
  override readonly name = "ConnectFailedError";
  constructor(
    readonly url: string,
    readonly reason: string,
  ) {
    super(`cannot connect to ${url}: ${reason}`);
  }
}

/** The connection ended before the whole answer had come; whether the request was carried out is not known. */
export class ConnectionLostError extends ClientError {
  readonly kind = "connection_lost";
  override readonly name = "ConnectionLostError";
  constructor(readonly url: string) {
    super(`the connection to ${url} ended before the whole answer had come`);
  }
}

/** The whole answer did not come in time; whether the request was carried out is not known. */
export class TimedOutError extends ClientError {
  readonly kind = "timed_out";
  override readonly name = "TimedOutError";
  constructor(
    readonly url: string,
    readonly secs: number,
  ) {
    super(`no whole answer from ${url} within ${secs} s`);
  }
}

/** What answered does not speak the contract: another server, a proxy, or a daemon of another version. */
export class AnswerInvalidError extends ClientError {
  readonly kind = "answer_invalid";
  override readonly name = "AnswerInvalidError";
  constructor(
    readonly status: number,
    readonly reason: string,
  ) {
    super(`an answer with status ${status} is not one of the contract: ${reason}`);
  }
}

/** The answer is past the client's bound, in bytes; reading it was given up. */
export class AnswerTooLargeError extends ClientError {
  readonly kind = "answer_too_large";
  override readonly name = "AnswerTooLargeError";
  constructor(readonly limit: number) {
    super(`the answer is larger than ${limit} bytes`);
  }
}
