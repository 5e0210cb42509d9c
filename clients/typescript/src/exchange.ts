/** One operation from its request to its answer, over as many attempts as are safe. */
import { check, decode } from "./codec.js";
import { attempt, type Answer, type Ask, type Connection } from "./connection.js";
import { AnswerInvalidError, ConnectFailedError, ConnectionLostError, type ClientError } from "./errors.js";
import { OPERATIONS, type Operation } from "./operations.js";
import { RefusalError, isRefusal } from "./refusal.js";
import type { Operations, Refusal } from "./types.js";

/** How often and how long one call is tried again where that is safe. Times are in seconds. */
export interface RetryPolicy {
  /** Attempts in all; 1: never again. */
  readonly attempts: number;
  /** The first pause is up to this long, each next one up to twice as long. */
  readonly firstPause: number;
  readonly longestPause: number;
  /** All pauses of one call together; a Retry-After beyond what is left of it ends the call at once. */
  readonly allPauses: number;
}

/** What a client does that was not told otherwise. */
export const RETRIES: RetryPolicy = { attempts: 4, firstPause: 0.1, longestPause: 5, allPauses: 20 };
export const ONCE: RetryPolicy = { ...RETRIES, attempts: 1 };

/** The daemon holds a waiting caller no longer than this, in seconds, whatever it asks for. */
const LONGEST_WAIT_SECS = 60;
/** Statuses of refusals for a while. */
const BUSY: readonly number[] = [429, 503];
const SECS = /^[0-9]{1,6}$/;

/** Pauses that double up to a bound, each cut by chance so that callers who failed together do not come back together. */
export class Backoff {
  #failures = 0;

  constructor(
    readonly first: number,
    readonly longest: number,
    readonly chance: () => number = Math.random,
  ) {}

  /** The next pause in seconds. */
  next(atLeast = 0): number {
    const pause = Math.min(this.longest, this.first * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.max(atLeast, pause * (0.5 + 0.5 * this.chance()));
  }

  /** Start over after a success. */
  reset(): void {
    this.#failures = 0;
  }
}

function member(request: unknown, name: string): unknown {
  return typeof request === "object" && request !== null && Object.hasOwn(request, name) ? (request as Record<string, unknown>)[name] : undefined;
}

const keyed = (request: unknown): boolean => typeof member(request, "idempotency_key") === "string";

/** Whether a second request can change nothing that the first did not: reads, and what the table of operations says of writes. */
export function safeToRepeat(operation: Operation, request: unknown): boolean {
  switch (operation.retry) {
    case "always":
      return true;
    case "key":
      return keyed(request);
    case "keys": {
      const messages = member(request, "messages");
      return Array.isArray(messages) && messages.every(keyed);
    }
    default:
      return operation.effect === "read";
  }
}

/** Seconds that the daemon asks to be left alone for, 0 when it says nothing. */
export function retryAfter(failure: unknown, header: string | null = null): number {
  if (header !== null && SECS.test(header)) return Number(header);
  return isRefusal(failure, "rate_limited", "overloaded") ? failure.refusal.retry_after_secs : 0;
}

/** Seconds that the daemon may let pass before it answers. */
export function waitSecs(operation: Operation, request: unknown): number {
  if (operation.waitSecs === null) return 0;
  const told = member(request, "wait_secs");
  return Math.min(told === undefined ? operation.waitSecs : Number(told ?? 0), LONGEST_WAIT_SECS);
}

/** Let time pass. Throws the signal's reason when that ends it. */
export function pause(secs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, secs * 1000);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

/**
 * Carry out one operation. Throws RefusalError (also for a request that is past a bound, before anything is sent), ClientError, and the
 * signal's reason.
 */
export async function exchange<Name extends keyof Operations>(
  connection: Connection,
  name: Name,
  request: unknown,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<Operations[Name]["response"]> {
  const operation = OPERATIONS[name];
  const sent = operation.request === null ? undefined : check(operation.request, request);
  const body = sent === undefined ? undefined : JSON.stringify(sent);
  const { method, path, authenticated } = operation;
  const ask: Ask = { method, path, body, authenticated, waitSecs: waitSecs(operation, sent) };
  let attempts = safeToRepeat(operation, sent) ? policy.attempts : 1;
  let left = policy.allPauses;
  const backoff = new Backoff(policy.firstPause, policy.longestPause);
  for (;;) {
    attempts -= 1;
    let failure: RefusalError | ClientError;
    let atLeast = 0;
    let again = true;
    try {
      const answer = await attempt(connection, ask, signal);
      if (answer.status === 200) return decoded(operation, answer) as Operations[Name]["response"];
      failure = refused(answer);
      atLeast = retryAfter(failure, answer.retryAfter);
      again = BUSY.includes(answer.status);
    } catch (thrown) {
      if (!(thrown instanceof ConnectFailedError || thrown instanceof ConnectionLostError)) throw thrown;
      failure = thrown;
    }
    const secs = backoff.next(atLeast);
    if (!again || attempts <= 0 || secs > left) throw failure;
    left -= secs;
    await pause(secs, signal);
  }
}

function decoded(operation: Operation, answer: Answer): unknown {
  try {
    return decode(operation.response, answer.body);
  } catch (wrong) {
    // Thrown as it is, it would read as the daemon's refusal of the request.
    throw invalid(answer, wrong);
  }
}

function refused(answer: Answer): RefusalError | AnswerInvalidError {
  let refusal: Refusal;
  try {
    refusal = decode("Refusal", answer.body);
  } catch (wrong) {
    return invalid(answer, wrong);
  }
  return new RefusalError(refusal);
}

function invalid(answer: Answer, wrong: unknown): AnswerInvalidError {
  if (isRefusal(wrong, "malformed")) return new AnswerInvalidError(answer.status, `${wrong.refusal.field} ${wrong.refusal.reason}`);
  if (!isRefusal(wrong, "too_large")) throw wrong;
  const { field, limit, actual } = wrong.refusal;
  return new AnswerInvalidError(answer.status, `${field} is ${actual} where at most ${limit} is allowed`);
}
