import { percentile } from "@/bench/table.ts";
import { usedBy } from "@/bench/process_figures.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import type { AskedServer } from "./servers.ts";

/** Rounds in which the servers take turns; the median counts. */
export const ROUNDS = 5;

/** Warm-up rounds: code that is not compiled yet costs up to twice as much. */
export const WARM_ROUNDS = 7;

/** A request as it is repeated. */
export interface Repeated {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | null;
  /** 200 when absent. */
  readonly status?: number;
}

export interface LoadFigures {
  /** User and system time of the server per request, ms. */
  readonly cpuMs: number;
  /** 99th percentile of the response times, ms. */
  readonly p99: number;
}

/** Sends a request so many times over so many connections. Throws when an answer has another status. */
export async function load(
  server: AskedServer,
  request: Repeated,
  { requests, connections }: { readonly requests: number; readonly connections: number },
): Promise<LoadFigures> {
  const durations: number[] = [];
  const { method, target, headers, body, status = 200 } = request;
  const { used } = await usedBy(server.pid, async () => {
    let left = requests;
    await Promise.all(Array.from({ length: connections }, async () => {
      const connection = new HttpConnection(server.origin);
      while (left-- > 0) {
        const start = performance.now();
        const answer = await connection.request(method, target, headers, body);
        durations.push(performance.now() - start);
        if (answer.status !== status) {
          throw new Error(`${server.name}: ${method} ${target} was answered with ${answer.status}`);
        }
      }
      connection.close();
    }));
  });
  return { cpuMs: (used?.cpuSeconds ?? NaN) * 1000 / requests, p99: percentile(durations, 0.99) };
}

/** Runs all subjects in turn, {@link ROUNDS} times after one round to warm up, and gives the figures of each. */
export async function inTurns<S, F>(
  subjects: readonly S[],
  measure: (subject: S, warming: boolean) => Promise<F>,
  rounds = ROUNDS,
): Promise<F[][]> {
  for (const subject of subjects) await measure(subject, true);
  const figures: F[][] = subjects.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) figures[index].push(await measure(subject, false));
  }
  return figures;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
