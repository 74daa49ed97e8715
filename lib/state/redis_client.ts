import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { Redis } from "ioredis";
import { HttpError, unavailable } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/request_context.ts";
import { tlsTrust } from "@/lib/http/upstream.ts";
import { atMostEvery } from "@/lib/std/timing.ts";
import { endsWithin } from "@/lib/std/body_reader.ts";
import { errorReason } from "@/lib/std/text.ts";

/** Prefix of all keys of the project in Redis. */
export const REDIS_PREFIX = "stackroom:";

/** Until a connection stands, and until a command has its reply, ms. */
const TIMEOUT_MS = 5000;
/** A probe waits no longer than this, because its caller (a kubelet) waits for a second, ms. */
const PROBE_TIMEOUT_MS = 500;
/** Until a connection is cut that the server does not close, ms. */
const DISCONNECT_TIMEOUT_MS = 500;
const MAX_RECONNECT_DELAY_MS = 2000;
const RETRY_AFTER_SECONDS = 5;
/** A server that rejects commands is reported no more often than this, ms. */
const REJECTION_INTERVAL_MS = 60_000;
const DEFAULT_PORT = 6379;

const UNREACHABLE = "The shared state of the gateway (Redis) is not reachable: try again soon";
const FULL = "The shared state of the gateway (Redis) is full: try again when tasks have ended, or give it more memory";
const DAMAGED = "The shared state of the gateway (Redis) holds a value that is not of this version or damaged";

/** Errors of a server that cannot do its work at the moment, or may not do it for this user. */
const NOT_NOW =
  /^(?:LOADING|READONLY|MISCONF|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|NOAUTH|WRONGPASS|NOPERM|MOVED|ASK)\b/;

export interface RedisSettings {
  /** `redis://` or `rediss://` (TLS), with user, password and database number as far as there are any. */
  readonly url: string;
  /** Authorities that may have signed the server's certificate, as PEM, besides those of the runtime. */
  readonly caCerts?: readonly string[];
  /**
   * Receives a line for the operator when the connection is lost, one when it is back, and one a minute while the
   * server rejects commands.
   */
  readonly warn: (line: string) => void;
  /** False where another connection of the process to the same server reports its outages; true when absent. */
  readonly reportsOutages?: boolean;
  /** Until a connection stands, and until a command has its reply, ms; 5 s when absent. */
  readonly timeoutMs?: number;
}

/** A script in Lua; the server caches it by its digest. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

export type RedisArgument = string | number | Uint8Array;

/** A reply: texts are bytes, a missing value is null. */
export type RedisReply = Uint8Array | number | null | readonly RedisReply[];

export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * The one connection of a process to Redis or Valkey. It connects again by itself, for ever. While there is none,
 * commands fail at once instead of waiting in a queue.
 *
 * All commands throw HttpError: 503 with Retry-After where the server is not reachable, does not reply in time or
 * cannot do its work at the moment; 507 where its memory is full; 500 for any other error reply.
 */
export class RedisClient {
  readonly #redis: Redis;
  /** Host and port, for the operator. */
  readonly #address: string;
  /** Whether an attempt to connect has failed since the last connection. Before it, commands wait for the connection. */
  #isDown = false;
  /** Whether the line of a lost connection was written, and that of its return was not. */
  #isReported = false;
  /** Why the connection cannot be used, although it stands; null where it can. */
  #unusable: string | null = null;
  #lastError = "the server closed it";
  readonly #mayReportRejection = atMostEvery(REJECTION_INTERVAL_MS);
  #isClosed = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly settings: RedisSettings) {
    const { url, caCerts, timeoutMs = TIMEOUT_MS } = settings;
    const { protocol, hostname, port, username, password, pathname } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, "");
    this.#address = `${hostname}:${port || DEFAULT_PORT}`;
    const secure = { ...tlsTrust(caCerts), servername: isIP(host) ? undefined : host };
    this.#redis = new Redis({
      host,
      port: Number(port || DEFAULT_PORT),
      family: 0,
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      db: Number(pathname.slice(1)),
      // Every server and proxy supports it, and nothing here needs version 3.
      protocol: 2,
      disableClientInfo: true,
      tls: protocol === "rediss:" ? secure : undefined,
      lazyConnect: true,
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      keepAlive: 30_000,
      // A command whose reply was lost is not sent again: whether it was carried out is for the caller to find out.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_DELAY_MS),
    });
    this.#follow();
    this.#connect();
  }

  /** Sends a command. */
  async command(name: string, ...args: readonly RedisArgument[]): Promise<RedisReply> {
    await this.#connected();
    try {
      return await this.#redis.callBuffer(name, ...args.map(asArgument)) as RedisReply;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Runs a script. The server runs it whole, and no other command meanwhile. */
  async run({ text, sha1 }: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<RedisReply> {
    const words = [keys.length, ...keys, ...args].map(asArgument);
    await this.#connected();
    try {
      return await this.#redis.callBuffer("EVALSHA", sha1, ...words) as RedisReply;
    } catch (error) {
      if (!errorReason(error).startsWith("NOSCRIPT")) throw this.#failure(error);
    }
    return await this.command("EVAL", text, ...words);
  }

  /** Whether the server replies to a command now, known within half a second. */
  async isReachable(): Promise<boolean> {
    if (this.#redis.status !== "ready") return false;
    const probe = this.command("PING").then(() => true, () => false);
    return await endsWithin(PROBE_TIMEOUT_MS, probe) && await probe;
  }

  /** Closes the connection; commands without a reply fail. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const isEnded = this.#redis.status === "end" || this.#redis.status === "reconnecting";
    const ended = new Promise((resolve) => this.#redis.once("end", resolve));
    this.#redis.disconnect();
    if (!isEnded) await ended;
  }

  /** Without a listener for `error`, the package writes its own line for each failed attempt. */
  #follow(): void {
    this.#redis.on("error", (error: Error & { command?: { name: string } }) => {
      this.#lastError = errorReason(error);
      // The database of the URL cannot be used: nothing may be written to another one.
      if (error.command?.name !== "select") return;
      this.#unusable = this.#lastError;
      this.#report("cannot be used");
    });
    this.#redis.on("connect", () => this.#unusable = null);
    let wasReady = false;
    this.#redis.on("ready", () => {
      wasReady = true;
      this.#isDown = false;
      if (this.#isReported && this.#unusable === null) {
        this.#isReported = false;
        this.settings.warn(`Redis at ${this.#address}: the connection is back`);
      }
      this.#lastError = "the server closed it";
    });
    this.#redis.on("close", () => {
      this.#isDown = !wasReady;
      if (!this.#isClosed) this.#report(wasReady ? "the connection is lost" : "not reachable");
      wasReady = false;
    });
    // The package gives up where the runtime does not even try to connect.
    this.#redis.on("end", () => {
      if (this.#isClosed) return;
      this.#isDown = true;
      this.#report("not reachable");
      this.#retry = setTimeout(() => this.#connect(), MAX_RECONNECT_DELAY_MS);
    });
  }

  #connect(): void {
    this.#redis.connect().catch(() => {
      // The events of the connection report it.
    });
  }

  #report(what: string): void {
    if (this.#isReported || this.settings.reportsOutages === false) return;
    this.#isReported = true;
    this.settings.warn(`Redis at ${this.#address}: ${what} (${redactText(this.#lastError)}); connecting again`);
  }

  /** Waits for a connection that is being opened, but for none that has failed. */
  async #connected(): Promise<void> {
    const redis = this.#redis;
    if (redis.status === "ready" && this.#unusable === null) return;
    if (this.#isClosed || this.#isDown || this.#unusable !== null) throw unreachable();
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        for (const event of ["ready", "close", "end"]) redis.off(event, settle);
        if (redis.status === "ready" && this.#unusable === null) resolve();
        else reject(unreachable());
      };
      const timer = setTimeout(settle, this.settings.timeoutMs ?? TIMEOUT_MS);
      for (const event of ["ready", "close", "end"]) redis.on(event, settle);
    });
  }

  /** The error for the caller: the package's errors contain the arguments of the command. */
  #failure(error: unknown): HttpError {
    const message = errorReason(error);
    if (!(error instanceof Error) || error.name !== "ReplyError") {
      // A server that does not reply is left, so that what waits for it ends and a new connection is tried.
      if (message === "Command timed out") this.#redis.disconnect(true);
      return unreachable();
    }
    const isFull = /\bOOM\b/.test(message);
    if (!isFull && !NOT_NOW.test(message)) {
      return new HttpError(500, DAMAGED, { cause: new Error(redactText(message)) });
    }
    if (this.#mayReportRejection()) {
      this.settings.warn(`Redis at ${this.#address}: commands are rejected (${redactText(message)})`);
      // A server that has become a replica: its name may lead to another one by now.
      if (message.startsWith("READONLY")) this.#redis.disconnect(true);
    }
    return isFull ? new HttpError(507, FULL) : unreachable();
  }
}

function unreachable(): HttpError {
  return unavailable(UNREACHABLE, RETRY_AFTER_SECONDS);
}

function asArgument(argument: RedisArgument): string | number | Buffer {
  return argument instanceof Uint8Array ? Buffer.from(argument.buffer, argument.byteOffset, argument.length) : argument;
}
