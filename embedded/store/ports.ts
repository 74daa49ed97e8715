import { DataFolderError } from "@/lib/std/start_errors.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";
import type { HostHandler, HttpHost, RunningServer } from "@/lib/std/http_host.ts";
import { isObject, parsedJson } from "@/lib/std/untrusted.ts";
import { folded } from "./names.ts";

/** Ports are chosen from this range, below the ephemeral ports of outgoing connections. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** One after the other: two processes seldom get the same one, also where one of them restarts its store. */
let nextPort = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));

/** How many ports are tried for one that is free. */
const ATTEMPTS = 500;

/** The two protocols of a level. */
export type Protocol = "s3" | "mapi";

/** A server of one protocol of a level. */
interface PortServer {
  /** A tenant's folded name; `""` for the system level. */
  readonly level: string;
  readonly protocol: Protocol;
  readonly hostname: string;
  readonly handler: HostHandler;
  /** Handles requests while the server drains. */
  readonly refuse: HostHandler;
}

/**
 * The ports of the store, one for each protocol and level, stored in the data folder: a presigned URL contains its
 * port, and has to work after a restart.
 */
export class Ports {
  readonly #path: string;
  readonly #ports: Record<string, number>;

  constructor(folder: string, private readonly http: HttpHost) {
    this.#path = `${folder}/ports.json`;
    this.#ports = readPorts(this.#path);
  }

  /**
   * Listens on the port of a level, which is chosen and stored the first time.
   *
   * @throws {DataFolderError} when the stored port is in use
   */
  listen(server: PortServer): RunningServer {
    const { level, protocol, hostname } = server;
    const name = `${protocol} ${level}`.trimEnd();
    const stored = this.#ports[name];
    if (stored !== undefined) {
      const running = this.#tryListen(server, stored);
      if (running) return running;
      throw new DataFolderError(
        `Port ${stored} of the embedded store (${name}) is taken: stop the program that holds it, or delete ${this.#path} to have new ports given out (shared links made before then stop working).`,
      );
    }
    const used = new Set(Object.values(this.#ports));
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const port = nextPort;
      nextPort = port >= LAST_PORT ? FIRST_PORT : port + 1;
      if (used.has(port)) continue;
      const running = this.#tryListen(server, port);
      if (!running) continue;
      this.#ports[name] = port;
      writeDurably(this.#path, new TextEncoder().encode(`${JSON.stringify(this.#ports, null, 2)}\n`));
      return running;
    }
    throw new DataFolderError(`No free port was found for the embedded store on ${hostname}: set EMBEDDED_HOST.`);
  }

  #tryListen({ hostname, handler, refuse }: PortServer, port: number): RunningServer | null {
    try {
      return this.http.listen({ hostname, port }, handler, refuse);
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse || error instanceof Deno.errors.PermissionDenied) return null;
      const reason = error instanceof Error ? error.message : String(error);
      throw new DataFolderError(`EMBEDDED_HOST: ${hostname} cannot be listened on (${reason}): set it to 127.0.0.1`);
    }
  }
}

/**
 * The stored ports by protocol and level; none where there is no file.
 *
 * @throws {DataFolderError} when it is damaged
 */
export function readPorts(path: string): Record<string, number> {
  const text = textIfExists(path);
  if (text === null) return {};
  const ports = parsedJson(text);
  if (isPorts(ports)) return { ...ports };
  throw new DataFolderError(`The file ${path} is damaged: delete it to have new ports given out.`);
}

function isPorts(value: unknown): value is Readonly<Record<string, number>> {
  return isObject(value) &&
    Object.values(value).every((port) => Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535);
}

/** Placeholder of the tenant's name in the template of a public origin. */
const TENANT = "{tenant}";
/** A label that takes its place where the template is read as a URL. */
const STAND_IN = "tenant-of-the-request";

/** The public origin of a tenant's S3; null without a template. */
export function publicOrigin(template: string | null, tenant: string): string | null {
  return template?.replaceAll(TENANT, folded(tenant)) ?? null;
}

/**
 * Finds the tenant whose public name a `Host` header carries.
 *
 * @param template an origin whose host name has `{tenant}` in it once; null: no tenant has a public name
 * @returns the folded name of a tenant that may exist; null for any other host
 */
export function publicTenant(template: string | null): (host: string | null) => string | null {
  const name = template === null ? "" : new URL(template.replaceAll(TENANT, STAND_IN)).hostname;
  const [before, after] = name.split(STAND_IN);
  if (after === undefined) return () => null;
  return (host) => {
    const given = host?.replace(/:[0-9]*$/, "").toLowerCase() ?? "";
    const tenant = given.slice(before.length, given.length - after.length);
    return given === `${before}${tenant}${after}` && /^[a-z0-9-]+$/.test(tenant) ? tenant : null;
  };
}
