/**
 * Follow an inbox: each new message once, across restarts of the daemon. A reader moves by the position of the last message that it was
 * shown, so nothing is missed and nothing shown twice, whatever is sent meanwhile. Faults and busy answers are waited out with growing
 * pauses; refusals that waiting does not mend are thrown.
 */
import { position } from "./addresses.js";
import { check } from "./codec.js";
import type { Connection } from "./connection.js";
import { AnswerInvalidError, AnswerTooLargeError, ClientError, SettingInvalidError } from "./errors.js";
import { Backoff, ONCE, exchange, pause, retryAfter } from "./exchange.js";
import { isRefusal, type RefusalError } from "./refusal.js";
import type { Message, Operations, ParticipantAddress, Position } from "./types.js";

/** An empty page that comes sooner than this share of the wait asked for was not waited for. */
const EARLY = 0.5;

/** What is followed and how. Times are in seconds. */
export interface WatchOptions {
  /** Behind all that is there, at the oldest message without an acknowledgement, or behind a position or a message. */
  readonly start?: "now" | "unread" | Position | Message;
  /** Acknowledge a message when the loop asks for the one after it. */
  readonly ack?: boolean;
  /** Show the caller's own posts in rooms too. Off, or an agent that answers what it sees would answer itself. */
  readonly own?: boolean;
  readonly sentBy?: string;
  readonly room?: string;
  readonly thread?: string;
  readonly correlation?: string;
  /** Messages a page. */
  readonly limit?: number;
  /** How long the daemon holds a request while there is nothing new. */
  readonly waitSecs?: number;
  /** Pauses after faults: the first, and the longest. */
  readonly firstPause?: number;
  readonly longestPause?: number;
  /** Throw the fault when the pauses since the last answer come to more than this; without it, never. */
  readonly giveUpAfter?: number;
  /** Called with each fault and the pause that follows it. */
  readonly onFault?: (fault: RefusalError | ClientError, secs: number) => void;
  /** Ends the watch; it then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** An asynchronous iterator over new messages. */
export class Watch implements AsyncIterableIterator<Message> {
  readonly #connection: Connection;
  readonly #options: WatchOptions;
  readonly #backoff: Backoff;
  readonly #waitSecs: number;
  readonly #messages: AsyncGenerator<Message, void, undefined>;
  #position: Position | null = null;
  #away = 0;

  constructor(connection: Connection, options: WatchOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#backoff = new Backoff(options.firstPause ?? 0.2, options.longestPause ?? 30);
    this.#waitSecs = options.waitSecs ?? 50;
    this.#messages = this.#all();
  }

  /** The position of the last message that was given out or passed over; a later watch that starts here goes on behind it. */
  get position(): Position | null {
    return this.#position;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Message, void>> {
    return this.#messages.next();
  }

  /** End the watch. The message that was given out last is not acknowledged. */
  return(): Promise<IteratorResult<Message, void>> {
    return this.#messages.return();
  }

  async *#all(): AsyncGenerator<Message, void, undefined> {
    const { start = "now", own = false, ack = false } = this.#options;
    if (typeof start === "object") this.#position = check("Position", position(start));
    else if (start === "now") this.#position = (await this.#asked("mail.wait", { wait_secs: 0 })).newest ?? null;
    else if (start !== "unread") throw new SettingInvalidError("start", 'must be "now", "unread", a position or a message');
    const me = own || start === "unread" ? undefined : (await this.#asked("mail.whoami", {})).address;
    for (;;) {
      const askedAt = performance.now();
      const page = await this.#asked("mail.inbox", this.#request());
      if (page.messages.length === 0) {
        await this.#rest((performance.now() - askedAt) / 1000);
        continue;
      }
      this.#backoff.reset();
      for (const message of page.messages) {
        this.#position = position(message) ?? null;
        if (me !== undefined && same(message.from, me)) continue;
        yield message;
        if (ack) await this.#acknowledge(message);
      }
    }
  }

  #request(): Record<string, unknown> {
    const { limit = 50, sentBy = null, room = null, thread = null, correlation = null, start } = this.#options;
    const filters = { sent_by: sentBy, room, thread, correlation };
    return { after: this.#position, limit, wait_secs: this.#waitSecs, unread_only: start === "unread", ...filters };
  }

  async #acknowledge(message: Message): Promise<void> {
    try {
      await this.#asked("mail.ack", { message_id: message.message_id });
    } catch (thrown) {
      // It was purged, or the reader left its room, since it was shown.
      if (!isRefusal(thrown, "unknown_message", "not_addressed_to_you")) throw thrown;
    }
  }

  /** Pause after an empty page that was not waited for: the daemon stops, or the caller's rights have changed. */
  async #rest(secs: number): Promise<void> {
    if (secs >= EARLY * this.#waitSecs) this.#backoff.reset();
    else await pause(this.#backoff.next(), this.#options.signal);
  }

  /** The answer to one request, faults waited out. */
  async #asked<Name extends keyof Operations>(name: Name, request: unknown): Promise<Operations[Name]["response"]> {
    const { signal, giveUpAfter = Infinity, longestPause = 30, onFault } = this.#options;
    for (;;) {
      try {
        const answer = await exchange(this.#connection, name, request, ONCE, signal);
        this.#away = 0;
        return answer;
      } catch (thrown) {
        if (!passes(thrown)) throw thrown;
        const secs = this.#backoff.next(Math.min(retryAfter(thrown), longestPause));
        this.#away += secs;
        if (this.#away > giveUpAfter) throw thrown;
        onFault?.(thrown, secs);
        await pause(secs, signal);
      }
    }
  }
}

function same(left: ParticipantAddress, right: ParticipantAddress): boolean {
  const session = (of: ParticipantAddress): string => (of.kind === "session" ? of.session : "");
  return left.participant === right.participant && session(left) === session(right);
}

/** Whether it is worth asking again later. */
function passes(failure: unknown): failure is RefusalError | ClientError {
  if (failure instanceof AnswerInvalidError) return failure.status >= 500;
  if (failure instanceof AnswerTooLargeError || failure instanceof SettingInvalidError) return false;
  return failure instanceof ClientError || isRefusal(failure, "overloaded", "rate_limited", "store_unavailable", "internal");
}
