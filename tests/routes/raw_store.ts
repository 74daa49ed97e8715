import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import type { StoreAddresses } from "@/lib/std/store_addresses.ts";
import { addressesAt } from "./gateway_fixture.ts";

/** A store that speaks whatever bytes a test wants, after the headers of a request have come. */
export interface RawStore extends AsyncDisposable {
  readonly addresses: StoreAddresses;
  /** Resolves with the text of the next request's head. */
  next(): Promise<string>;
  /** Resolves when so many connections of the gateway have ended. */
  closed(count: number): Promise<void>;
}

/** Starts one; `speak` gets the socket when a request's head has come. */
export async function rawStore(speak: (socket: Socket, head: string) => void): Promise<RawStore> {
  const sockets = new Set<Socket>();
  const waiting: ((head: string) => void)[] = [];
  const watching: { readonly count: number; readonly tell: () => void }[] = [];
  let closedCount = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    let spoken = false;
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      closedCount++;
      watching.filter(({ count }) => closedCount >= count).forEach(({ tell }) => tell());
    });
    socket.on("data", (data) => {
      if (spoken) return;
      text += data.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      spoken = true;
      const head = text.slice(0, end);
      waiting.shift()?.(head);
      speak(socket, head);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return {
    addresses: addressesAt(`http://127.0.0.1:${address.port}`),
    next: () => new Promise((resolve) => waiting.push(resolve)),
    closed: (count) =>
      closedCount >= count ? Promise.resolve() : new Promise((resolve) => watching.push({ count, tell: resolve })),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Sends bytes to a server as they are; resolves with all that came back once the server or `enough` ends it. */
export function rawExchange(origin: string, text: string, enough: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.on("connect", () => socket.write(text));
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      if (enough.test(answer)) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}
