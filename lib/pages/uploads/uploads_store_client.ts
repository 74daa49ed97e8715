import { signal } from "@preact/signals";
import { browserClock } from "@/lib/pages/browser/poller_client.ts";
import { UploadEngine } from "./upload_engine_client.ts";
import type { FolderName } from "@/lib/pages/storage/storage_paths.ts";
import type { UploadCounts } from "./upload_sentences.ts";
import { type ChosenFiles, walkEntries } from "./chosen_files_client.ts";
import { folderChanged, refused } from "@/lib/pages/storage/folder_changes_client.ts";
import { loadCode } from "@/lib/pages/browser/load_code_client.tsx";
import { UnfinishedUploads } from "./unfinished_uploads_client.ts";
import { UploadCalls, UploadFault } from "./upload_calls_client.ts";
import type { UploadItem, UploadState } from "./upload_items_client.ts";
import { type BatchRecord, BrowserJournal, type UploadJournal } from "./upload_journal_client.ts";

/** Time between two drawings, ms: progress is reported with every chunk. */
const DRAW_MS = 200;
/** Time after a file has arrived until the folder is read again, ms: while others follow, and once all are there. */
const REFRESH_BUSY_MS = 10_000;
const REFRESH_MS = 300;
/** The order in which the states are shown: what needs eyes, what moves, what waits, what is over. */
const ORDER: readonly UploadState[] = [
  "failed",
  "taken",
  "finishing",
  "sending",
  "paused",
  "looking",
  "waiting",
  "cancelled",
  "skipped",
  "done",
];

/** The uploads of a folder's page: the engine, and what is drawn of it. */
export class UploadsStore {
  readonly engine: UploadEngine;
  /** Grows whenever something has changed that is drawn. */
  readonly version = signal(0);
  /** Uploads that earlier pages began, and that are not under way in another tab. */
  readonly interrupted = signal<readonly BatchRecord[]>([]);
  /** The last choice of files. */
  readonly choice = signal<ChosenFiles | null>(null);
  /** A bucket to which the CORS rule is being added; `failed` where it could not be. */
  readonly allowing = signal<"no" | "yes" | "failed">("no");
  readonly unfinished: UnfinishedUploads;
  readonly #calls: UploadCalls;
  readonly #folder: FolderName;
  readonly #journal: UploadJournal;
  #isDrawing = false;
  #doneBefore = 0;
  #refresh: ReturnType<typeof setTimeout> | null = null;
  #releaseLock: (() => void) | null = null;

  constructor(folder: FolderName) {
    const { account } = folder;
    this.#folder = folder;
    this.#journal = new BrowserJournal(account, globalThis.indexedDB);
    this.#calls = new UploadCalls(account, (...request) => fetch(...request));
    this.unfinished = new UnfinishedUploads(this.#calls, folder.bucket, folder.prefix);
    this.engine = new UploadEngine({
      calls: this.#calls,
      sending: async () => (await loadCode(() => import("./upload_sending_client.ts"))).browserSending,
      journal: this.#journal,
      claim,
      clock: browserClock,
      random: Math.random,
      origin: location.origin,
      onChange: () => this.#changed(),
    });
  }

  /** Follows the network, warns before the page is left, and looks for interrupted uploads. @returns a function that ends that */
  start(): () => void {
    const online = () => this.engine.online();
    const leaving = (event: BeforeUnloadEvent) => {
      const { isBusy, isEnding, halted } = this.engine;
      // Only a reload helps a page that is outdated, and the journal has what it was to send.
      if ((isBusy || isEnding) && halted?.kind !== "outdated") event.preventDefault();
    };
    addEventListener("online", online);
    addEventListener("beforeunload", leaving);
    void this.#findInterrupted();
    return () => {
      removeEventListener("online", online);
      removeEventListener("beforeunload", leaving);
    };
  }

  /** Uploads what was chosen to the folder of the page. */
  async add(chosen: ChosenFiles): Promise<void> {
    this.choice.value = chosen;
    if (chosen.files.length === 0) return;
    const { bucket, prefix } = this.#folder;
    this.#forgetInterrupted(bucket, prefix);
    this.#lock();
    await this.engine.add(chosen.files, { bucket, prefix }, chosen.handles);
  }

  /** Reads the files of an interrupted upload of this folder again, once the reader has allowed it. */
  async continueInterrupted(record: BatchRecord): Promise<void> {
    const allowed = await Promise.all(record.handles.map(async (handle) => {
      const { requestPermission } = handle as FileSystemHandle & Partial<WithPermission>;
      return await requestPermission?.call(handle, { mode: "read" }) === "granted";
    }));
    const handles = record.handles.filter((_, index) => allowed[index]);
    await this.add({ ...await walkEntries(handles), handles });
  }

  /** Deletes the parts of an interrupted upload, and forgets it. */
  async discardInterrupted({ bucket, prefix }: BatchRecord): Promise<void> {
    this.#forgetInterrupted(bucket, prefix);
    const { signal } = new AbortController();
    const records = await this.#journal.files(bucket, prefix);
    for (const { key, upload } of records.filter((one) => one.prefix === prefix)) {
      // Parts that cannot be deleted stay in the list of unfinished uploads.
      if (upload) await this.#calls.abort({ bucket, key }, upload.uploadId, signal).catch(() => {});
    }
    await this.#journal.forgetBatch(bucket, prefix, null);
  }

  /** Adds the CORS rule that lets the page send straight to the store. */
  async allowDirect(): Promise<void> {
    this.allowing.value = "yes";
    try {
      await this.engine.allowDirect(this.#folder.bucket);
      this.allowing.value = "no";
    } catch (error) {
      if (!(error instanceof UploadFault)) throw error;
      this.allowing.value = "failed";
    }
  }

  /** Reads the uploads of the folder that were begun and not ended, but those of this page. */
  async readUnfinished(): Promise<void> {
    const own = this.engine.items.flatMap(({ upload }) => upload ? [upload.uploadId] : []);
    await this.unfinished.read(new Set(own));
  }

  /** Numbers of files by their states. */
  get counts(): UploadCounts {
    const { engine } = this;
    return {
      all: engine.items.length,
      done: engine.count("done"),
      skipped: engine.count("skipped"),
      cancelled: engine.count("cancelled"),
      failed: engine.count("failed"),
      inUse: engine.count("taken"),
      looking: engine.count("looking"),
      state: stateOf(engine),
    };
  }

  /** How much of all bytes has left, in whole per cent. */
  get percent(): number {
    const { bytes, sentBytes, isBusy } = this.engine;
    return bytes === 0 ? (isBusy ? 0 : 100) : Math.floor(100 * sentBytes / bytes);
  }

  /** Takes files that need nothing more off the list, with what is said of the last choice. */
  clear(): void {
    this.choice.value = null;
    this.engine.clear();
  }

  /** Files in the order in which they are shown. */
  sorted(): UploadItem[] {
    const groups = new Map<UploadState, UploadItem[]>(ORDER.map((state) => [state, []]));
    for (const item of this.engine.items) groups.get(item.state)?.push(item);
    // The newest of those that have arrived come first.
    groups.get("done")?.reverse();
    return [...groups.values()].flat();
  }

  #changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(() => {
      this.#isDrawing = false;
      this.version.value++;
      const done = this.engine.count("done");
      if (done > this.#doneBefore) this.#refreshLater();
      this.#doneBefore = done;
      // A store may forbid single objects; where no file has arrived, it forbids to write.
      const isAllForbidden = done === 0 && this.engine.count("failed") > 0;
      const forbidden = isAllForbidden ? this.engine.items.find(isForbidden) : undefined;
      if (forbidden) refused(this.#folder.account, forbidden.batch.bucket, "write");
      // While only names are in question nothing is under way; an answer begins it again.
      if (this.engine.isBusy || this.engine.isEnding || this.engine.hasParts) this.#lock();
      else this.#releaseLock?.();
    }, DRAW_MS);
  }

  #refreshLater(): void {
    const { isBusy } = this.engine;
    // One that is to come late because others follow comes early once they have arrived.
    if (this.#refresh !== null && isBusy) return;
    clearTimeout(this.#refresh ?? undefined);
    this.#refresh = setTimeout(() => {
      this.#refresh = null;
      folderChanged(this.#folder);
    }, isBusy ? REFRESH_BUSY_MS : REFRESH_MS);
  }

  /** While a tab uploads to a folder, others do not call that upload interrupted. */
  #lock(): void {
    if (this.#releaseLock) return;
    const released = new Promise<void>((resolve) => {
      this.#releaseLock = () => {
        this.#releaseLock = null;
        resolve();
      };
    });
    const { account, bucket, prefix } = this.#folder;
    void navigator.locks?.request(lockName(account, bucket, prefix), () => released);
  }

  /** Looks at each upload once no other tab is at it, and at what is left of it then. */
  async #findInterrupted(): Promise<void> {
    for (const { bucket, prefix } of await this.#journal.batches()) {
      const look = async () => {
        const record = (await this.#journal.batches()).find((one) => one.bucket === bucket && one.prefix === prefix);
        // Meanwhile this page may have begun to upload there itself.
        if (!record || this.#releaseLock) return;
        this.interrupted.value = [...this.interrupted.value, record];
      };
      void (navigator.locks?.request(lockName(this.#folder.account, bucket, prefix), look) ?? look());
    }
  }

  #forgetInterrupted(bucket: string, prefix: string): void {
    this.interrupted.value = this.interrupted.value.filter((one) => one.bucket !== bucket || one.prefix !== prefix);
  }
}

function isForbidden({ state, fault }: UploadItem): boolean {
  return state === "failed" && fault?.kind === "forbidden";
}

function stateOf(engine: UploadEngine): UploadCounts["state"] {
  const { halted, isPaused, isBusy } = engine;
  if (halted !== null) return "stopped";
  if (isBusy && isPaused) return "paused";
  if (isBusy || engine.isEnding) return "running";
  return engine.count("paused") > 0 ? "paused" : "ended";
}

interface WithPermission {
  requestPermission(mode: { readonly mode: "read" }): Promise<PermissionState>;
}

/** Takes the lock of an upload in parts until the page is left. @returns whether it was free */
function claim(uploadId: string): Promise<boolean> {
  const { locks } = navigator;
  if (!locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const taken = locks.request(`upload in parts ${uploadId}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {});
    });
    // A page that is being left has no locks.
    taken.catch(() => resolve(true));
  });
}

function lockName(account: string, bucket: string, prefix: string): string {
  return `upload ${JSON.stringify([account, bucket, prefix])}`;
}
