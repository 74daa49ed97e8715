import { LRUCache } from "lru-cache";
import { joinedBytes } from "@/lib/std/body_reader.ts";
import { ageSeconds, isOfEarlierAttempt, updatedInstant, withAge } from "./progress.ts";
import type { ProgressAnswer, Reason, StoredProgress, VolumeLinks, VolumeView } from "./types.ts";
import { openableSource } from "./urls.ts";
import { rfc3339 } from "./values.ts";
import type { VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

/** Rows whose JSON is cached: a page of the usual size and the rows that the summary shows beside it. */
export const CACHED_ROWS = 256;

/**
 * An active volume without progress for longer is shown as stalled, ms. A worker writes after each page and each change of
 * its stage, and the slowest pages take a few minutes.
 */
export const STALLED_AFTER_MS = 10 * 60_000;

/** A row as JSON. All of it stays the same between two responses, but for the age of the progress. */
export interface RowJson {
  /** UTF-8, without the age. */
  readonly bytes: Uint8Array;
  /** Where in it the age belongs, whole seconds; null where the row has none. */
  readonly age: { readonly at: number; readonly seconds: number } | null;
}

/**
 * The volumes of a campaign as a response shows them. The JSON of the rows used last is cached, so that a polled page
 * costs little more than copying it.
 */
export class VolumeRows {
  readonly #rows = new LRUCache<number, CachedRow>({ max: CACHED_ROWS });

  constructor(
    private readonly volumes: VolumeList,
    private readonly states: VolumeStates,
    private readonly links: (id: string) => VolumeLinks,
  ) {}

  /** The id of a volume. @throws RangeError beyond the last one */
  id(index: number): string {
    return this.volumes.id(index);
  }

  /** Why a volume failed, where that is known. */
  reason(index: number): Reason | null {
    return this.states.reason(index);
  }

  /** The state of a volume as it is shown, and whether its Job will not try it again. */
  #shownState(index: number): Pick<VolumeView, "state" | "final"> {
    const run = this.states.states[index];
    const state = run === "unfinished" ? "pending" : run;
    const isFinal = this.states.isFinal && (state === "pending" || state === "active");
    return { state, ...(isFinal && { final: true }) };
  }

  /** A volume with its progress, whose age is that at `now` (ms since 1970). @throws RangeError beyond the last one */
  view(index: number, answer: ProgressAnswer | undefined, now: number): VolumeView {
    const { id, source } = this.volumes.line(index);
    const { progress, forbidden } = this.#read(index, answer);
    const updated = progress && updatedInstant(progress);
    const reason = this.reason(index);
    const containerWaiting = this.states.containerWaiting(index);
    return {
      index,
      id,
      ...this.#shownState(index),
      ...this.links(id),
      sourceUrl: openableSource(source),
      progress: progress && withAge(progress, now, updated),
      forbidden,
      stalledSince: updated !== null && this.#isStalled(index, updated, now) ? rfc3339(updated) : null,
      ...(reason && { reason }),
      ...(containerWaiting && { containerWaiting }),
    };
  }

  /** The JSON of {@link view}. @throws RangeError beyond the last one */
  json(index: number, answer: ProgressAnswer | undefined, now: number): RowJson {
    const { progress, forbidden } = this.#read(index, answer);
    let row = this.#rows.get(index);
    if (
      row?.progress !== progress || row.forbidden !== forbidden ||
      row.isStalled !== (row.updated !== null && this.#isStalled(index, row.updated, now))
    ) {
      row = this.#cachedRow(index, answer, now);
      this.#rows.set(index, row);
    }
    const { bytes, ageAt, updated } = row;
    return { bytes, age: ageAt === null || updated === null ? null : { at: ageAt, seconds: ageSeconds(updated, now) } };
  }

  #cachedRow(index: number, answer: ProgressAnswer | undefined, now: number): CachedRow {
    const { progress, forbidden } = this.#read(index, answer);
    const view = this.view(index, answer, now);
    const text = JSON.stringify(view);
    const updated = progress && updatedInstant(progress);
    const isStalled = view.stalledSince !== null;
    if (updated === null) return { progress, forbidden, updated, isStalled, bytes: encoder.encode(text), ageAt: null };
    // No text from a bucket can be taken for the member: a quote within a text is escaped.
    const ageStart = text.indexOf(AGE) + AGE.length;
    const head = encoder.encode(text.slice(0, ageStart));
    const tail = encoder.encode(text.slice(text.indexOf("}", ageStart)));
    return { progress, forbidden, updated, isStalled, bytes: joinedBytes([head, tail]), ageAt: head.length };
  }

  /** A pending volume has no progress, even if a file was read. */
  #read(index: number, answer: ProgressAnswer | undefined): Pick<CachedRow, "progress" | "forbidden"> {
    const read = this.states.states[index] === "pending" ? undefined : answer;
    return { progress: read?.progress ?? null, forbidden: read?.forbidden ?? false };
  }

  #isStalled(index: number, updated: number, now: number): boolean {
    return this.states.states[index] === "active" && now - updated > STALLED_AFTER_MS &&
      !isOfEarlierAttempt(updated, this.states.attemptAt(index));
  }
}

interface CachedRow {
  /** The progress in the JSON: a cached file is shown many times. */
  readonly progress: StoredProgress | null;
  readonly forbidden: boolean;
  readonly isStalled: boolean;
  /** The instant of the update, ms since 1970. */
  readonly updated: number | null;
  readonly bytes: Uint8Array;
  readonly ageAt: number | null;
}

const AGE = '"ageSeconds":';
const encoder = new TextEncoder();

/** Most digits of an age: that of a whole number that JSON writes without an exponent. */
const MAX_AGE_DIGITS = 21;

/** Rows with commas between them. */
export function separated(rows: readonly RowJson[]): (RowJson | string)[] {
  return rows.flatMap((row, position) => position === 0 ? [row] : [",", row]);
}

/** Texts and rows one after the other as UTF-8, each age in its place. */
export function joinedJson(parts: readonly (string | RowJson)[]): Uint8Array<ArrayBuffer> {
  let room = 0;
  // A character of a text takes three bytes at most.
  for (const part of parts) room += typeof part === "string" ? part.length * 3 : part.bytes.length + MAX_AGE_DIGITS;
  const joined = new Uint8Array(room);
  let end = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      end += encoder.encodeInto(part, joined.subarray(end)).written;
      continue;
    }
    const { bytes, age } = part;
    if (!age) {
      joined.set(bytes, end);
      end += bytes.length;
      continue;
    }
    joined.set(bytes.subarray(0, age.at), end);
    end += age.at;
    const digits = String(age.seconds);
    for (let i = 0; i < digits.length; i++) joined[end++] = digits.charCodeAt(i);
    joined.set(bytes.subarray(age.at), end);
    end += bytes.length - age.at;
  }
  return joined.subarray(0, end);
}
