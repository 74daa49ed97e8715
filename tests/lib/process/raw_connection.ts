import assert from "node:assert/strict";

/** Connects to a server on loopback and sends a text. */
export async function open({ port }: { readonly port: number }, text: string): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  return connection;
}

/** What comes until it ends as expected, or the other side ends the connection. */
export async function readTo(connection: Deno.TcpConn, end: RegExp): Promise<string> {
  const chunk = new Uint8Array(1024);
  let text = "";
  while (!end.test(text)) {
    const length = await connection.read(chunk);
    assert.ok(length !== null, `it ended after ${JSON.stringify(text)}`);
    text += new TextDecoder("latin1").decode(chunk.subarray(0, length));
  }
  return text;
}

/** All that comes until the other side ends the connection. */
export async function text(connection: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder("latin1");
  const chunk = new Uint8Array(64 * 1024);
  let text = "";
  try {
    for (let length; (length = await connection.read(chunk)) !== null;) {
      text += decoder.decode(chunk.subarray(0, length));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionReset) && !(error instanceof Deno.errors.BadResource)) throw error;
  }
  try {
    connection.close();
  } catch {
    // It was closed before.
  }
  return text;
}
