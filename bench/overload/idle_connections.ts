const HEAD = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/** Opened at a time: a listener's queue is short. */
const AT_ONCE = 100;

/** Connections that have had a response and wait, as those of browsers and proxies do. */
export class IdleConnections implements Disposable {
  readonly #connections: Deno.TcpConn[];

  private constructor(connections: Deno.TcpConn[]) {
    this.#connections = connections;
  }

  /** @throws where one of them gets no response */
  static async open(site: string, count: number): Promise<IdleConnections> {
    const { hostname, port } = new URL(site);
    const connections: Deno.TcpConn[] = [];
    while (connections.length < count) {
      const wanted = Math.min(AT_ONCE, count - connections.length);
      connections.push(...await Promise.all(Array.from({ length: wanted }, () => served(hostname, Number(port)))));
    }
    return new IdleConnections(connections);
  }

  /** Number of connections that still serve a request. */
  async serving(): Promise<number> {
    let count = 0;
    for (const connection of this.#connections) count += await request(connection).then(() => 1, () => 0);
    return count;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections.splice(0)) connection.close();
  }
}

async function served(hostname: string, port: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname, port });
  await request(connection);
  return connection;
}

async function request(connection: Deno.TcpConn): Promise<void> {
  await connection.write(new TextEncoder().encode(HEAD));
  const buffer = new Uint8Array(4096);
  const read = await connection.read(buffer);
  const text = new TextDecoder().decode(buffer.subarray(0, read ?? 0));
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(`an idle connection got: ${text.split("\r\n", 1)[0]}`);
}
