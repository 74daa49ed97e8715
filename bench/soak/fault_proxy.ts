/** Faults between the application and a server that it uses. */
export const FAULTS = ["latency", "reset", "5xx", "cut"] as const;
export type Fault = (typeof FAULTS)[number];

const LOOPBACK = "127.0.0.1";
/** Share of requests that a fault affects. */
const SHARE = 0.1;
const LATENCY_MS = 400;
/** The part of a truncated response that is sent. */
const CUT_AFTER_BYTES = 700;
/** Matches the request line; a body that looks like one only causes more faults. */
const REQUEST = /^(?:GET|HEAD|PUT|POST|DELETE|PATCH) \//;
const UNAVAILABLE = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/** A proxy of TCP connections that has the requests on them meet faults. */
export class FaultProxy implements AsyncDisposable {
  /** The current fault; null: none. */
  fault: Fault | null = null;
  /** Affected requests by fault. */
  readonly met: Record<Fault, number> = { latency: 0, reset: 0, "5xx": 0, cut: 0 };
  readonly #listener = Deno.listen({ hostname: LOOPBACK, port: 0 });
  readonly #port: number;
  readonly #open = new Set<Deno.Conn>();
  readonly #ended: Promise<void>;

  /** @param port of the server, on loopback */
  constructor(port: number) {
    this.#port = port;
    this.#ended = this.#accept();
  }

  /** The loopback port that it listens on. */
  get port(): number {
    return this.#listener.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#ended;
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) this.#serve(client).catch(() => {});
  }

  async #serve(client: Deno.Conn): Promise<void> {
    this.#open.add(client);
    const server = await Deno.connect({ hostname: LOOPBACK, port: this.#port }).catch(() => null);
    if (server === null) {
      this.#open.delete(client);
      return close(client);
    }
    this.#open.add(server);
    const connection = { isCut: false };
    const end = () => {
      for (const one of [client, server]) {
        this.#open.delete(one);
        close(one);
      }
    };
    const requests = this.#passRequests(client, server, connection);
    const responses = passResponses(server, client, connection);
    // An end of the requests alone is no end of the response.
    requests.then((isOver) => isOver && end(), end);
    await responses.catch(() => {}).finally(end);
  }

  /** @returns whether the connection is over */
  async #passRequests(client: Deno.Conn, server: Deno.Conn, connection: { isCut: boolean }): Promise<boolean> {
    const buffer = new Uint8Array(64 * 1024);
    for (;;) {
      const read = await client.read(buffer);
      if (read === null) {
        await (server as Deno.TcpConn).closeWrite();
        return false;
      }
      const sent = buffer.subarray(0, read);
      const fault = this.#next(sent);
      if (fault === "reset") return true;
      if (fault === "5xx") {
        await writeAll(client, new TextEncoder().encode(UNAVAILABLE));
        return true;
      }
      if (fault === "latency") await new Promise((resolve) => setTimeout(resolve, LATENCY_MS));
      if (fault === "cut") connection.isCut = true;
      await writeAll(server, sent);
    }
  }

  #next(sent: Uint8Array): Fault | null {
    if (this.fault === null || Math.random() >= SHARE) return null;
    if (!REQUEST.test(new TextDecoder().decode(sent.subarray(0, 16)))) return null;
    this.met[this.fault]++;
    return this.fault;
  }
}

async function passResponses(server: Deno.Conn, client: Deno.Conn, connection: { isCut: boolean }): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let read = await server.read(buffer); read !== null; read = await server.read(buffer)) {
    const received = buffer.subarray(0, read);
    if (!connection.isCut) await writeAll(client, received);
    else return await writeAll(client, received.subarray(0, Math.min(CUT_AFTER_BYTES, read - 1)));
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
