/** One attempt: a request over fetch, and its answer read to its end, both bounded. */
import {
  AnswerInvalidError,
  AnswerTooLargeError,
  ClientError,
  ConnectFailedError,
  ConnectionLostError,
  TimedOutError,
} from "./errors.js";

/** Send one request and read its whole answer. */
export interface Ask {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Undefined: the request has no body. */
  readonly body: string | undefined;
  readonly authenticated: boolean;
  /** Seconds that the daemon may let pass before it answers, because it was asked to wait. */
  readonly waitSecs: number;
}

/** One answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Uint8Array;
}

/** Where requests go, what they carry, and what bounds their answers. */
export interface Connection {
  readonly base: string;
  readonly token: string | undefined;
  readonly session: "own" | "parent";
  readonly answerSecs: number;
  readonly maxAnswerBytes: number;
  readonly fetch: typeof globalThis.fetch;
}

/** What Node.js says when no connection was made. */
const NOT_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "the host is not known",
  EAI_AGAIN: "the host's name could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
};

/** Carry out one attempt. Throws ClientError, or the signal's reason once the caller has ended it. */
export async function attempt(connection: Connection, ask: Ask, signal: AbortSignal | undefined): Promise<Answer> {
  signal?.throwIfAborted();
  const secs = connection.answerSecs + ask.waitSecs;
  const ending = new AbortController();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    ending.abort();
  }, secs * 1000);
  const end = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  try {
    return await exchanged(connection, ask, ending.signal);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (late) throw new TimedOutError(connection.base, secs);
    if (thrown instanceof ClientError) throw thrown;
    // What fetch throws may hold the request, so it is named and not chained.
    throw lost(connection.base, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    // Ends an answer that was given up before its end.
    ending.abort();
  }
}

function headersOf(connection: Connection, ask: Ask): Record<string, string> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (ask.body !== undefined) headers["content-type"] = "application/json";
  if (ask.authenticated && connection.token !== undefined) headers["authorization"] = `Bearer ${connection.token}`;
  if (connection.session === "parent") headers["m4a-session"] = "parent";
  return headers;
}

async function exchanged(connection: Connection, ask: Ask, signal: AbortSignal): Promise<Answer> {
  // Detached from the connection: a browser's fetch refuses to be called as another object's method.
  const { fetch } = connection;
  const response = await fetch(connection.base + ask.path, {
    method: ask.method,
    headers: headersOf(connection, ask),
    ...(ask.body === undefined ? {} : { body: ask.body }),
    signal,
    redirect: "manual",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new AnswerInvalidError(response.status, "it points elsewhere, where no credential is sent");
  }
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await bodyOf(response, connection.maxAnswerBytes) };
}

/** The whole body. What counts is what is held: the bytes after a compression that a proxy may have added. */
async function bodyOf(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    const reader = response.body.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.length;
      if (size > limit) throw new AnswerTooLargeError(limit);
      chunks.push(read.value);
    }
  }
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function lost(url: string, thrown: unknown): ClientError {
  const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
  // A name with several addresses fails with an error for each.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const code: unknown = typeof first === "object" && first !== null && "code" in first ? first.code : undefined;
  const reason = typeof code === "string" && Object.hasOwn(NOT_CONNECTED, code) ? NOT_CONNECTED[code] : undefined;
  return reason === undefined ? new ConnectionLostError(url) : new ConnectFailedError(url, reason);
}
