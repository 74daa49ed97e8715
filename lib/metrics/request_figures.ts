import type { MeasureRequest } from "@/lib/http/access_log.ts";
import { type Refusal, REFUSALS } from "@/lib/http/errors.ts";
import type { Admitted } from "@/lib/http/request_context.ts";
import { type Metrics, STATUS_CLASSES } from "./metrics.ts";
import type { Labels } from "./registry.ts";

const NONE = "none";

/** Classes that each operation has from its first request on: a rate needs the 0 before the first one. */
const FROM_THE_START: ReadonlySet<string> = new Set(["2xx", "4xx", "5xx"]);

/** The longest object of S3, bytes: no body that is read is longer. */
const MAX_BODY_BYTES = 5 * 2 ** 40;

/** What was counted of one operation in one role. */
interface OperationFigures {
  readonly labels: Labels;
  /** Requests by the first digit of their status. */
  readonly byClass: number[];
  readonly observe: (seconds: number) => void;
}

interface RoleFigures {
  readonly operations: Map<string, OperationFigures>;
  receivedBytes: number;
  sentBytes: number;
}

/**
 * Counts requests. It runs for each of them, so it adds to numbers of its own, which a scrape copies: the package's
 * counters build a text of the labels each time.
 */
export function requestFigures(metrics: Metrics): MeasureRequest {
  const roles = new Map<string, RoleFigures>();
  const admitted: Record<Admitted, number> = { proven: 0, unproven: 0 };
  // A rate needs the 0 before the first one.
  const refusals = new Map<Refusal, number>(REFUSALS.map((refusal) => [refusal, 0]));

  const figuresOf = (role: string): RoleFigures => {
    let figures = roles.get(role);
    if (!figures) roles.set(role, figures = { operations: new Map(), receivedBytes: 0, sentBytes: 0 });
    return figures;
  };
  const operationOf = ({ operations }: RoleFigures, role: string, operation: string): OperationFigures => {
    let figures = operations.get(operation);
    if (!figures) {
      const labels = { role, operation };
      const { observe } = metrics.requestSeconds.labels(labels);
      operations.set(operation, figures = { labels, byClass: STATUS_CLASSES.map(() => 0), observe });
    }
    return figures;
  };

  metrics.registry.onScrape(() => {
    for (const [role, { operations, receivedBytes, sentBytes }] of roles) {
      metrics.receivedBytes.set({ role }, receivedBytes);
      metrics.sentBytes.set({ role }, sentBytes);
      for (const { labels, byClass } of operations.values()) {
        byClass.forEach((count, digit) => {
          const status = STATUS_CLASSES[digit];
          if (count > 0 || FROM_THE_START.has(status)) metrics.requests.set({ ...labels, status }, count);
        });
      }
    }
    for (const credentials of ["proven", "unproven"] as const) {
      metrics.admitted.set({ credentials }, admitted[credentials]);
    }
    for (const [reason, count] of refusals) metrics.refused.set({ reason }, count);
  });

  return function measureRequest(context, { status, headers }, milliseconds) {
    const { role = NONE, operation = NONE, method } = context;
    const figures = figuresOf(role);
    const ofOperation = operationOf(figures, role, operation);
    ofOperation.byClass[Math.floor(status / 100)]++;
    ofOperation.observe(milliseconds / 1000);
    if (context.admitted !== undefined) admitted[context.admitted]++;
    if (context.refusal !== undefined) refusals.set(context.refusal, (refusals.get(context.refusal) ?? 0) + 1);
    if (method === "HEAD") return;
    figures.sentBytes += bytesIn(headers);
    // A client may announce any length: only a request that succeeded has had its body read.
    if (method !== "GET" && status >= 200 && status < 300) figures.receivedBytes += bytesIn(context.request.headers);
  };
}

/** The length that headers announce, bytes; 0 without one that is possible. */
function bytesIn(headers: Headers): number {
  const length = Number(headers.get("Content-Length"));
  return length > 0 && length <= MAX_BODY_BYTES && Number.isSafeInteger(length) ? length : 0;
}
