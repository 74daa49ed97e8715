import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { type EventType, notificationEvent } from "./event.ts";
import type { Notifier } from "./notifier.ts";

const NOTE = "disk";
/** Shortest time between two notifications of a kind, ms, however often the disk fills. */
const INTERVAL_MS = 3_600_000;

const KINDS = ["disk.full", "disk.low"] as const satisfies readonly EventType[];
type Kind = (typeof KINDS)[number];

/** Whether it was so at the last look, and when it was reported, ms since 1970. */
const LOOK = z.object({ holds: z.boolean(), at: z.number() });
const REMEMBERED = z.partialRecord(z.enum(KINDS), LOOK);
type Remembered = z.output<typeof REMEMBERED>;

interface DiskLookOptions {
  readonly notifier: Pick<Notifier, "notify" | "remember" | "remembered">;
  /** The data folder. */
  readonly folder: string;
  readonly disk: {
    /** Bytes; null where the system does not say. */
    room(): Promise<{ readonly free: number; readonly total: number } | null>;
    /** Whether little room is left; it must not alternate while the room is about the same. */
    isLow(): Promise<boolean>;
  };
  /** Whether a write fails for want of room. */
  readonly isFull: () => Promise<boolean>;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Returns what reports that the disk of the data folder has become full, or nearly so, since the look before, of an
 * earlier process too. It never throws.
 */
export function diskLook({ notifier, folder, disk, isFull, now }: DiskLookOptions): () => Promise<void> {
  /** Null before the first look. */
  let remembered: Remembered | null = null;

  /** @returns when it was reported last */
  async function report(kind: Kind, last: number, holds: Record<Kind, boolean>): Promise<number> {
    const at = now();
    const isSaid = kind === "disk.low" && holds["disk.full"];
    if (isSaid || (at - last < INTERVAL_MS && at >= last)) return last;
    const { free, total } = await disk.room() ?? { free: null, total: null };
    const state = kind === "disk.full" ? "is full" : "is nearly full";
    const left = free === null ? "" : `: ${gib(free)} of ${gib(total)} GiB are left`;
    const effect = kind === "disk.full" ? " Writes are refused; reading and deleting go on." : "";
    await notifier.notify(notificationEvent({
      type: kind,
      identity: [folder, String(at)],
      at,
      subject: `The disk of ${folder} ${state}`,
      summary: `The disk of the data folder ${folder} ${state}${left}.${effect}`,
      data: { folder, free_bytes: free, total_bytes: total },
    }));
    return at;
  }

  return async function look() {
    remembered ??= REMEMBERED.safeParse(parsedJson(await notifier.remembered(NOTE) ?? "")).data ?? {};
    const isFullNow = await isFull().catch(() => false);
    // A full disk is no news beside that it is nearly full, and the other way round.
    const holds: Record<Kind, boolean> = { "disk.full": isFullNow, "disk.low": isFullNow || await disk.isLow() };
    let isChanged = false;
    for (const kind of KINDS) {
      const before: z.output<typeof LOOK> = remembered[kind] ?? { holds: false, at: 0 };
      if (before.holds === holds[kind]) continue;
      isChanged = true;
      const at = holds[kind] ? await report(kind, before.at, holds) : before.at;
      remembered = { ...remembered, [kind]: { holds: holds[kind], at } };
    }
    if (isChanged) await notifier.remember(NOTE, JSON.stringify(remembered));
  };
}

function gib(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
