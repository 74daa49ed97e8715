import type { Accounts } from "@/embedded/store/accounts.ts";
import type { Buckets } from "@/embedded/store/buckets.ts";
import type { DiskSpace } from "@/embedded/store/disk_space.ts";
import type { Documents } from "@/embedded/store/documents.ts";
import type { Groups } from "@/embedded/store/groups.ts";
import type { Objects } from "@/embedded/store/objects.ts";
import type { StoreReports } from "@/embedded/store/reported_change.ts";
import type { Uploads } from "@/embedded/store/uploads.ts";
import type { UsageHistory } from "@/embedded/store/usage_history.ts";
import type { Versions } from "@/embedded/store/versions.ts";
import type { ChangeWriter } from "@/embedded/store/writer/writer_client.ts";
import type { RequestMarks } from "@/lib/std/request_mark.ts";
import type { Logins } from "./logins.ts";
import type { ReadCounter } from "./read_counter.ts";
import type { Maintenance } from "./maintenance.ts";

/** What both protocols of the store work with. */
export interface StoreContext {
  /** The data folder. */
  readonly folder: string;
  readonly accounts: Accounts;
  readonly groups: Groups;
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly versions: Versions;
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly usage: UsageHistory;
  readonly reads: ReadCounter;
  readonly logins: Logins;
  /** Records a login that was refused. */
  readonly loginFailed: StoreReports["loginFailed"];
  /** By which the gateway of this process says for whom it sends a request; null: there is none. */
  readonly marks: Pick<RequestMarks, "read"> | null;
  /** MD5s of publicly known passwords, which no account may get. */
  readonly publicPasswords: readonly string[];
  readonly writer: ChangeWriter;
  /** Whether the disk of the data folder has room. */
  readonly space: DiskSpace;
  /** Runs after a change of settings that may allow removals. */
  readonly maintenance: Maintenance;
  /** The present, in milliseconds since 1970. */
  now(): number;
}
