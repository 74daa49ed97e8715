import { connect } from "node:net";
import { sleep } from "@/lib/std/timing.ts";

/** Facts about the application that attackers get. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** The address that attackers come from. */
  readonly localAddress: string;
}

/** Counts by outcome: a status, or `closed` if the connection ended without one. */
export type Tally = Record<string, number>;

/** An attack: it goes on until it is told to stop, and counts what it gets. */
export interface Attack {
  readonly name: string;
  run(target: Target, stop: AbortSignal, got: Tally): Promise<void>;
}

/** Delay before an attack that holds resources retries, ms: a flood of connections is another attack. */
export const PATIENT_MS = 5000;
/** In which the first connections of an attack are opened, ms: all in the same moment would be a flood as well. */
const RAMP_MS = 1000;

export interface Hold {
  readonly count: number;
  /** Delay before a closed connection is replaced, ms. */
  readonly againMs: number;
  /** Whether nothing of the answers is read; then a connection ends when the server ends it. */
  readonly isDeaf?: boolean;
}

/**
 * Holds so many connections open at once, each with what `text` gives it; one that is answered or closed is followed by
 * another, `againMs` later.
 */
export async function holdConnections(
  target: Target,
  { count, againMs, isDeaf = false }: Hold,
  text: () => string,
  stop: AbortSignal,
  got: Tally,
): Promise<void> {
  const hold = async () => {
    while (!stop.aborted) {
      const outcome = await outcomeOf(target, { text: text(), isDeaf }, stop);
      if (outcome !== null) got[outcome] = (got[outcome] ?? 0) + 1;
      await sleep(againMs, stop);
    }
  };
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await sleep(RAMP_MS * n / count, stop);
      await hold();
    }),
  );
}

/** Opens a connection and sends the text: the status of the answer, or that it was closed; null when told to stop first. */
function outcomeOf(
  { host, port, localAddress }: Target,
  { text, isDeaf }: { readonly text: string; readonly isDeaf: boolean },
  stop: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress });
    const end = (outcome: string | null) => {
      stop.removeEventListener("abort", leave);
      socket.destroy();
      resolve(outcome);
    };
    const leave = () => end(null);
    stop.addEventListener("abort", leave, { once: true });
    socket.on("error", () => end("closed"));
    socket.on("close", () => end("closed"));
    if (!isDeaf) {
      socket.once("data", (data) => end(/^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1] ?? "nonsense"));
    }
    socket.write(text);
  });
}

/** The head of a request. */
export function head(method: string, path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`;
}

let invented = 0;

/** A bearer token for a password that was never set. Each call asks for another one, as a login checks nothing. */
export async function inventedToken({ host, port }: Target, username?: string): Promise<string> {
  const name = username ?? `archive/nobody${invented}`;
  const response = await fetch(`http://${host}:${port}/api/v1/auth/token`, {
    method: "POST",
    body: new URLSearchParams({ username: name, password: `invented${invented++}` }),
  });
  const { access_token } = await response.json();
  return access_token;
}

/** Tokens that are created before the attack starts. */
export async function inventedTokens(target: Target, count: number, username?: string): Promise<() => string> {
  const tokens: string[] = [];
  while (tokens.length < count) tokens.push(await inventedToken(target, username));
  let next = 0;
  return () => tokens[next++ % tokens.length];
}
