import type { Clock } from "@/lib/client/poller.ts";
import { freeKey, keyProblem } from "@/lib/presentation/storage/upload_names.ts";
import { UploadPace } from "@/lib/presentation/storage/upload_pace.ts";
import { MAX_OBJECT_BYTES, partSpan, planParts } from "@/lib/presentation/storage/upload_plan.ts";
import { Connection } from "./connection.ts";
import type { Digest } from "./part_digest.ts";
import type { Put } from "./put_file.ts";
import { findTaken } from "./taken_keys.ts";
import type { UploadCalls } from "./upload_calls.ts";
import { asFault, UploadFault } from "./upload_fault.ts";
import {
  isSmall,
  type NameAnswer,
  nameOf,
  type UploadBatch,
  type UploadItem,
  type UploadState,
} from "./upload_item.ts";
import type { BatchRecord, FileRecord, UploadJournal } from "./upload_journal.ts";
import { type UploadRoute, UploadRoutes } from "./upload_route.ts";
import type { StepContext, UploadSteps } from "./upload_steps.ts";
import { backoffMs, wait } from "./upload_wait.ts";

/** A file that was chosen, with the folders that were chosen above it. */
export interface ChosenFile {
  readonly path: string;
  readonly file: File;
}

/** How files reach the store: by which requests, checksums and steps. */
export interface Sending {
  readonly put: Put;
  readonly digest: Digest;
  readonly steps: (context: StepContext) => UploadSteps;
}

interface EngineParts {
  readonly calls: UploadCalls;
  /** Loads what sends: most visits of a folder upload nothing. */
  readonly sending: () => Promise<Sending>;
  readonly journal: UploadJournal;
  /** Takes an upload in parts for this page until it is left; false where a page has it already. */
  readonly claim: (uploadId: string) => Promise<boolean>;
  readonly clock: Clock;
  /** 0 to 1 */
  readonly random: () => number;
  /** Of the page, for the CORS rule that it needs. */
  readonly origin: string;
  /** Something that the page shows has changed. */
  readonly onChange: () => void;
}

/** Requests that send large files at a time: browsers open six connections to a host. */
const SLOTS = 6;
/** Small files under way at a time. Many of them share a request, and others are read and hashed meanwhile. */
const SMALL_SLOTS = 64;
/** Tries of a step before its file fails. */
const MAX_TRIES = 7;
/** Tries of a presigned request that the store calls forbidden: its clock may be ahead of ours. */
const MAX_FORBIDDEN = 2;
const MAX_RESTARTS = 2;
/** How long a pause lets requests that are under way end, ms: what they have sent is lost otherwise. */
const PAUSE_MS = 10_000;
/** Failures that the other files would meet as well. */
const FOR_ALL: ReadonlySet<string> = new Set(["session", "no bucket", "full"]);
/** Files that the store calls forbidden one after the other, after which it would the others as well. */
const MAX_FORBIDDEN_FILES = 3;
/** Of files that need nothing more. */
const SETTLED: ReadonlySet<UploadState> = new Set<UploadState>(["done", "skipped", "cancelled"]);

/**
 * Sends files: several at a time, large ones in parts, each step again after failures that pass. It can be paused; it
 * waits while the network is away; what was sent is remembered, so that the same files need not be sent again after a
 * reload.
 */
export class UploadEngine {
  readonly items: UploadItem[] = [];
  /** Bytes of all files that were not skipped or cancelled, and those that have left. */
  bytes = 0;
  sentBytes = 0;
  isPaused = false;
  /** Why everything has stopped, until it is resumed. */
  halted: UploadFault | null = null;
  readonly pace = new UploadPace();
  readonly #parts: EngineParts;
  readonly #routes: UploadRoutes;
  #loading: Promise<Sending> | null = null;
  #steps: UploadSteps | null = null;
  readonly #connection: Connection;
  readonly #counts = new Map<UploadState, number>();
  /** In order, with files that have left it; those before `#begun` have had their turn. */
  #queue: UploadItem[] = [];
  #begun = 0;
  readonly #active = new Set<UploadItem>();
  /** Steps under way: of large files and of small ones. */
  readonly #running = { large: 0, small: 0 };
  /** Since a file was last taken. */
  readonly #forbidden = new Set<UploadItem>();
  readonly #chosen: UploadBatch[] = [];
  /** Changes of the journal that follow on the end of files, under way. */
  #ending = 0;
  /** What this page has begun, by bucket and folder. */
  readonly #remembered = new Map<string, BatchRecord>();

  constructor(parts: EngineParts) {
    const { calls, clock, random, onChange, origin } = parts;
    const put: Put = async (request) => (await this.#sending()).put(request);
    this.#parts = parts;
    this.#routes = new UploadRoutes(calls, put, origin, onChange);
    this.#connection = new Connection((signal) => calls.isReachable(signal), { clock, random, onChange });
  }

  get isAway(): boolean {
    return this.#connection.isAway;
  }

  /** The ways of bytes into the buckets, as far as they are known. */
  get routes(): ReadonlyMap<string, UploadRoute> {
    return this.#routes.known;
  }

  count(state: UploadState): number {
    return this.#counts.get(state) ?? 0;
  }

  /** Whether something is under way or waits for its turn, so that leaving the page would end it. */
  get isBusy(): boolean {
    return this.count("looking") + this.count("waiting") + this.count("sending") + this.count("finishing") > 0;
  }

  /** Whether the journal still has files that have ended: a page that is opened by then calls their upload interrupted. */
  get isEnding(): boolean {
    return this.#ending > 0;
  }

  /** Whether the store has parts of a file that may still be sent: other pages are to leave them alone. */
  get hasParts(): boolean {
    return this.items.some(({ upload, state }) => upload !== null && !SETTLED.has(state));
  }

  /**
   * Adds files that are to go to a folder. Names in use are looked up first; the answer for them is given by
   * {@linkcode answer}, while the others are already on their way.
   *
   * @param handles what can be read again after a reload
   */
  async add(
    files: readonly ChosenFile[],
    { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
    handles: readonly FileSystemHandle[] = [],
  ): Promise<void> {
    const batch: UploadBatch = { bucket, prefix, answer: null, taken: new Set(), keys: new Set(), open: 0 };
    this.#chosen.push(batch);
    const items = files.map(({ path, file }) => this.#item(path, file, batch));
    const sendable = items.filter(({ state }) => state === "looking");
    this.#parts.onChange();
    if (sendable.length === 0) return;
    const added = this.#inherit(sendable);
    await this.#remember(batch, added, handles);
    await this.#lookUp(batch);
  }

  /** Answers for the names in use, of these files and of those that are found later. */
  answer(answer: NameAnswer): void {
    for (const batch of this.#chosen) {
      if (!this.items.some((item) => item.batch === batch && item.state === "taken")) continue;
      batch.answer = answer;
      this.#takeAnswer(batch);
      void this.#settled(batch);
    }
    this.#endStop();
    this.#pump();
    this.#parts.onChange();
  }

  /** Begins nothing more. Requests that are under way have {@linkcode PAUSE_MS} to end. */
  pause(): void {
    this.isPaused = true;
    this.pace.restart();
    for (const item of [...this.#active].reverse()) {
      // What is being paused by itself stays so when the others go on.
      if (item.pausing?.to !== "paused") this.#pauseSoon(item, "waiting");
    }
    this.#parts.onChange();
  }

  /** Whether requests are under way that a pause lets end. */
  get isPausing(): boolean {
    return this.isPaused && this.#active.size > 0;
  }

  resume(): void {
    this.isPaused = false;
    this.halted = null;
    for (const item of this.#active) if (item.pausing?.to === "waiting") this.#goOn(item);
    this.#forbidden.clear();
    this.#connection.askNow();
    for (const batch of this.#chosen) {
      if (this.items.some((item) => item.batch === batch && item.state === "looking")) void this.#lookUp(batch);
    }
    this.#pump();
    this.#parts.onChange();
  }

  pauseItem(item: UploadItem): void {
    if (item.state === "waiting") this.#interrupt(item, "paused");
    else if (item.state === "sending") this.#pauseSoon(item, "paused");
    else return;
    this.#pump();
    this.#parts.onChange();
  }

  /** Goes on with a file that was paused or has failed. */
  resumeItem(item: UploadItem): void {
    if (item.pausing !== null) this.#goOn(item);
    else if (item.state !== "paused" && item.state !== "failed" || typeof item.fault === "string") return;
    else {
      item.fault = null;
      item.restarts = 0;
      this.#enqueue(item);
    }
    this.#pump();
    this.#parts.onChange();
  }

  retryFailed(): void {
    for (const item of this.items) if (item.state === "failed") this.resumeItem(item);
  }

  /** Gives a file up, and deletes the parts that were sent. */
  async cancelItem(item: UploadItem): Promise<void> {
    if (SETTLED.has(item.state)) return;
    this.#interrupt(item, "cancelled");
    this.#endStop();
    this.#pump();
    this.#parts.onChange();
    const { signal } = new AbortController();
    // Where it fails, the upload stays in the bucket's list of uploads that have not ended.
    await this.#persist(signal, async () => (await this.#sender()).abort(item, signal)).catch(asFault);
    await this.#settled(item.batch);
  }

  async cancelAll(): Promise<void> {
    const open = this.items.filter(({ state }) => !SETTLED.has(state));
    this.#queue = [];
    this.#begun = 0;
    await Promise.all(open.map((item) => this.cancelItem(item)));
  }

  /** Forgets files that need nothing more, so that the list shows the others. */
  clear(): void {
    for (const { state, size, sent } of this.items) {
      if (!SETTLED.has(state)) continue;
      this.#counts.set(state, this.count(state) - 1);
      if (state !== "done") continue;
      this.bytes -= size;
      this.sentBytes -= sent;
    }
    this.items.splice(0, this.items.length, ...this.items.filter(({ state }) => !SETTLED.has(state)));
    this.#parts.onChange();
  }

  /** The browser has the network back. */
  online(): void {
    this.#connection.askNow();
  }

  /** Adds the CORS rule that lets this page send straight to a bucket. @throws UploadFault */
  async allowDirect(bucket: string): Promise<void> {
    await this.#routes.allow({ bucket, key: "-" }, new AbortController().signal);
  }

  async #sender(): Promise<UploadSteps> {
    const sending = await this.#sending();
    return this.#steps ??= sending.steps({ ...this.#parts, ...sending, routes: this.#routes });
  }

  /** @throws UploadFault `lost` where it cannot be loaded, after which it is loaded again */
  async #sending(): Promise<Sending> {
    try {
      return await (this.#loading ??= this.#parts.sending());
    } catch {
      this.#loading = null;
      throw new UploadFault("lost");
    }
  }

  #item(path: string, file: File, batch: UploadBatch): UploadItem {
    const key = batch.prefix + path;
    const problem = keyProblem(key);
    const { size, lastModified: modified } = file;
    const fault = size > MAX_OBJECT_BYTES ? "too large" : problem === "too long" ? "name too long" : problem;
    const item: UploadItem = {
      id: this.items.length === 0 ? 0 : this.items[this.items.length - 1].id + 1,
      path,
      file,
      size,
      modified,
      batch,
      key,
      isFree: false,
      state: fault === null ? "looking" : "failed",
      sent: 0,
      fault,
      wasThere: false,
      ifAbsent: true,
      earlier: null,
      upload: null,
      pending: [],
      flight: new Map(),
      restarts: 0,
      isRecorded: false,
      mayBeWritten: false,
      pausing: null,
      steps: 0,
      control: null,
    };
    this.items.push(item);
    this.#counts.set(item.state, this.count(item.state) + 1);
    this.bytes += size;
    if (fault === null) {
      batch.open++;
      batch.keys.add(key);
    }
    return item;
  }

  /**
   * Hands what has arrived of files that have failed or are paused over to the same files chosen again, and takes those
   * off the list.
   *
   * @returns the files that the page did not have
   */
  #inherit(items: readonly UploadItem[]): UploadItem[] {
    const identity = ({ batch: { bucket, prefix }, key, size, modified }: UploadItem) =>
      JSON.stringify([bucket, prefix, key, size, modified]);
    const stopped = this.items.filter(({ state, fault }) =>
      state === "paused" || state === "failed" && typeof fault !== "string"
    );
    const before = new Map(stopped.map((item) => [identity(item), item]));
    if (before.size === 0) return [...items];
    const gone = new Set<UploadItem>();
    for (const item of items) {
      const old = before.get(identity(item));
      if (!old || gone.has(old)) continue;
      const { upload, earlier, mayBeWritten, isRecorded, sent } = old;
      Object.assign(item, { upload, earlier, mayBeWritten, isRecorded });
      this.#set(old, "cancelled");
      this.#counts.set("cancelled", this.count("cancelled") - 1);
      this.#sentTo(item, sent);
      gone.add(old);
    }
    this.items.splice(0, this.items.length, ...this.items.filter((item) => !gone.has(item)));
    this.#parts.onChange();
    return items.filter((item) => !before.has(identity(item)));
  }

  /** Finds out which names of a batch are in use, and lets the others begin. */
  async #lookUp(batch: UploadBatch): Promise<void> {
    const { bucket, prefix } = batch;
    const items = this.items.filter((item) => item.batch === batch && item.state === "looking");
    const keys = items.map(({ key }) => key);
    const { signal } = new AbortController();
    let records = new Map<string, FileRecord>();
    let taken = new Map<string, number>();
    let isListed = false;
    try {
      records = new Map((await this.#parts.journal.files(bucket, prefix)).map((record) => [record.key, record]));
      taken = await this.#persist(signal, () => findTaken(this.#parts.calls, bucket, keys, signal));
      isListed = true;
    } catch (error) {
      const fault = asFault(error);
      // Who may write and not list still overwrites nothing, as long as the store knows the condition.
      if (fault.kind !== "forbidden") return this.#halt(fault.kind === "gone" ? new UploadFault("no bucket") : fault);
    }
    for (const [index, item] of items.entries()) {
      const record = records.get(keys[index]);
      const isSame = record?.size === item.size && record.modified === item.modified;
      const earlier = isSame && record.upload && await this.#parts.claim(record.upload.uploadId) ? record.upload : null;
      // It may have been cancelled, another look-up may have been faster, or the answer may have led to another key.
      if (item.state !== "looking" || item.key !== keys[index]) continue;
      item.isFree = isListed && !taken.has(item.key);
      item.earlier ??= earlier;
      if (!taken.has(item.key)) this.#enqueue(item);
      else if (isSame && record?.upload === null && taken.get(item.key) === item.size) {
        item.wasThere = true;
        this.#sentTo(item, item.size);
        this.#set(item, "done");
      } else this.#set(item, "taken");
    }
    this.#takeAnswer(batch);
    this.#pump();
    this.#parts.onChange();
    await this.#settled(batch);
  }

  async #remember(batch: UploadBatch, items: readonly UploadItem[], handles: readonly FileSystemHandle[]) {
    const { bucket, prefix } = batch;
    const place = `${bucket}/${prefix}`;
    const before = this.#remembered.get(place) ?? await this.#interrupted(batch);
    const record: BatchRecord = {
      bucket,
      prefix,
      startedAt: before?.startedAt ?? this.#parts.clock.now(),
      files: (before?.files ?? 0) + items.length,
      bytes: (before?.bytes ?? 0) + items.reduce((sum, { size }) => sum + size, 0),
      handles: [...before?.handles ?? [], ...handles],
    };
    this.#remembered.set(place, record);
    await this.#parts.journal.putBatch(record);
  }

  /** An upload to the same folder that another page began, and of which these files are not all. */
  async #interrupted({ bucket, prefix, keys }: UploadBatch): Promise<BatchRecord | undefined> {
    const { journal } = this.#parts;
    const files = await journal.files(bucket, prefix);
    if (files.every((file) => file.prefix !== prefix || keys.has(file.key))) return undefined;
    return (await journal.batches()).find((one) => one.bucket === bucket && one.prefix === prefix);
  }

  #takeAnswer(batch: UploadBatch): void {
    if (batch.answer === null) return;
    const taken = this.items.filter((item) => item.batch === batch && item.state === "taken");
    if (taken.length === 0) return;
    if (batch.answer === "keep both") return this.#rename(batch, taken);
    for (const item of taken) {
      if (batch.answer === "skip") {
        this.#leave(item, "skipped");
        // The parts of a file whose name was taken meanwhile are of no use.
        if (item.upload ?? item.earlier) {
          this.#inBackground(item, async (signal) => (await this.#sender()).abort(item, signal));
        }
        continue;
      }
      item.ifAbsent = false;
      this.#enqueue(item);
    }
  }

  /** Chooses other names for files, and looks up whether these are in use as well. */
  #rename(batch: UploadBatch, items: readonly UploadItem[]): void {
    const { bucket, prefix, taken, keys } = batch;
    const { calls, journal } = this.#parts;
    for (const { key } of items) taken.add(key);
    const used = new Set(this.items.flatMap(({ batch, key }) => batch.bucket === bucket ? [key] : []));
    for (const item of items) {
      const { key } = item;
      const upload = item.upload ?? item.earlier;
      if (upload) {
        this.#inBackground(item, async (signal) => {
          await calls.abort({ bucket, key }, upload.uploadId, signal);
          await journal.forget({ bucket, key });
        });
      }
      item.upload = item.earlier = null;
      item.mayBeWritten = false;
      item.ifAbsent = true;
      item.key = freeKey(prefix + item.path, (free) => used.has(free) || taken.has(free));
      used.add(item.key);
      keys.add(item.key);
      this.#sentTo(item, 0);
      this.#set(item, "looking");
    }
    void this.#lookUp(batch);
  }

  #enqueue(item: UploadItem): void {
    this.#set(item, "waiting");
    this.#queue.push(item);
  }

  /** Puts a file that waits at the head of the queue, in the room of one that has left it. */
  #enqueueFirst(item: UploadItem): void {
    if (this.#begun > 0) this.#queue[--this.#begun] = item;
    else this.#queue.unshift(item);
  }

  /** Begins as many steps as there are free slots. */
  #pump(): void {
    while (!this.isPaused && this.halted === null) {
      const step = this.#next();
      if (!step) break;
      const { item, run } = step;
      const size = isSmall(item) ? "small" : "large";
      this.#running[size]++;
      item.steps++;
      this.#run(item, run).finally(() => {
        this.#running[size]--;
        item.steps--;
        if (item.pausing !== null && item.steps === 0) this.#interrupt(item, item.pausing.to);
        this.#pump();
      });
    }
  }

  /** The next step for which there is a slot: a part of a file that was begun, else the first of the next file. */
  #next(): Step | null {
    const isFree = { large: this.#running.large < SLOTS, small: this.#running.small < SMALL_SLOTS };
    for (const item of isFree.large ? this.#active : []) {
      const number = item.state === "sending" && item.pausing === null ? item.pending.shift() : undefined;
      if (number !== undefined) return { item, run: (signal) => this.#sendPart(item, number, signal) };
    }
    for (; this.#begun < this.#queue.length; this.#begun++) {
      const item = this.#queue[this.#begun];
      if (item.state !== "waiting") continue;
      if (!isFree[isSmall(item) ? "small" : "large"]) return null;
      this.#begun++;
      item.control = new AbortController();
      this.#active.add(item);
      this.#set(item, "sending");
      const isWhole = planParts(item.size) === null;
      return { item, run: (signal) => isWhole ? this.#sendWhole(item, signal) : this.#open(item, signal) };
    }
    this.#queue = [];
    this.#begun = 0;
    return null;
  }

  async #sendWhole(item: UploadItem, signal: AbortSignal): Promise<void> {
    // Many responses are under way when a page is left: what they would say is found by the listing then.
    if (item.isFree && item.ifAbsent) await this.#record(item);
    await this.#persist(signal, async () => {
      const steps = await this.#sender();
      this.#flight(item, 1, 0);
      return await steps.sendWhole(item, signal, (part, sent) => this.#flight(item, part, sent));
    });
    await this.#done(item);
  }

  async #open(item: UploadItem, signal: AbortSignal): Promise<void> {
    await this.#persist(signal, async () => (await this.#sender()).open(item, signal));
    const { upload } = item;
    if (!upload) return;
    const { plan, parts } = upload;
    let arrived = 0;
    for (const number of parts.keys()) arrived += partBytes(plan, number);
    this.#sentTo(item, arrived);
    item.pending = Array.from({ length: plan.parts }, (_, index) => index + 1).filter((number) => !parts.has(number));
    if (item.pending.length === 0) await this.#complete(item, signal);
  }

  async #sendPart(item: UploadItem, number: number, signal: AbortSignal): Promise<void> {
    const { upload } = item;
    if (!upload) return;
    await this.#persist(signal, async () => {
      const steps = await this.#sender();
      this.#flight(item, number, 0);
      return await steps.sendPart(item, upload, number, signal, (part, sent) => this.#flight(item, part, sent));
    });
    this.#flight(item, number, partBytes(upload.plan, number));
    item.flight.delete(number);
    if (upload.parts.size === upload.plan.parts && item.state === "sending") await this.#complete(item, signal);
  }

  async #complete(item: UploadItem, signal: AbortSignal): Promise<void> {
    const { upload } = item;
    if (!upload) return;
    this.#set(item, "finishing");
    await this.#persist(signal, async () => (await this.#sender()).complete(item, upload, signal));
    await this.#done(item);
  }

  async #done(item: UploadItem): Promise<void> {
    this.#forbidden.clear();
    this.#sentTo(item, item.size);
    this.#leave(item, "done");
    this.#endStop();
    await this.#toEnd(async () => {
      if (item.upload) await this.#parts.journal.forget(nameOf(item));
      if (!item.isRecorded) await this.#record(item);
      await this.#settled(item.batch);
    });
  }

  /** Ends a pause or stop that leaves nothing to resume: files that are chosen next are to begin. */
  #endStop(): void {
    const settled = [...SETTLED].reduce((sum, state) => sum + this.count(state), 0);
    if (settled < this.items.length) return;
    this.isPaused = false;
    this.halted = null;
    this.#forbidden.clear();
  }

  async #toEnd(change: () => Promise<void>): Promise<void> {
    this.#ending++;
    this.#parts.onChange();
    await change().finally(() => this.#ending--);
    this.#parts.onChange();
  }

  /** Remembers a file that is sent whole, or has arrived. */
  async #record(item: UploadItem): Promise<void> {
    const { size, modified, batch: { prefix } } = item;
    item.isRecorded = true;
    await this.#parts.journal.putFile({ ...nameOf(item), prefix, size, modified, upload: null });
  }

  /** The object that has the key is another one. */
  #unrecord(item: UploadItem): void {
    if (item.isRecorded) void this.#parts.journal.forget(nameOf(item));
    item.isRecorded = item.isFree = false;
  }

  /** Runs a step of a file, and draws the consequences of its failure. It never throws. */
  async #run(item: UploadItem, step: Step["run"]): Promise<void> {
    const { signal } = item.control ??= new AbortController();
    try {
      await step(signal);
    } catch (error) {
      // What was interrupted has its new state already.
      if (!signal.aborted) this.#failed(item, asFault(error));
    }
    this.#parts.onChange();
  }

  #failed(item: UploadItem, fault: UploadFault): void {
    const { kind } = fault;
    if (kind === "no condition" && item.ifAbsent) {
      // Without a listing, the condition alone keeps other objects from being overwritten.
      if (item.isFree || item.batch.answer !== "keep both") {
        item.ifAbsent = false;
        return this.#interrupt(item, item.isFree ? "waiting" : "taken");
      }
    }
    if (kind === "taken" && item.ifAbsent) {
      this.#unrecord(item);
      this.#interrupt(item, "taken");
      return this.#takeAnswer(item.batch);
    }
    if (kind === "gone" && item.restarts++ < MAX_RESTARTS) {
      item.upload = item.earlier = null;
      this.#sentTo(item, 0);
      return this.#interrupt(item, "waiting");
    }
    if (kind === "forbidden") this.#forbidden.add(item);
    if (FOR_ALL.has(kind) || this.#forbidden.size >= MAX_FORBIDDEN_FILES) return this.#halt(fault);
    item.fault = fault;
    this.#interrupt(item, "failed");
  }

  /** Stops everything for a reason that concerns all files. */
  #halt(fault: UploadFault): void {
    this.halted = fault;
    this.pace.restart();
    for (const item of [...this.#active].reverse()) this.#interrupt(item, item.pausing?.to ?? "waiting");
    this.#parts.onChange();
  }

  /** Pauses a file once its steps that are under way have ended, or have taken too long. */
  #pauseSoon(item: UploadItem, state: "waiting" | "paused"): void {
    // While nothing is sent, there is nothing to wait for.
    if (item.steps === 0 || this.#connection.isAway) return this.#interrupt(item, state);
    this.#goOn(item);
    const cancelTimer = this.#parts.clock.after(PAUSE_MS, () => {
      this.#interrupt(item, state);
      this.#parts.onChange();
    });
    item.pausing = { to: state, cancelTimer };
  }

  #goOn(item: UploadItem): void {
    item.pausing?.cancelTimer();
    item.pausing = null;
  }

  /** Ends the steps of a file that are under way. */
  #interrupt(item: UploadItem, state: UploadState): void {
    item.control?.abort();
    // The store may carry out a request that is given up: its object is then the file, not one that has taken its name.
    const isWhole = item.state === "sending" && planParts(item.size) === null;
    if (isWhole || item.state === "finishing") item.mayBeWritten = true;
    const under = [...item.flight.values()].reduce((sum, sent) => sum + sent, 0);
    this.#sentTo(item, item.sent - under);
    this.#leave(item, state);
    if (state === "waiting") this.#enqueueFirst(item);
  }

  #leave(item: UploadItem, state: UploadState): void {
    this.#active.delete(item);
    item.control = null;
    this.#goOn(item);
    item.pending = [];
    item.flight.clear();
    this.#set(item, state);
  }

  #set(item: UploadItem, state: UploadState): void {
    this.#counts.set(item.state, this.count(item.state) - 1);
    this.#counts.set(state, this.count(state) + 1);
    item.state = state;
    // What cannot be sent was never counted as open.
    if (SETTLED.has(state) && typeof item.fault !== "string") item.batch.open--;
    if (state !== "skipped" && state !== "cancelled") return;
    this.bytes -= item.size;
    this.#sentTo(item, 0);
  }

  /** Notes how much of a part has left. */
  #flight(item: UploadItem, part: number, sent: number): void {
    const before = item.flight.get(part) ?? 0;
    item.flight.set(part, sent);
    if (sent > before) this.pace.add(sent - before, this.#parts.clock.now());
    this.#sentTo(item, item.sent + sent - before);
    this.#parts.onChange();
  }

  #sentTo(item: UploadItem, sent: number): void {
    this.sentBytes += sent - item.sent;
    item.sent = sent;
  }

  /** Repeats a step after failures that pass. @throws UploadFault, or the signal's reason */
  async #persist<Result>(signal: AbortSignal, step: () => Promise<Result>): Promise<Result> {
    for (let failures = 0, forbidden = 0;;) {
      try {
        return await step();
      } catch (error) {
        signal.throwIfAborted();
        const fault = asFault(error);
        if (fault.kind === "lost" && await this.#connection.wasLost(signal)) continue;
        const isRetried = fault.isTransient
          ? ++failures < MAX_TRIES
          : fault.kind === "forbidden" && ++forbidden < MAX_FORBIDDEN;
        if (!isRetried) throw fault;
        const ms = Math.max(fault.retryAfterMs ?? 0, backoffMs(failures + forbidden, this.#parts.random()));
        await wait(this.#parts.clock, ms, signal);
      }
    }
  }

  /** Forgets what this page has sent to a folder once nothing is open there. */
  async #settled({ bucket, prefix }: UploadBatch): Promise<void> {
    const all = this.#chosen.filter((batch) => batch.bucket === bucket && batch.prefix === prefix);
    if (all.some(({ open }) => open > 0)) return;
    this.#remembered.delete(`${bucket}/${prefix}`);
    const keys = new Set(all.flatMap((batch) => [...batch.keys]));
    // Files that are cancelled together settle together: the first one has forgotten all of them.
    if (keys.size === 0) return;
    for (const batch of all) batch.keys.clear();
    await this.#toEnd(() => this.#parts.journal.forgetBatch(bucket, prefix, keys));
  }

  #inBackground(item: UploadItem, step: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = new AbortController();
    this.#persist(signal, () => step(signal)).catch(asFault).then(() => this.#settled(item.batch))
      .then(this.#parts.onChange);
  }
}

interface Step {
  readonly item: UploadItem;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function partBytes(plan: Parameters<typeof partSpan>[0], number: number): number {
  const { start, end } = partSpan(plan, number);
  return end - start;
}
