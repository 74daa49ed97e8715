import type { Clock } from "@/lib/pages/browser/poller_client.ts";
import { OutdatedPage } from "@/lib/pages/browser/load_code_client.tsx";
import { NamesInUse } from "./names_in_use_client.ts";
import { Connection } from "./retry_client.ts";
import { asFault, type Put, type UploadCalls, UploadFault } from "./upload_calls_client.ts";
import {
  isSettled,
  ItemList,
  type NameAnswer,
  partSpan,
  SINGLE_PUT_BYTES,
  type UploadBatch,
  type UploadItem,
  type UploadState,
} from "./upload_items_client.ts";
import type { UploadFolder, UploadJournal } from "./upload_journal_client.ts";
import { UploadMemory } from "./upload_memory_client.ts";
import { UploadRoutes } from "./upload_route_client.ts";
import type { Sending, UploadSteps } from "./upload_sending_client.ts";

/** The time over which a rate is measured, ms. */
const WINDOW_MS = 10_000;
/** Shortest time for a meaningful rate, ms. */
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
  readonly folder: UploadFolder;
  readonly calls: UploadCalls;
  /** Loads the code that sends: most visits of a folder upload nothing. */
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
/** Files in a row that the store rejects as forbidden, after which all others are expected to be. */
const MAX_FORBIDDEN_FILES = 3;

/**
 * Sends files to a folder: several at a time, large ones in parts, each step again after transient failures. It can be
 * paused; it waits while there is no network; a journal records what was sent, so that the same files need not be sent
 * again after a reload.
 */
export class UploadEngine {
  isPaused = false;
  /** Why everything has stopped, until it is resumed. */
  halted: UploadFault | null = null;
  readonly pace = new UploadPace();
  readonly list = new ItemList();
  readonly routes: UploadRoutes;
  readonly connection: Connection;
  readonly memory: UploadMemory;
  readonly #names: NamesInUse;
  #loading: Promise<Sending> | null = null;
  #steps: UploadSteps | null = null;
  readonly #active = new Set<UploadItem>();
  /** Steps under way. */
  #running = 0;
  /** Since a file was last accepted. */
  readonly #forbidden = new Set<UploadItem>();

  constructor(private readonly parts: EngineParts) {
    const put: Put = async (request) => (await this.#sending()).put(request);
    const { list } = this;
    this.routes = new UploadRoutes(parts.calls, put, parts.origin, parts.onChange);
    const connection = this.connection = new Connection(parts);
    const memory = this.memory = new UploadMemory({ ...parts, list, connection });
    const halt = (fault: UploadFault) => this.#halt(fault);
    this.#names = new NamesInUse({ ...parts, list, memory, connection, halt, onChange: () => this.#goOn() });
  }

  /** Whether something is under way or waits for its turn, so that leaving the page would interrupt it. */
  get isBusy(): boolean {
    const { list } = this;
    return list.count("looking") + list.count("waiting") + list.count("sending") + list.count("finishing") > 0;
  }

  /** Whether the store has parts of a file that may still be sent: other pages are to leave them alone. */
  get hasParts(): boolean {
    return this.list.items.some((item) => item.upload !== null && !isSettled(item));
  }

  /**
   * Adds files. Names in use are looked up first; the answer for them is given by {@linkcode answer}, while the others are
   * already on their way. Failed or paused files resume when the same files are chosen again.
   *
   * @param handles what can be read again after a reload
   */
  async add(files: readonly ChosenFile[], handles: readonly FileSystemHandle[] = []): Promise<void> {
    const stopped = new Map(this.list.items.filter(isStopped).map((item) => [item.key, item]));
    const { prefix } = this.parts.folder;
    const batch: UploadBatch = { prefix, answer: null, taken: new Set() };
    const items: UploadItem[] = [];
    for (const { path, file } of files) {
      const old = stopped.get(prefix + path);
      if (old && old.size === file.size && old.modified === file.lastModified) {
        old.file = file;
        this.resumeItem(old);
      } else items.push(this.list.add(path, file, batch));
    }
    this.parts.onChange();
    const sendable = items.filter(({ state }) => state === "looking");
    if (sendable.length === 0) return;
    await this.memory.begin(sendable, handles);
    await this.#names.lookUp(batch);
  }

  /** Decides what happens to files whose names are in use, also to those that are found later. */
  answer(answer: NameAnswer): void {
    this.#names.answer(answer);
    this.#endStop();
    this.#goOn();
  }

  /** Starts nothing more, and ends requests that send: parts that have arrived stay. */
  pause(): void {
    this.isPaused = true;
    this.pace.restart();
    for (const item of [...this.#active].reverse()) if (item.state === "sending") this.#interrupt(item, "waiting");
    this.parts.onChange();
  }

  resume(): void {
    this.isPaused = false;
    this.halted = null;
    this.#forbidden.clear();
    this.connection.probeNow();
    for (const batch of this.list.batchesOf("looking")) void this.#names.lookUp(batch);
    this.#goOn();
  }

  pauseItem(item: UploadItem): void {
    if (item.state !== "waiting" && item.state !== "sending") return;
    this.#interrupt(item, "paused");
    this.#goOn();
  }

  /** Resumes a file that was paused or has failed. */
  resumeItem(item: UploadItem): void {
    if (!isStopped(item)) return;
    item.fault = null;
    item.restarts = 0;
    this.list.enqueue(item);
    this.#goOn();
  }

  retryFailed(): void {
    for (const item of this.list.items) if (item.state === "failed") this.resumeItem(item);
  }

  /** Cancels a file, and deletes the parts that were sent. */
  async cancelItem(item: UploadItem): Promise<void> {
    if (isSettled(item)) return;
    this.#interrupt(item, "cancelled");
    this.#endStop();
    this.#goOn();
    await this.memory.discard(item);
  }

  async cancelAll(): Promise<void> {
    const open = this.list.items.filter((item) => !isSettled(item));
    this.list.clearQueue();
    await Promise.all(open.map((item) => this.cancelItem(item)));
  }

  async #sender(): Promise<UploadSteps> {
    const sending = await this.#sending();
    return this.#steps ??= sending.steps({ ...this.parts, ...sending, memory: this.memory, routes: this.routes });
  }

  /** @throws UploadFault `outdated`, or `lost` where it cannot be loaded, after which it is loaded again */
  async #sending(): Promise<Sending> {
    try {
      return await (this.#loading ??= this.parts.sending());
    } catch (error) {
      this.#loading = null;
      throw new UploadFault(error instanceof OutdatedPage ? "outdated" : "lost");
    }
  }

  #goOn(): void {
    this.#pump();
    this.parts.onChange();
  }

  /** Starts as many steps as there are free slots. */
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

  /** The next step: a part of a file under way, else the first step of the next file. */
  #next(): Step | null {
    for (const item of this.#active) {
      const number = item.state === "sending" ? item.pending.shift() : undefined;
      if (number !== undefined) return { item, run: (signal) => this.#sendPart(item, number, signal) };
    }
    const item = this.list.next();
    if (item === null) return null;
    item.control = new AbortController();
    this.#active.add(item);
    this.list.set(item, "sending");
    const isWhole = item.size <= SINGLE_PUT_BYTES;
    return { item, run: (signal) => isWhole ? this.#sendWhole(item, signal) : this.#open(item, signal) };
  }

  async #sendWhole(item: UploadItem, signal: AbortSignal): Promise<void> {
    // Many responses are under way when a page is left: the listing then shows which files have arrived.
    if (item.isFree && item.ifAbsent) await this.memory.record(item, null);
    await this.connection.retry(signal, async () => {
      const steps = await this.#sender();
      this.#flight(item, 1, 0);
      return await steps.sendWhole(item, signal, (sent) => this.#flight(item, 1, sent));
    });
    await this.#done(item);
  }

  async #open(item: UploadItem, signal: AbortSignal): Promise<void> {
    const { plan, parts } = await this.connection.retry(
      signal,
      async () => item.upload ?? await (await this.#sender()).open(item, signal),
    );
    let arrived = 0;
    for (const number of parts.keys()) arrived += partBytes(plan, number);
    this.list.sentTo(item, arrived);
    item.pending = Array.from({ length: plan.parts }, (_, index) => index + 1).filter((number) => !parts.has(number));
    if (item.pending.length === 0) await this.#complete(item, signal);
  }

  async #sendPart(item: UploadItem, number: number, signal: AbortSignal): Promise<void> {
    const { upload } = item;
    if (!upload) return;
    await this.connection.retry(signal, async () => {
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
    this.list.set(item, "finishing");
    await this.connection.retry(signal, async () => (await this.#sender()).complete(item, upload, signal));
    await this.#done(item);
  }

  async #done(item: UploadItem): Promise<void> {
    this.#forbidden.clear();
    this.list.sentTo(item, item.size);
    this.#leave(item, "done");
    this.#endStop();
    await this.memory.arrived(item);
  }

  /** Ends a pause or stop that leaves nothing to resume, so that files chosen next are sent. */
  #endStop(): void {
    if (this.list.open > 0) return;
    this.isPaused = false;
    this.halted = null;
    this.#forbidden.clear();
  }

  /** Runs a step of a file, and handles its failure. It never throws. */
  async #run(item: UploadItem, step: Step["run"]): Promise<void> {
    const { signal } = item.control ??= new AbortController();
    try {
      await step(signal);
    } catch (error) {
      // An interrupted file has its new state already.
      if (!signal.aborted) this.#failed(item, asFault(error));
    }
    this.parts.onChange();
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
      this.memory.unrecord(item);
      this.#interrupt(item, "taken");
      return this.#names.applyAnswer(item.batch);
    }
    if (kind === "gone" && item.restarts++ < MAX_RESTARTS) {
      item.upload = item.earlier = null;
      this.list.sentTo(item, 0);
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
    this.parts.onChange();
  }

  /** Ends the steps of a file that are under way. */
  #interrupt(item: UploadItem, state: UploadState): void {
    item.control?.abort();
    // The store may carry out a request that is aborted: the object is then the file, not another one of its name.
    const isWhole = item.state === "sending" && item.size <= SINGLE_PUT_BYTES;
    if (isWhole || item.state === "finishing") item.mayBeWritten = true;
    const under = [...item.flight.values()].reduce((sum, sent) => sum + sent, 0);
    this.list.sentTo(item, item.sent - under);
    this.#leave(item, state);
  }

  #leave(item: UploadItem, state: UploadState): void {
    this.#active.delete(item);
    item.control = null;
    item.pending = [];
    item.flight.clear();
    if (state === "waiting") this.list.enqueueFirst(item);
    else this.list.set(item, state);
  }

  /** Notes how much of a part has left. */
  #flight(item: UploadItem, part: number, sent: number): void {
    const before = item.flight.get(part) ?? 0;
    item.flight.set(part, sent);
    if (sent > before) this.pace.add(sent - before, this.parts.clock.now());
    this.list.sentTo(item, item.sent + sent - before);
    this.parts.onChange();
  }
}

/** Whether a file that has failed or is paused can be resumed. */
function isStopped({ state, fault }: UploadItem): boolean {
  return (state === "paused" || state === "failed") && !fault?.isFinal;
}

interface Step {
  readonly item: UploadItem;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function partBytes(plan: Parameters<typeof partSpan>[0], number: number): number {
  const { start, end } = partSpan(plan, number);
  return end - start;
}
