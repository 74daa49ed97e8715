import { connect } from "node:net";

/** A client that sends what it is given and then nothing more. */
export interface SlowClient extends Disposable {
  /** Resolves with the status of the answer. */
  readonly status: Promise<number>;
}

/** Opens a connection and sends the beginning of a request. */
export function slowClient(origin: string, text: string): SlowClient {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.on("error", () => {});
  const status = new Promise<number>((resolve) =>
    socket.once("data", (data) => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1])))
  );
  socket.write(text);
  return { status, [Symbol.dispose]: () => socket.destroy() };
}

/** The beginning of a request with a body. */
export function head(method: string, path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
