import type { Clock } from "@/lib/pages/browser/poller_client.ts";
import { OutdatedPage } from "@/lib/pages/browser/load_code_client.tsx";
import { NamesInUse } from "./names_in_use_client.ts";
import { Connection } from "./retry_client.ts";
import { asFault, type ObjectName, type Put, type UploadCalls, UploadFault } from "./upload_calls_client.ts";
import {
  isSettled,
  ItemList,
  type NameAnswer,
  nameOf,
  partSpan,
  planParts,
  type UploadBatch,
  type UploadItem,
  type UploadState,
} from "./upload_items_client.ts";
import type { UploadJournal } from "./upload_journal_client.ts";
import { UploadMemory } from "./upload_memory_client.ts";
import { type UploadRoute, UploadRoutes } from "./upload_route_client.ts";
import type { Sending, UploadSteps } from "./upload_sending_client.ts";

/** The time over which a rate is taken, ms. */
const WINDOW_MS = 10_000;
/** Shortest time of which a rate says something, ms. */
const LEAST_MS = 1000;
/** Samples within this time are one, ms. */
const SAMPLE_MS = 250;

interface Sample {
  readonly at: number;
  bytes: number;
}

/** How fast bytes go, over the last ten seconds. */
export class UploadPace {
  #samples: Sample[] = [];
  #since: number | null = null;

  /** Adds bytes that were sent. @param now ms on a clock that only grows */
  add(bytes: number, now: number): void {
    this.#since ??= now;
    const last = this.#samples.at(-1);
    if (last && now - last.at < SAMPLE_MS) last.bytes += bytes;
    else this.#samples.push({ at: now, bytes });
    this.#forget(now);
  }

  /** Forgets what was sent, as after a pause. */
  restart(): void {
    this.#samples = [];
    this.#since = null;
  }

  /** Bytes a second; null as long as too little is known. */
  rate(now: number): number | null {
    if (this.#since === null) return null;
    this.#forget(now);
    const spanMs = Math.min(WINDOW_MS, now - this.#since);
    if (spanMs < LEAST_MS) return null;
    return this.#samples.reduce((sum, { bytes }) => sum + bytes, 0) / spanMs * 1000;
  }

  #forget(now: number): void {
    while (this.#samples.length > 0 && now - this.#samples[0].at > WINDOW_MS) this.#samples.shift();
  }
}

/** A file that was chosen, with the folders that were chosen above it. */
export interface ChosenFile {
  readonly path: string;
  readonly file: File;
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
  /** The origin of the page, for the CORS rule that it needs. */
  readonly origin: string;
  /** Something that the page shows has changed. */
  readonly onChange: () => void;
}

/** Requests that send at a time: browsers open six connections to a host. */
const SLOTS = 6;
const MAX_RESTARTS = 2;
/** Failures that the other files would meet as well. */
const FOR_ALL: ReadonlySet<string> = new Set(["session", "outdated", "no bucket", "full"]);
/** Files that the store calls forbidden one after the other, after which it would the others as well. */
const MAX_FORBIDDEN_FILES = 3;

/**
 * Sends files: several at a time, large ones in parts, each step again after failures that pass. It can be paused; it
 * waits while the network is away; what was sent is remembered, so that the same files need not be sent again after a
 * reload.
 */
export class UploadEngine {
  isPaused = false;
  /** Why everything has stopped, until it is resumed. */
  halted: UploadFault | null = null;
  readonly pace = new UploadPace();
  readonly #parts: EngineParts;
  readonly #routes: UploadRoutes;
  #loading: Promise<Sending> | null = null;
  #steps: UploadSteps | null = null;
  readonly #connection: Connection;
  readonly #list = new ItemList();
  readonly #memory: UploadMemory;
  readonly #names: NamesInUse;
  /** In order, with files that no longer wait; those before `#begun` have had their turn. */
  #queue: UploadItem[] = [];
  #begun = 0;
  readonly #active = new Set<UploadItem>();
  /** Steps under way. */
  #running = 0;
  /** Since a file was last taken. */
  readonly #forbidden = new Set<UploadItem>();

  constructor(parts: EngineParts) {
    const { calls, onChange, origin } = parts;
    const put: Put = async (request) => (await this.#sending()).put(request);
    this.#parts = parts;
    this.#routes = new UploadRoutes(calls, put, origin, onChange);
    this.#connection = new Connection({ ...parts, isReachable: (signal) => calls.isReachable(signal) });
    this.#memory = new UploadMemory(parts);
    this.#names = new NamesInUse({
      ...parts,
      list: this.#list,
      memory: this.#memory,
      connection: this.#connection,
      enqueue: (item) => this.#enqueue(item),
      halt: (fault) => this.#halt(fault),
      onFound: () => {
        this.#pump();
        onChange();
      },
    });
  }

  get items(): readonly UploadItem[] {
    return this.#list.items;
  }

  /** Bytes of all files that were not skipped or cancelled. */
  get bytes(): number {
    return this.#list.bytes;
  }

  /** Bytes that have left. */
  get sentBytes(): number {
    return this.#list.sentBytes;
  }

  get isAway(): boolean {
    return this.#connection.isAway;
  }

  /** The ways of bytes into the buckets, as far as they are known. */
  get routes(): ReadonlyMap<string, UploadRoute> {
    return this.#routes.known;
  }

  count(state: UploadState): number {
    return this.#list.count(state);
  }

  /** Whether something is under way or waits for its turn, so that leaving the page would interrupt it. */
  get isBusy(): boolean {
    return this.count("looking") + this.count("waiting") + this.count("sending") + this.count("finishing") > 0;
  }

  /** Whether the journal still has files that have ended: a page that is opened by then calls their upload interrupted. */
  get isEnding(): boolean {
    return this.#memory.isEnding;
  }

  /** Whether the store has parts of a file that may still be sent: other pages are to leave them alone. */
  get hasParts(): boolean {
    return this.items.some((item) => item.upload !== null && !isSettled(item));
  }

  /**
   * Adds files that are to go to a folder. Names in use are looked up first; the answer for them is given by
   * {@linkcode answer}, while the others are already on their way. Those that have failed or are paused go on by the same
   * files chosen again.
   *
   * @param handles what can be read again after a reload
   */
  async add(
    files: readonly ChosenFile[],
    { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
    handles: readonly FileSystemHandle[] = [],
  ): Promise<void> {
    const stopped = new Map(this.items.filter(isStopped).map((item) => [nameText(nameOf(item)), item]));
    const batch: UploadBatch = { bucket, prefix, answer: null, taken: new Set(), keys: new Set(), open: 0 };
    const items: UploadItem[] = [];
    for (const { path, file } of files) {
      const old = stopped.get(nameText({ bucket, key: prefix + path }));
      if (old && old.size === file.size && old.modified === file.lastModified) {
        old.file = file;
        this.resumeItem(old);
      } else items.push(this.#list.add(path, file, batch));
    }
    this.#parts.onChange();
    const sendable = items.filter(({ state }) => state === "looking");
    if (sendable.length === 0) return;
    await this.#memory.begin(batch, sendable, handles);
    await this.#names.lookUp(batch);
  }

  /** Says what happens to files whose names are in use, also to those that are found later. */
  answer(answer: NameAnswer): void {
    this.#names.answer(answer);
    this.#endStop();
    this.#pump();
    this.#parts.onChange();
  }

  /** Begins nothing more, and ends requests that send: parts that have arrived stay. */
  pause(): void {
    this.isPaused = true;
    this.pace.restart();
    for (const item of [...this.#active].reverse()) if (item.state === "sending") this.#interrupt(item, "waiting");
    this.#parts.onChange();
  }

  resume(): void {
    this.isPaused = false;
    this.halted = null;
    this.#forbidden.clear();
    this.#connection.probeNow();
    for (const batch of this.#list.batchesOf("looking")) void this.#names.lookUp(batch);
    this.#pump();
    this.#parts.onChange();
  }

  pauseItem(item: UploadItem): void {
    if (item.state !== "waiting" && item.state !== "sending") return;
    this.#interrupt(item, "paused");
    this.#pump();
    this.#parts.onChange();
  }

  /** Goes on with a file that was paused or has failed. */
  resumeItem(item: UploadItem): void {
    if (!isStopped(item)) return;
    item.fault = null;
    item.restarts = 0;
    this.#enqueue(item);
    this.#pump();
    this.#parts.onChange();
  }

  retryFailed(): void {
    for (const item of this.items) if (item.state === "failed") this.resumeItem(item);
  }

  /** Cancels a file, and deletes the parts that were sent. */
  async cancelItem(item: UploadItem): Promise<void> {
    if (isSettled(item)) return;
    this.#interrupt(item, "cancelled");
    this.#endStop();
    this.#pump();
    this.#parts.onChange();
    const { signal } = new AbortController();
    const discard = this.#memory.discard(item);
    // Where it fails, the upload stays in the bucket's list of uploads that have not ended.
    if (discard) await this.#connection.retry(signal, () => discard(signal)).catch(asFault);
    await this.#memory.settled(item.batch);
  }

  async cancelAll(): Promise<void> {
    const open = this.items.filter((item) => !isSettled(item));
    this.#queue = [];
    this.#begun = 0;
    await Promise.all(open.map((item) => this.cancelItem(item)));
  }

  /** Forgets files that need nothing more, so that the list shows the others. */
  clear(): void {
    this.#list.clear();
    this.#parts.onChange();
  }

  /** The browser has the network back. */
  online(): void {
    this.#connection.probeNow();
  }

  /** Adds the CORS rule that lets this page send straight to a bucket. @throws UploadFault */
  async allowDirect(bucket: string): Promise<void> {
    await this.#routes.allow(bucket);
  }

  async #sender(): Promise<UploadSteps> {
    const sending = await this.#sending();
    return this.#steps ??= sending.steps({ ...this.#parts, ...sending, routes: this.#routes });
  }

  /** @throws UploadFault `outdated`, or `lost` where it cannot be loaded, after which it is loaded again */
  async #sending(): Promise<Sending> {
    try {
      return await (this.#loading ??= this.#parts.sending());
    } catch (error) {
      this.#loading = null;
      throw new UploadFault(error instanceof OutdatedPage ? "outdated" : "lost");
    }
  }

  #enqueue(item: UploadItem): void {
    this.#list.set(item, "waiting");
    this.#queue.push(item);
  }

  /** Puts a file that waits at the head of the queue, in the place of one that has had its turn. */
  #enqueueFirst(item: UploadItem): void {
    if (this.#begun > 0) this.#queue[--this.#begun] = item;
    else this.#queue.unshift(item);
  }

  /** Begins as many steps as there are free slots. */
  #pump(): void {
    while (!this.isPaused && this.halted === null && this.#running < SLOTS) {
      const step = this.#next();
      if (!step) break;
      const { item, run } = step;
      this.#running++;
      this.#run(item, run).finally(() => {
        this.#running--;
        this.#pump();
      });
    }
  }

  /** The next step: a part of a file that was begun, else the first of the next file. */
  #next(): Step | null {
    for (const item of this.#active) {
      const number = item.state === "sending" ? item.pending.shift() : undefined;
      if (number !== undefined) return { item, run: (signal) => this.#sendPart(item, number, signal) };
    }
    while (this.#begun < this.#queue.length) {
      const item = this.#queue[this.#begun++];
      if (item.state !== "waiting") continue;
      item.control = new AbortController();
      this.#active.add(item);
      this.#list.set(item, "sending");
      const isWhole = planParts(item.size) === null;
      return { item, run: (signal) => isWhole ? this.#sendWhole(item, signal) : this.#open(item, signal) };
    }
    this.#queue = [];
    this.#begun = 0;
    return null;
  }

  async #sendWhole(item: UploadItem, signal: AbortSignal): Promise<void> {
    // Many responses are under way when a page is left: what they would say is found by the listing then.
    if (item.isFree && item.ifAbsent) await this.#memory.record(item);
    await this.#connection.retry(signal, async () => {
      const steps = await this.#sender();
      this.#flight(item, 1, 0);
      return await steps.sendWhole(item, signal, (sent) => this.#flight(item, 1, sent));
    });
    await this.#done(item);
  }

  async #open(item: UploadItem, signal: AbortSignal): Promise<void> {
    await this.#connection.retry(signal, async () => (await this.#sender()).open(item, signal));
    const { upload } = item;
    if (!upload) return;
    const { plan, parts } = upload;
    let arrived = 0;
    for (const number of parts.keys()) arrived += partBytes(plan, number);
    this.#list.sentTo(item, arrived);
    item.pending = Array.from({ length: plan.parts }, (_, index) => index + 1).filter((number) => !parts.has(number));
    if (item.pending.length === 0) await this.#complete(item, signal);
  }

  async #sendPart(item: UploadItem, number: number, signal: AbortSignal): Promise<void> {
    const { upload } = item;
    if (!upload) return;
    await this.#connection.retry(signal, async () => {
      const steps = await this.#sender();
      this.#flight(item, number, 0);
      return await steps.sendPart(item, upload, number, signal, (sent) => this.#flight(item, number, sent));
    });
    this.#flight(item, number, partBytes(upload.plan, number));
    item.flight.delete(number);
    if (upload.parts.size === upload.plan.parts && item.state === "sending") await this.#complete(item, signal);
  }

  async #complete(item: UploadItem, signal: AbortSignal): Promise<void> {
    const { upload } = item;
    if (!upload) return;
    this.#list.set(item, "finishing");
    await this.#connection.retry(signal, async () => (await this.#sender()).complete(item, upload, signal));
    await this.#done(item);
  }

  async #done(item: UploadItem): Promise<void> {
    this.#forbidden.clear();
    this.#list.sentTo(item, item.size);
    this.#leave(item, "done");
    this.#endStop();
    await this.#memory.arrived(item);
  }

  /** Ends a pause or stop that leaves nothing to resume: files that are chosen next are to begin. */
  #endStop(): void {
    if (!this.#list.isSettled) return;
    this.isPaused = false;
    this.halted = null;
    this.#forbidden.clear();
  }

  /** Runs a step of a file, and draws the consequences of its failure. It never throws. */
  async #run(item: UploadItem, step: Step["run"]): Promise<void> {
    const { signal } = item.control ??= new AbortController();
    try {
      await step(signal);
    } catch (error) {
      // An interrupted file has its new state already.
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
      this.#memory.unrecord(item);
      this.#interrupt(item, "taken");
      return this.#names.applyAnswer(item.batch);
    }
    if (kind === "gone" && item.restarts++ < MAX_RESTARTS) {
      item.upload = item.earlier = null;
      this.#list.sentTo(item, 0);
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
    for (const item of [...this.#active].reverse()) this.#interrupt(item, "waiting");
    this.#parts.onChange();
  }

  /** Ends the steps of a file that are under way. */
  #interrupt(item: UploadItem, state: UploadState): void {
    item.control?.abort();
    // The store may carry out a request that is aborted: its object is then the file, not one that has taken its name.
    const isWhole = item.state === "sending" && planParts(item.size) === null;
    if (isWhole || item.state === "finishing") item.mayBeWritten = true;
    const under = [...item.flight.values()].reduce((sum, sent) => sum + sent, 0);
    this.#list.sentTo(item, item.sent - under);
    this.#leave(item, state);
    if (state === "waiting") this.#enqueueFirst(item);
  }

  #leave(item: UploadItem, state: UploadState): void {
    this.#active.delete(item);
    item.control = null;
    item.pending = [];
    item.flight.clear();
    this.#list.set(item, state);
  }

  /** Notes how much of a part has left. */
  #flight(item: UploadItem, part: number, sent: number): void {
    const before = item.flight.get(part) ?? 0;
    item.flight.set(part, sent);
    if (sent > before) this.pace.add(sent - before, this.#parts.clock.now());
    this.#list.sentTo(item, item.sent + sent - before);
    this.#parts.onChange();
  }
}

/** Whether a file can go on that has failed or is paused. */
function isStopped({ state, fault }: UploadItem): boolean {
  return (state === "paused" || state === "failed") && !fault?.isFinal;
}

/** A name as the key of a map. */
function nameText({ bucket, key }: ObjectName): string {
  return `${bucket}/${key}`;
}

interface Step {
  readonly item: UploadItem;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function partBytes(plan: Parameters<typeof partSpan>[0], number: number): number {
  const { start, end } = partSpan(plan, number);
  return end - start;
}
