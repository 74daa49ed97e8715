import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { connect } from "node:net";
import { listen } from "@/lib/process/listener.ts";

/** A request as the handler of a server has seen it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly host: string;
  /** Latin-1; null: it never ended. */
  body: string | null;
}

/** What came of the bytes of one connection. */
export interface Exchange {
  readonly seen: readonly SeenRequest[];
  /** All that the server sent, Latin-1. */
  readonly answer: string;
}

/** A server that records what its handler sees. */
export interface RecordingServer {
  exchange(bytes: string, idleMs: number): Promise<Exchange>;
  close(): Promise<void>;
}

/** The longest that a connection may take, ms. */
const TOTAL_MS = 10_000;
const BODY = "seen";

/** Node's server, whose parser is another one than that of ours. */
export async function oracleServer(): Promise<RecordingServer> {
  const seen = new Map<number, SeenRequest[]>();
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const target = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "") || "/";
    const record = {
      method: request.method ?? "",
      target,
      host: request.headers.host ?? "",
      body: null as string | null,
    };
    seen.get(request.socket.remotePort ?? 0)?.push(record);
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      record.body = Buffer.concat(chunks).toString("latin1");
      response.end(BODY);
    });
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    exchange: (bytes, idleMs) => exchanged(port, bytes, idleMs, seen),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/**
 * Ours, as roles and embedded servers listen.
 *
 * @param reads whether the handler reads bodies; otherwise it responds at once, as to a request that it refuses
 */
export function ownServer(reads: boolean): RecordingServer {
  const seen = new Map<number, SeenRequest[]>();
  const nothing = () => new Response(null, { status: 503 });
  const connections = { max: 10_000, maxPerAddress: null, headMs: TOTAL_MS, idleMs: TOTAL_MS };
  const listener = listen({ host: "127.0.0.1", port: 0, connections }, { starting: nothing, stopping: nothing });
  listener.answerWith(async (request, { remoteAddr }) => {
    const url = request.url;
    const start = url.indexOf("/", url.indexOf("://") + 3);
    const host = request.headers.get("Host") ?? "";
    const record = {
      method: request.method,
      target: start < 0 ? "/" : url.slice(start),
      host,
      body: null as string | null,
    };
    seen.get(remoteAddr.port)?.push(record);
    const bytes = reads ? await request.bytes().catch(() => null) : null;
    if (bytes) record.body = Buffer.from(bytes).toString("latin1");
    return new Response(BODY);
  });
  return {
    exchange: (bytes, idleMs) => exchanged(listener.port, bytes, idleMs, seen),
    close: () => listener.drain(),
  };
}

/**
 * Sends bytes on a connection of their own, and ends the sending once nothing has come back for a while: servers wait for
 * the rest of what has no end.
 */
export function exchanged(
  port: number,
  bytes: string,
  idleMs: number,
  seen = new Map<number, SeenRequest[]>(),
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const socket = connect(port, "127.0.0.1");
  const records: SeenRequest[] = [];
  let answer = "";
  let isEnded = false;
  socket.once("connect", () => {
    seen.set(socket.localPort ?? 0, records);
    socket.write(bytes, "latin1");
  });
  const own = () => socket.localPort ?? 0;
  let key = 0;
  socket.once("connect", () => key = own());
  socket.on("data", (chunk: Uint8Array) => answer += Buffer.from(chunk).toString("latin1"));
  socket.setTimeout(idleMs, () => {
    if (isEnded) return void socket.destroy();
    isEnded = true;
    socket.end();
  });
  socket.on("error", () => {});
  const total = setTimeout(() => socket.destroy(), TOTAL_MS);
  socket.once("close", () => {
    clearTimeout(total);
    seen.delete(key);
    resolve({ seen: records, answer });
  });
  return promise;
}
