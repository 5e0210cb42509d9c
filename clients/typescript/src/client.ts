/** The client: every operation of the contract as a method, over fetch. */
import type { Connection } from "./connection.js";
import { RETRIES, exchange, type RetryPolicy } from "./exchange.js";
import { answer, letter, type AnswerFields, type LetterFields } from "./letters.js";
import { Methods, type CallOptions } from "./methods.js";
import { DEFAULT_URL, baseOf, boundOf, tokenOf } from "./settings.js";
import type { Address, Message, Operations, SendResponse } from "./types.js";
import { Watch, type WatchOptions } from "./watch.js";

/** The largest page (256 messages of 64 KiB, every byte escaped) stays below it. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Seconds for a whole answer, besides those that the daemon was asked to wait. */
const ANSWER_SECS = 30;
const LONGEST_ANSWER_SECS = 86_400;

/** Where a client connects and as whom. */
export interface ClientSettings {
  /** `http://HOST[:PORT]` or `https://HOST[:PORT]`; plain http to this machine alone, unless `allowPlainHttp`. */
  readonly url?: string;
  /** The account's secret. Without it only what needs no credential can be asked. */
  readonly token?: string;
  readonly allowPlainHttp?: boolean;
  /** Seconds for a whole answer, besides those that the daemon was asked to wait. */
  readonly answerSecs?: number;
  readonly maxAnswerBytes?: number;
  readonly retries?: Partial<RetryPolicy>;
  /** Whose session the client acts as where the daemon proves processes: its own, or that of the agent that started this process. */
  readonly session?: "own" | "parent";
  /** In place of the platform's own, for a proxy, a UNIX socket or a custom certificate. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A client of one daemon, acting as one account. Throws SettingInvalidError when it is made. */
export class MailClient extends Methods {
  readonly #connection: Connection;
  readonly #retries: RetryPolicy;

  constructor(settings: ClientSettings = {}) {
    super();
    this.#retries = { ...RETRIES, ...settings.retries };
    this.#connection = {
      base: baseOf("url", settings.url ?? DEFAULT_URL, settings.allowPlainHttp ?? false),
      token: settings.token === undefined ? undefined : tokenOf("token", settings.token),
      session: settings.session ?? "own",
      answerSecs: boundOf("answerSecs", settings.answerSecs ?? ANSWER_SECS, LONGEST_ANSWER_SECS),
      maxAnswerBytes: boundOf("maxAnswerBytes", settings.maxAnswerBytes ?? MAX_ANSWER_BYTES, Number.MAX_SAFE_INTEGER),
      fetch: settings.fetch ?? globalThis.fetch,
    };
  }

  /** Post one message; it carries a new idempotency key unless one is given, so that a lost answer is asked for again. */
  async sendText(to: Address | string, body: string, fields?: LetterFields, options?: CallOptions): Promise<SendResponse> {
    return this.ask("mail.send", letter(to, body, fields), options);
  }

  /** Answer a message in its room, or else its author; otherwise as `sendText`. */
  async replyText(message: Message, body: string, fields?: AnswerFields, options?: CallOptions): Promise<SendResponse> {
    return this.ask("mail.send", answer(message, body, fields), options);
  }

  /** Follow the inbox: an iterator over each new message once, which outlives restarts of the daemon. */
  watch(options: WatchOptions = {}): Watch {
    return new Watch(this.#connection, options);
  }

  protected async ask<Name extends keyof Operations>(
    operation: Name,
    request: unknown,
    options: CallOptions | undefined,
  ): Promise<Operations[Name]["response"]> {
    return exchange(this.#connection, operation, request, this.#retries, options?.signal);
  }
}
