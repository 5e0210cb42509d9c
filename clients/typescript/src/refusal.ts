/** Refusals as errors: the daemon's own answer, or what it would answer, seen before anything was sent. */
import { STATUS } from "./definitions.js";
import type { Malformed, Refusal, RefusalKind, RefusalOf } from "./types.js";

/** A refusal of the contract. `kind` says which, `refusal` is the whole wire object. */
export class RefusalError<Kind extends RefusalKind = RefusalKind> extends Error {
  override readonly name = "RefusalError";
  readonly kind: Kind;
  readonly refusal: RefusalOf<Kind>;
  /** The HTTP status that the contract gives this kind. */
  readonly status: number;

  constructor(refusal: RefusalOf<Kind>) {
    super(sentence(refusal));
    this.kind = refusal.kind as Kind;
    this.refusal = refusal;
    this.status = STATUS[refusal.kind];
  }
}

/** A value that is past no bound and is wrong nevertheless. */
export class MalformedError extends RefusalError<"malformed"> {
  constructor(refusal: Malformed) {
    super(refusal);
  }
}

/** Whether something thrown is a refusal, and of one of the kinds where some are given. */
export function isRefusal<Kind extends RefusalKind = RefusalKind>(thrown: unknown, ...kinds: Kind[]): thrown is RefusalError<Kind> {
  return thrown instanceof RefusalError && (kinds.length === 0 || (kinds as string[]).includes(thrown.kind));
}

function sentence(refusal: Refusal): string {
  const fields = Object.entries(refusal).filter(([name]) => name !== "kind");
  return [refusal.kind, ...fields.map(([name, value]) => `${name}: ${String(value)}`)].join("; ");
}
