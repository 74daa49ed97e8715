import type { Import } from "./imports.ts";

/** A room of the project and the rooms that its files may import. A room is a folder, or one file. */
export interface Room {
  readonly room: string;
  readonly holds: string;
  /** Rooms whose files it may import. A room always may import itself. `lib/*` stands for every room of lib. */
  readonly imports: readonly string[];
  /** Rooms of which it may import types alone. */
  readonly types?: readonly string[];
}

const BELOW_ADAPTERS = ["lib/auth", "lib/http", "lib/std"] as const;
const ADAPTERS = ["lib/s3", "lib/mapi", "lib/kubernetes", ...BELOW_ADAPTERS] as const;

/**
 * Who may import whom, from top to bottom. A file belongs to the room with the longest path that it lies in. Imports of
 * types count. Tests hold the table, and `deno task docs` prints it into docs/architecture.md.
 */
export const ROOMS: readonly Room[] = [
  {
    room: "launch.ts",
    holds: "starts `main.ts` with the permissions that the settings ask for; builds the site",
    imports: ["lib/process", "lib/site"],
  },
  {
    room: "main.ts",
    holds: "configuration → parts → app → serve → stop",
    imports: ["compose", "routes", "lib/*"],
  },
  {
    room: "hosted.ts",
    holds: "the same without embedded parts, where a host has the listener and ends the process",
    imports: ["compose", "lib/*"],
  },
  { room: "compose", holds: "which part gets what; commands; announcement", imports: ["routes", "embedded", "lib/*"] },
  {
    room: "routes",
    holds: "HTTP; a folder path is a URL path",
    imports: [
      "islands",
      "components",
      "lib/campaigns",
      "lib/results",
      "lib/store",
      "lib/tasks",
      "lib/site",
      "lib/pages",
      "lib/pages/locale",
      "lib/operations/audit",
      ...ADAPTERS,
    ],
  },
  {
    room: "islands",
    holds: "islands: the entries of what the browser runs",
    imports: ["components", "lib/pages", "lib/pages/locale"],
    types: ["lib/campaigns/projection", "lib/tasks", "lib/s3", "lib/operations/audit"],
  },
  {
    room: "components",
    holds: "markup, and the parts of islands",
    imports: ["lib/pages", "lib/pages/locale", "locales"],
    types: ["lib/campaigns/projection", "lib/tasks", "lib/s3", "lib/operations/audit"],
  },
  {
    room: "locales",
    holds: "the sentences of pages in each language",
    imports: ["lib/pages/locale", "lib/std"],
  },
  {
    room: "embedded",
    holds: "servers that stand in for real ones",
    imports: ["lib/std"],
  },
  {
    room: "lib/config",
    holds: "every environment variable, one schema",
    imports: [
      "lib/campaigns",
      "lib/results",
      "lib/operations/notifications",
      "lib/process",
      "lib/auth",
      "lib/http",
      "lib/std",
    ],
  },
  {
    room: "lib/campaigns/reader",
    holds: "list and detail: source, projection and progress together",
    imports: [
      "lib/campaigns/source",
      "lib/campaigns/records",
      "lib/campaigns/progress",
      "lib/campaigns/projection",
      "lib/http",
      "lib/std",
    ],
  },
  {
    room: "lib/campaigns/source",
    holds: "campaigns of a cluster, watched or listed",
    imports: ["lib/campaigns/projection", "lib/kubernetes", "lib/http", "lib/std"],
  },
  {
    room: "lib/campaigns/records",
    holds: "the status record: plan, merge, write",
    imports: ["lib/campaigns/projection", "lib/kubernetes", "lib/http", "lib/std"],
  },
  {
    room: "lib/campaigns/progress",
    holds: "progress files within the budget, cached per identity",
    imports: ["lib/campaigns/projection", "lib/http", "lib/std"],
  },
  {
    room: "lib/campaigns/projection",
    holds: "pure: from cluster objects and result files to the data of responses",
    imports: ["lib/std"],
  },
  { room: "lib/results", holds: "login, files and pass-through of results", imports: [...ADAPTERS] },
  { room: "lib/store", holds: "use cases over S3 and MAPI: forced delete", imports: [...ADAPTERS] },
  { room: "lib/tasks", holds: "background tasks", imports: [...ADAPTERS] },
  {
    room: "lib/state",
    holds: "shared state in SQLite or Redis: tasks, revoked sessions, verified logins",
    imports: ["lib/tasks", "lib/http", "lib/std"],
  },
  {
    room: "lib/operations/notifications",
    holds: "events for operators: detection, queue, webhooks, mail",
    imports: ["lib/tasks", "lib/http", "lib/std"],
    types: ["lib/campaigns/projection"],
  },
  {
    room: "lib/operations/audit",
    holds: "the audit trail: records, their chain, the sinks, reading and checking",
    imports: ["lib/http", "lib/std"],
  },
  { room: "lib/s3", holds: "client with its signer, listings, objects, uploads, errors", imports: [...BELOW_ADAPTERS] },
  { room: "lib/mapi", holds: "the management API's client, its records and errors", imports: [...BELOW_ADAPTERS] },
  { room: "lib/kubernetes", holds: "client, watch, followed collection", imports: [...BELOW_ADAPTERS] },
  {
    room: "lib/auth",
    holds: "tokens, credentials, admission, guesses, sessions, logins of the storage pages",
    imports: ["lib/http", "lib/std"],
  },
  { room: "lib/operations", holds: "metrics for Prometheus, traces", imports: ["lib/http", "lib/std"] },
  { room: "lib/process", holds: "listener, stop, data folder", imports: ["lib/http", "lib/runtime", "lib/std"] },
  {
    room: "lib/site/storage",
    holds: "what the storage pages read and send: logins, visits, fixity checks",
    imports: ["lib/results", "lib/tasks", "lib/auth", "lib/pages", "lib/pages/locale", "lib/http", "lib/std"],
  },
  {
    room: "lib/site",
    holds: "server side of pages: loader of routes, policies, build, stylesheet, files",
    imports: ["lib/pages", "lib/pages/locale", "lib/http", "lib/std"],
    types: ["lib/site/storage", "lib/campaigns/reader", "lib/results"],
  },
  { room: "lib/pages/locale", holds: "the reader's language, figures in it", imports: ["lib/std"] },
  {
    room: "lib/pages",
    holds: "what pages compute and store, by subject; `_client` files run in the browser only",
    imports: ["locales", "lib/pages/locale", "lib/std"],
    types: ["lib/campaigns/projection", "lib/tasks", "lib/s3", "lib/operations/audit"],
  },
  {
    room: "lib/http",
    holds: "operations, validation, errors, access log, the client for upstreams",
    imports: ["lib/runtime", "lib/std"],
  },
  {
    room: "lib/runtime",
    holds: "what relies on undocumented behaviour of the runtime, and falls back to its public API",
    imports: ["lib/std"],
  },
  { room: "lib/std", holds: "small general helpers, by subject", imports: [] },
];

/** Folders outside the table: they may import everything, and only they import each other. */
export const OUTSIDE = ["tests", "embedded/tests", "bench", "tools"] as const;

/** The room of a file; undefined outside of every room. */
export function roomOf(file: string): Room | undefined {
  return ROOMS.filter(({ room }) => isIn(file, room)).sort((a, b) => b.room.length - a.room.length)[0];
}

/** Whether a file may import what it does. Files of {@linkcode OUTSIDE} may import everything. */
export function isAllowed({ from, to, isType }: Import): boolean {
  if (OUTSIDE.some((folder) => isIn(from, folder))) return true;
  if (OUTSIDE.some((folder) => isIn(to, folder))) return false;
  if (isClientFile(to) && !mayImportClientFiles(from)) return false;
  const room = roomOf(from);
  const target = roomOf(to);
  if (!room || !target) return false;
  if (room === target) return true;
  const lists = isType ? [...room.imports, ...room.types ?? []] : room.imports;
  return lists.some((entry) => entry === "lib/*" ? isIn(to, "lib") : isIn(target.room, entry));
}

/** Whether a file runs in the browser only. */
const isClientFile = (file: string) => isIn(file, "lib/pages") && /_client\.tsx?$/.test(file);

/** Islands and their components, and the bundle's entry, whose source lib/site/bundle.ts writes. */
const mayImportClientFiles = (file: string) =>
  isClientFile(file) || isIn(file, "islands") || isIn(file, "components") || file === "lib/site/bundle.ts";

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
