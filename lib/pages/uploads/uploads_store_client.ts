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
import { type BatchRecord, BrowserJournal, type UploadFolder, type UploadJournal } from "./upload_journal_client.ts";

/** Time between two drawings, ms: progress is reported with every chunk. */
const DRAW_MS = 200;
/** Time after a file has arrived until the folder is read again, ms: while others follow, and once all are there. */
const REFRESH_BUSY_MS = 10_000;
const REFRESH_MS = 300;
/** The order in which the states are shown: problems, moving, waiting, over. */
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
  /** Uploads that earlier pages started, and that are not under way in another tab. */
  readonly interrupted = signal<readonly BatchRecord[]>([]);
  /** The last choice of files. */
  readonly choice = signal<ChosenFiles | null>(null);
  /** A bucket to which the CORS rule is being added; `failed` where it could not be. */
  readonly allowing = signal<"no" | "yes" | "failed">("no");
  readonly unfinished: UnfinishedUploads;
  readonly #journal: UploadJournal;
  #isDrawing = false;
  #doneBefore = 0;
  #refresh: ReturnType<typeof setTimeout> | null = null;
  #releaseLock: (() => void) | null = null;

  constructor(private readonly folder: FolderName) {
    const { account, bucket, prefix } = folder;
    this.#journal = new BrowserJournal(account);
    const calls = new UploadCalls(account, bucket);
    this.unfinished = new UnfinishedUploads(calls, prefix);
    this.engine = new UploadEngine({
      folder,
      calls,
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
    const online = () => this.engine.connection.probeNow();
    const leaving = (event: BeforeUnloadEvent) => {
      const { isBusy, memory, halted } = this.engine;
      // Only a reload helps a page that is outdated, and the journal has what it was to send.
      if ((isBusy || memory.isEnding) && halted?.kind !== "outdated") event.preventDefault();
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
    this.#forgetInterrupted(this.folder);
    this.#lock();
    await this.engine.add(chosen.files, chosen.handles);
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
    this.#forgetInterrupted({ bucket, prefix });
    const calls = new UploadCalls(this.folder.account, bucket);
    const records = await this.#journal.files(bucket, prefix);
    for (const { key, upload } of records.filter((one) => one.prefix === prefix)) {
      // Parts that cannot be deleted stay in the list of unfinished uploads.
      if (upload) await calls.abort(key, upload.uploadId).catch(() => {});
    }
    await this.#journal.forgetBatch(bucket, prefix, null);
  }

  /** Adds the CORS rule that lets the page send straight to the store. */
  async allowDirect(): Promise<void> {
    this.allowing.value = "yes";
    try {
      await this.engine.routes.allow();
      this.allowing.value = "no";
    } catch (error) {
      if (!(error instanceof UploadFault)) throw error;
      this.allowing.value = "failed";
    }
  }

  /** Reads the unfinished uploads of the folder, except for those of this page. */
  async readUnfinished(): Promise<void> {
    const own = this.engine.list.items.flatMap(({ upload }) => upload ? [upload.uploadId] : []);
    await this.unfinished.read(new Set(own));
  }

  /** Numbers of files by their states. */
  get counts(): UploadCounts {
    const { list } = this.engine;
    return {
      all: list.items.length,
      done: list.count("done"),
      skipped: list.count("skipped"),
      cancelled: list.count("cancelled"),
      failed: list.count("failed"),
      inUse: list.count("taken"),
      looking: list.count("looking"),
      state: stateOf(this.engine),
    };
  }

  /** How much of all bytes has left, in whole per cent. */
  get percent(): number {
    const { isBusy, list: { bytes, sentBytes } } = this.engine;
    return bytes === 0 ? (isBusy ? 0 : 100) : Math.floor(100 * sentBytes / bytes);
  }

  /** Removes files that need nothing more from the list, and the notices about the last choice. */
  clear(): void {
    this.choice.value = null;
    this.engine.list.clear();
    this.#changed();
  }

  /** Files in the order in which they are shown. */
  sorted(): UploadItem[] {
    const groups = new Map<UploadState, UploadItem[]>(ORDER.map((state) => [state, []]));
    for (const item of this.engine.list.items) groups.get(item.state)?.push(item);
    // The newest of those that have arrived come first.
    groups.get("done")?.reverse();
    return [...groups.values()].flat();
  }

  #changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(() => {
      const { isBusy, hasParts, list, memory } = this.engine;
      this.#isDrawing = false;
      this.version.value++;
      const done = list.count("done");
      if (done > this.#doneBefore) this.#refreshLater();
      this.#doneBefore = done;
      // A store may forbid single objects; where no file has arrived, it forbids writing.
      const isAllForbidden = done === 0 && list.count("failed") > 0 && list.items.some(isForbidden);
      if (isAllForbidden) refused(this.folder.account, this.folder.bucket, "write");
      // While files only wait for an answer about their names nothing is under way.
      if (isBusy || memory.isEnding || hasParts) this.#lock();
      else this.#releaseLock?.();
    }, DRAW_MS);
  }

  #refreshLater(): void {
    const { isBusy } = this.engine;
    // A late refresh is replaced by an early one once all files have arrived.
    if (this.#refresh !== null && isBusy) return;
    clearTimeout(this.#refresh ?? undefined);
    this.#refresh = setTimeout(() => {
      this.#refresh = null;
      folderChanged(this.folder);
    }, isBusy ? REFRESH_BUSY_MS : REFRESH_MS);
  }

  /** While a tab uploads to a folder, others do not show that upload as interrupted. */
  #lock(): void {
    if (this.#releaseLock) return;
    const released = new Promise<void>((resolve) => {
      this.#releaseLock = () => {
        this.#releaseLock = null;
        resolve();
      };
    });
    void navigator.locks?.request(lockName(this.folder), () => released);
  }

  /** Finds each upload that is left once no other tab works on it. */
  async #findInterrupted(): Promise<void> {
    const { account } = this.folder;
    for (const { bucket, prefix } of await this.#journal.batches()) {
      const look = async () => {
        const record = (await this.#journal.batches()).find((one) => one.bucket === bucket && one.prefix === prefix);
        // Meanwhile this page may have started to upload there itself.
        if (!record || this.#releaseLock) return;
        this.interrupted.value = [...this.interrupted.value, record];
      };
      void (navigator.locks?.request(lockName({ account, bucket, prefix }), look) ?? look());
    }
  }

  #forgetInterrupted({ bucket, prefix }: UploadFolder): void {
    this.interrupted.value = this.interrupted.value.filter((one) => one.bucket !== bucket || one.prefix !== prefix);
  }
}

function isForbidden({ state, fault }: UploadItem): boolean {
  return state === "failed" && fault?.kind === "forbidden";
}

function stateOf({ halted, isPaused, isBusy, list, memory }: UploadEngine): UploadCounts["state"] {
  if (halted !== null) return "stopped";
  if (isBusy && isPaused) return "paused";
  if (isBusy || memory.isEnding) return "running";
  return list.count("paused") > 0 ? "paused" : "ended";
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

function lockName({ account, bucket, prefix }: FolderName): string {
  return `upload ${JSON.stringify([account, bucket, prefix])}`;
}
