import type { Accounts } from "@/lib/embedded/store/accounts.ts";
import type { Buckets } from "@/lib/embedded/store/buckets.ts";
import type { Groups } from "@/lib/embedded/store/groups.ts";
import type { Objects } from "@/lib/embedded/store/objects.ts";
import type { Versions } from "@/lib/embedded/store/versions.ts";
import type { DiskSpace } from "@/lib/embedded/store/disk_space.ts";
import type { Documents } from "@/lib/embedded/store/documents.ts";
import type { Logins } from "@/lib/embedded/store/logins.ts";
import type { ReadCounter } from "@/lib/embedded/store/read_counter.ts";
import type { UsageHistory } from "@/lib/embedded/store/usage_history.ts";
import type { Uploads } from "@/lib/embedded/store/uploads.ts";
import type { Upkeep } from "@/lib/embedded/store/upkeep.ts";
import type { WriterClient } from "@/lib/embedded/store/writer/writer_client.ts";

/** What both protocols of the store work on. */
export interface StoreParts {
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
  readonly writer: WriterClient;
  /** Whether the disk of the data folder takes more. */
  readonly space: DiskSpace;
  /** Told when a setting changed that may let something go. */
  readonly upkeep: Upkeep;
  /** The present, in milliseconds since 1970. */
  now(): number;
}
