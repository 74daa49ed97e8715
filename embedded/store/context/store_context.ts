import type { Accounts } from "@/embedded/store/accounts.ts";
import type { Buckets } from "@/embedded/store/buckets.ts";
import type { ChangeOrigin, StoreReports } from "@/embedded/store/changes.ts";
import type { DiskSpace } from "@/embedded/store/disk_space.ts";
import type { Documents } from "@/embedded/store/documents.ts";
import type { Objects } from "@/embedded/store/objects.ts";
import type { Uploads } from "@/embedded/store/uploads.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import type { ChangeWriter } from "@/embedded/store/writer/writer_client.ts";
import type { TakeReader } from "@/lib/std/body_reader.ts";
import { REQUEST_MARK_HEADER, type RequestMarks } from "@/lib/std/request_mark.ts";
import type { Logins } from "./logins.ts";
import type { Maintenance, ReadCounter } from "./maintenance.ts";

/** The parts of the store that both protocols use. */
export interface StoreContext {
  /** The data folder. */
  readonly folder: string;
  readonly index: Statements;
  readonly accounts: Accounts;
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly reads: ReadCounter;
  readonly logins: Logins;
  /** Records a login that was refused. */
  readonly loginFailed: StoreReports["loginFailed"];
  /** Reads the mark in which the gateway of this process names the client of a request; null: no gateway. */
  readonly marks: Pick<RequestMarks, "read"> | null;
  /** MD5s of publicly known passwords, which no account may get. */
  readonly publicPasswords: readonly string[];
  readonly writer: ChangeWriter;
  /** Whether the disk of the data folder has room. */
  readonly space: DiskSpace;
  /** Reads the bodies of requests. */
  readonly bodyReader: TakeReader;
  /** Runs after a change of settings that may allow removals. */
  readonly maintenance: Maintenance;
  /** The present, in milliseconds since 1970. */
  now(): number;
}

/** The client's end of a request: what a valid mark of the gateway says, else what the connection says. */
export function clientOf(
  { marks }: Pick<StoreContext, "marks">,
  headers: Headers,
  connection: { readonly address: string; readonly requestId: string | null },
): Pick<ChangeOrigin, "address" | "requestId" | "isByGateway"> {
  const mark = marks?.read(headers.get(REQUEST_MARK_HEADER)) ?? null;
  return mark
    ? { address: mark.address, requestId: mark.id, isByGateway: true }
    : { ...connection, isByGateway: false };
}

/** The same store, whose changes are recorded as those of an account; an anonymous one has no name. */
export function requestedBy(
  store: StoreContext,
  user: { readonly name: string; readonly tenant: number } | null,
  client: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">,
): StoreContext {
  const origin = { actor: user?.name ?? null, isSystem: user?.tenant === 0, ...client };
  return { ...store, writer: store.writer.by(origin) };
}
