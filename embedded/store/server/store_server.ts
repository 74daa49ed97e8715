import type { StoreReports } from "@/embedded/store/changes.ts";
import { Logins, Maintenance, ReadCounter, type StoreContext } from "@/embedded/store/context/store_context.ts";
import { AUDIT_END, type Document, Documents } from "@/embedded/store/documents.ts";
import { Uploads } from "@/embedded/store/entry_pages.ts";
import { openIndexForReading } from "@/embedded/store/index.ts";
import type { mapiHandler } from "@/embedded/store/mapi/mapi_server.ts";
import { folded } from "@/embedded/store/names.ts";
import { Ports, type Protocol, publicTenant } from "@/embedded/store/ports.ts";
import { errorHandler, s3Handler } from "@/embedded/store/s3/s3_server.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { Accounts, passwordMd5, type Tenant } from "@/embedded/store/stored_accounts.ts";
import { Buckets, SoftQuotas } from "@/embedded/store/stored_buckets.ts";
import { Objects } from "@/embedded/store/stored_objects.ts";
import { WriterClient } from "@/embedded/store/writer/writer_client.ts";
import {
  type HostHandler,
  type HttpHost,
  LOOPBACK_NAMES,
  requestedHost,
  type RunningServer,
  urlHost,
} from "@/lib/std/http_host.ts";
import { requestMarks } from "@/lib/std/store_addresses.ts";
import { addAdministrators, addSamples, type Administrators, SAMPLE_PASSWORD } from "./sample_data.ts";

export interface StoreServerOptions {
  /** The data folder, locked by the caller. */
  folder: string;
  /** The address that the servers listen on. */
  hostname: string;
  /** The first accounts of a new folder. */
  accounts:
    /** With the password of the account that campaigns write their results with. */
    | { samples: { converterPassword: string } }
    | { administrators: Administrators };
  /** The key of the marks in which the gateway names the client of a request; null: no gateway. */
  markKey: Uint8Array | null;
  /** The origin under which a proxy makes the S3 of a tenant public, with `{tenant}` for its name; null: none. */
  publicEndpoint: string | null;
}

/** Where one level of the store is reached: origins without a trailing slash. */
export interface LevelAddress {
  s3: string;
  mapi: string;
}

/**
 * The embedded store: a server for each protocol and tenant over one data folder. With sample accounts, whose password
 * is public, or where no client elsewhere may reach it, it accepts only requests whose Host is a loopback name, so
 * that a page elsewhere cannot reach it through DNS rebinding.
 */
export class StoreServer {
  readonly #levels = new Map<string, LevelAddress>();
  /** The S3 of each tenant, by its folded name. */
  readonly #s3 = new Map<string, AddressedHandler>();
  readonly #origins = new Set<string>();
  readonly #servers: RunningServer[] = [];

  private constructor(
    private readonly options: StoreServerOptions,
    private readonly context: StoreContext,
    private readonly ports: Ports,
    private readonly close: () => Promise<void>,
  ) {}

  /**
   * Opens the folder, adds the first accounts at its first start, and listens. `writerPort` is the port of the thread
   * that commits.
   *
   * @throws {DataFolderError}
   */
  static async start(
    options: StoreServerOptions,
    writerPort: MessagePort,
    reports: StoreReports,
    http: HttpHost,
  ): Promise<StoreServer> {
    const writer = await WriterClient.open(writerPort, options.folder, reports.changed);
    const index = openIndexForReading(options.folder);
    const statements = new Statements(index);
    const documents = new Documents(statements);
    const softQuotas = new SoftQuotas(statements, (warning) => console.error(`embedded store: ${warning}`));
    const context: StoreContext = {
      folder: options.folder,
      index: statements,
      accounts: new Accounts(statements),
      buckets: new Buckets(statements),
      objects: new Objects(options.folder, statements),
      uploads: new Uploads(statements),
      documents,
      reads: new ReadCounter(writer, Date.now),
      logins: new Logins(statements, documents, writer, Date.now),
      loginFailed: reports.loginFailed,
      marks: options.markKey && requestMarks(options.markKey),
      publicPasswords: "samples" in options.accounts ? [] : [passwordMd5(SAMPLE_PASSWORD)],
      writer,
      space: writer.space,
      bodyReader: http.bodyReader,
      maintenance: new Maintenance(writer, softQuotas, Date.now),
      now: Date.now,
    };
    const close = async () => {
      // The writer's connection last: the last one to close folds the write-ahead log into the index.
      index.close();
      await writer.close();
    };
    const server = new StoreServer(options, context, new Ports(options.folder, http), close);
    try {
      if ("samples" in options.accounts) await addSamples(context, options.accounts.samples.converterPassword);
      else await addAdministrators(context, options.accounts.administrators, console.error);
      await context.maintenance.start();
      server.#listenAtSystemLevel();
      for (const tenant of context.accounts.tenants()) server.#listenFor(tenant);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Where a tenant is reached; null when the store does not know it. */
  address(tenant: string | null): LevelAddress | null {
    return this.#levels.get(tenant === null ? "" : folded(tenant)) ?? null;
  }

  /** Lets pages of these origins read the responses of S3. */
  allowOrigins(origins: readonly string[]): void {
    for (const origin of origins) this.#origins.add(origin);
  }

  /** Whether the disk of the data folder takes no more. */
  isFull(): Promise<boolean> {
    return this.context.space.isFull();
  }

  /** The last noted position of the application's audit trail; null: none. */
  get auditEnd(): Document | null {
    return this.context.documents.document(AUDIT_END);
  }

  /** Notes how far the application's audit trail has got. */
  async noteAuditEnd(end: Document): Promise<void> {
    await this.context.writer.change("noteAuditEnd", { end });
  }

  /** Lets requests under way end, and refuses further ones. */
  async drain(): Promise<void> {
    await Promise.all([this.context.maintenance.stop(), ...this.#servers.map((server) => server.drain())]);
  }

  /** Lets requests under way end, then closes the index. */
  async stop(): Promise<void> {
    await this.drain();
    await this.context.reads.flush();
    await this.close();
  }

  #listenAtSystemLevel(): void {
    const mapi = loadedMapi(this.context, null, (tenant) => this.#listenFor(tenant));
    this.#levels.set("", {
      s3: this.#listen("", "s3", this.#systemS3()),
      mapi: this.#listen("", "mapi", mapi),
    });
  }

  #listenFor({ name }: Tenant): void {
    const level = folded(name);
    if (this.#levels.has(level)) return;
    // Looked up for each request: a tenant may be deleted and created again while its ports stay open.
    const tenant = () => this.context.accounts.tenant(level);
    const s3 = s3Handler(this.context, tenant, this.#origins);
    this.#s3.set(level, s3);
    this.#levels.set(level, {
      s3: this.#listen(level, "s3", s3),
      mapi: this.#listen(level, "mapi", loadedMapi(this.context, tenant)),
    });
  }

  /** The system level has no buckets, but at its port a proxy reaches every tenant by its public name. */
  #systemS3(): AddressedHandler {
    const tenantOf = publicTenant(this.options.publicEndpoint);
    return (request, address) => {
      const tenant = tenantOf(request.headers.get("host"));
      const s3 = tenant === null ? undefined : this.#s3.get(tenant);
      return s3 ? s3(request, address) : denied(request);
    };
  }

  #listen(level: string, protocol: Protocol, handle: AddressedHandler): string {
    const { hostname, accounts } = this.options;
    const isGuarded = "samples" in accounts || !accounts.administrators.isPublic;
    const names = [urlHost(hostname), ...LOOPBACK_NAMES];
    const handler: HostHandler = (request, { remoteAddr }) =>
      isGuarded && !names.includes(requestedHost(request))
        ? misdirected(request)
        : handle(request, remoteAddr.hostname);
    const server = this.ports.listen({ level, protocol, hostname, handler, refuse: stopping });
    this.#servers.push(server);
    return `http://${urlHost(hostname)}:${server.port}`;
  }
}

const denied = errorHandler("AccessDenied");
const misdirected = errorHandler("MisdirectedRequest");
const stopping = errorHandler("ServiceUnavailable");

/** Handles a request; `address` is the client's IP address. */
type AddressedHandler = (request: Request, address: string) => Response | Promise<Response>;

type MapiHandler = ReturnType<typeof mapiHandler>;

/** The management API, loaded by its first request: with its schemas and their library the thread would start later. */
function loadedMapi(...parameters: Parameters<typeof mapiHandler>): MapiHandler {
  let handler: Promise<MapiHandler> | undefined;
  return async (request, address) => {
    handler ??= import("@/embedded/store/mapi/mapi_server.ts").then(({ mapiHandler }) => mapiHandler(...parameters));
    return (await handler)(request, address);
  };
}
