import { Buffer } from "node:buffer";
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { pid } from "node:process";
import { ForwardQueue } from "./forward_queue.ts";
import type { SealedRecord } from "./sink.ts";

/** Facility 13 is that of audit logs (RFC 5424, section 6.2.1). */
const FACILITY = 13;
const NOTICE = 5;
const WARNING = 4;
/** Records that wait for the server, and their characters: 128 MiB at worst, as for the disks. */
const MAX_RECORDS = 20_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;
const BATCH_RECORDS = 100;
/** How long a connection may take to open, or to take a batch, ms. */
const SEND_MS = 10_000;

/** Where syslog messages go. */
interface SyslogAddress {
  readonly protocol: "udp" | "tcp" | "tls";
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

interface SyslogOptions {
  readonly address: SyslogAddress;
  /** Further authorities for TLS, as PEM text. */
  readonly caCerts?: string[];
  readonly warn: (line: string) => void;
}

/**
 * Sends records to a syslog server: RFC 5424 messages whose text is the record as JSON, over UDP, or over TCP or TLS with
 * their lengths in front (RFC 6587, section 3.4.1; RFC 5425). The protocol confirms nothing: what a server had not read
 * when its connection broke is lost.
 */
export function syslogSink({ address, caCerts, warn }: SyslogOptions): ForwardQueue {
  const transport = address.protocol === "udp" ? new Datagrams(address) : new Frames(address, caCerts);
  return new ForwardQueue({
    name: "syslog",
    maxRecords: MAX_RECORDS,
    maxCharacters: MAX_CHARACTERS,
    batchRecords: BATCH_RECORDS,
    lingerMs: 0,
    send: (records, signal) => transport.send(records.map(syslogMessage), signal),
    warn,
  });
}

/** A record as a message of RFC 5424: facility 13, severity notice, or warning for what did not succeed. */
export function syslogMessage({ record, line }: Pick<SealedRecord, "record" | "line">): Uint8Array {
  const priority = FACILITY * 8 + (record.result === "succeeded" ? NOTICE : WARNING);
  const header = `<${priority}>1 ${record.time} - stackroom ${pid} ${record.action} -`;
  return Buffer.from(`${header} \ufeff${line}`);
}

interface Transport {
  /** @throws what kept the messages from being written */
  send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
}

class Datagrams implements Transport {
  readonly #address: SyslogAddress;

  constructor(address: SyslogAddress) {
    this.#address = address;
  }

  async send(messages: readonly Uint8Array[]): Promise<void> {
    const { host, port } = this.#address;
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    try {
      for (const message of messages) await sendTo(socket, message, port, host);
    } finally {
      socket.close();
    }
  }
}

function sendTo(socket: Socket, message: Uint8Array, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.send(message, port, host, (error) => {
      socket.off("error", reject);
      if (error) reject(error);
      else resolve();
    });
  });
}

class Frames implements Transport {
  readonly #address: SyslogAddress;
  readonly #caCerts: string[] | undefined;
  #connection: Deno.Conn | null = null;

  constructor(address: SyslogAddress, caCerts: string[] | undefined) {
    this.#address = address;
    this.#caCerts = caCerts;
  }

  async send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]);
    const end = () => this.#end();
    try {
      const connection = this.#connection ?? await this.#connected(bounded);
      bounded.addEventListener("abort", end, { once: true });
      const bytes = Buffer.concat(messages.flatMap((message) => [Buffer.from(`${message.length} `), message]));
      for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      bounded.removeEventListener("abort", end);
    }
  }

  async #connected(signal: AbortSignal): Promise<Deno.Conn> {
    const { protocol, host: hostname, port } = this.#address;
    const connecting = protocol === "tls"
      ? Deno.connectTls({ hostname, port, caCerts: this.#caCerts })
      : Deno.connect({ hostname, port });
    const connection = await within(connecting, signal);
    this.#connection = connection;
    void this.#watch(connection);
    return connection;
  }

  /** The server sends nothing; that it has left shows here, so that the next records do not go to a closed connection. */
  async #watch(connection: Deno.Conn): Promise<void> {
    const bytes = new Uint8Array(1024);
    try {
      while (await connection.read(bytes) !== null);
    } catch {
      // The connection is closed below, however it ended.
    }
    if (this.#connection === connection) this.#end();
  }

  #end(): void {
    try {
      this.#connection?.close();
    } catch {
      // It is closed already.
    }
    this.#connection = null;
  }
}

/** A connection, unless the signal aborts before it is there. */
async function within(connecting: Promise<Deno.Conn>, signal: AbortSignal): Promise<Deno.Conn> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([connecting, promise]);
  } catch (error) {
    connecting.then((connection) => connection.close(), () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
