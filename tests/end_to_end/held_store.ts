import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request to the store. */
export interface StoreRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
}

/**
 * What becomes of a request: it is held back before the store gets it, or its response after the store has done it, or its
 * connection is cut as by a store that is away.
 */
type Hold = (request: StoreRequest) => "request" | "response" | "cut" | null;

/** An S3 server as clients see it, behind a proxy with which a test holds requests or responses back. */
export class HeldStore implements AsyncDisposable {
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  readonly #sockets = new Set<Socket>();
  #hold: Hold = () => null;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param target origin of the S3 server */
  static async start(target: string): Promise<HeldStore> {
    const server = createServer();
    const store = new HeldStore(server);
    server.on("connection", (socket) => {
      store.#sockets.add(socket);
      socket.on("close", () => store.#sockets.delete(socket));
    });
    server.on("request", (from, to) => store.#pass(target, from, to));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return store;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many requests and responses are held back. */
  get held(): number {
    return this.#waiting.size;
  }

  /** Decides about the requests from now on. */
  hold(hold: Hold): void {
    this.#hold = hold;
  }

  /** Cuts all connections, with what is held back on them. The next requests come on new ones. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /** Lets go what is held back, and holds back nothing more. */
  release(): void {
    this.#hold = () => null;
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(target: string, from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", rawHeaders } = from;
    const held = this.#hold({ method, path });
    if (held === "cut") return void from.socket.destroy();
    if (held === "request") await this.#released();
    if (from.destroyed) return;
    // The headers as they came, with `Host`: they are signed.
    const options = { method, path, headers: rawHeaders, setHost: false, agent: false } as const;
    const forwarded = request(target, options, async (response) => {
      if (held === "response") await this.#released();
      to.writeHead(response.statusCode ?? 502, response.rawHeaders);
      response.pipe(to);
    });
    forwarded.on("error", () => to.destroy());
    to.on("close", () => forwarded.destroy());
    from.pipe(forwarded);
  }

  #released(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
