import type { Middleware, RequestContext } from "./request_context.ts";
import { redactPath, redactQuery } from "./redact.ts";

/** Delay before buffered lines are written, ms: a timer and a write cost more than ten lines. */
const FLUSH_AFTER_MS = 20;
const FLUSH_AT_CHARACTERS = 64 * 1024;
const MAX_LOGGED_TEXT = 512;

/** Where finished log lines go. */
export interface RequestLog {
  /** Adds one JSON line; `ts` is put in front. */
  write(entry: LogEntry): void;
  /** Writes what is buffered; call it before the process ends. */
  flush(): void;
}

export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly [member: string]: unknown;
}

/**
 * A log that collects lines for {@link FLUSH_AFTER_MS} and passes them to `sink` as one text, since a system call per
 * request would cost more than the line.
 */
export function batchedLog(sink: (text: string) => void, now: () => number = Date.now): RequestLog {
  let buffer = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stamp = timestamps();
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = buffer;
    buffer = "";
    if (text !== "") sink(text);
  };
  return {
    write(entry) {
      buffer += `{"ts":"${stamp(now())}",${JSON.stringify(entry).slice(1)}\n`;
      if (buffer.length >= FLUSH_AT_CHARACTERS) return flush();
      timer ??= setTimeout(flush, FLUSH_AFTER_MS);
    },
    flush,
  };
}

/** Times (ms since 1970) as text, to the millisecond; most lines share theirs with the one before. */
function timestamps(): (now: number) => string {
  let last = NaN;
  let text = "";
  return (now) => {
    if (now !== last) {
      text = new Date(now).toISOString();
      last = now;
    }
    return text;
  };
}

/** Called when the response's headers are known; `milliseconds` is the time to that point. */
export type MeasureRequest = (context: RequestContext, response: Response, milliseconds: number) => void;

/**
 * One line per request, written when the response's headers are known; `duration_ms` is the time to that point.
 * Paths in `silent` (health probes) are left out. `measure` is called for all of them.
 */
export function accessLog(
  log: RequestLog,
  options: { readonly silent: ReadonlySet<string>; readonly clock?: () => number; readonly measure?: MeasureRequest },
): Middleware {
  const clock = options.clock ?? (() => performance.now());
  return async function accessLog(c, next) {
    const started = clock();
    await next();
    const context = c.get("context");
    const milliseconds = clock() - started;
    options.measure?.(context, c.res, milliseconds);
    if (options.silent.has(context.target.path)) return;
    const entry = describeRequest("info", context);
    entry.status = c.res.status;
    entry.duration_ms = loggedMs(milliseconds);
    log.write(entry);
  };
}

/** The members that every line about a request carries; more may be added. */
export function describeRequest(
  level: LogEntry["level"],
  context: RequestContext,
): { readonly level: LogEntry["level"]; [member: string]: unknown } {
  const { path, query } = context.target;
  const { caller } = context;
  return {
    level,
    request_id: context.requestId,
    operation: context.operation ?? null,
    // Left out of the line where it is undefined.
    audit: context.audit,
    method: context.method,
    path: shortened(redactPath(path)),
    query: redactQuery(query),
    user: caller ? shortened(caller.username) : null,
    tenant: caller?.tenant ?? null,
    client_ip: context.clientAddress,
  };
}

/** A duration in ms as lines have it: to the hundredth. */
function loggedMs(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

function shortened(text: string): string {
  return text.length > MAX_LOGGED_TEXT ? text.slice(0, MAX_LOGGED_TEXT) + "…" : text;
}
