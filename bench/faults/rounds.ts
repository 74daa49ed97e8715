import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { compareAll, type Compared } from "@/bench/crash/compare.ts";
import { checkFolder } from "@/bench/crash/folder_check.ts";
import { Ledger } from "@/bench/crash/ledger.ts";
import { writeUntilGone } from "@/bench/crash/load.ts";
import type { Answer } from "@/bench/wire/http_connection.ts";
import { elementText, embeddedServer, type S3Server, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { between, seededRandom } from "@/embedded/archive/catalogue.ts";
import { startApplication } from "@/tests/application.ts";
import { type DamageRound, damageRounds } from "./damage.ts";
import { CALLS, EIO, ENOSPC, type Faults, type IoFaults } from "./io_faults.ts";

const WRITERS = 6;
const KEYS_EACH = 6;
const BUCKETS = { unversioned: "letters", versioned: "maps" };
/** Number of events before calls start to fail … */
const EVENTS = { least: 60, most: 400 };
/** … and each writer goes on until one of its requests fails, or there were so many more. */
const FURTHER_EVENTS = 400;
const ENV = { EMBEDDED: "store", ROLES: "gateway,results" };

const WRITING = CALLS.writes | CALLS.syncs | CALLS.cuts;
const ALL = WRITING | CALLS.renames | CALLS.removals | CALLS.reads | CALLS.opens;

/** The disks of the rounds, in turn. */
export const DISKS: Readonly<Record<string, Faults>> = {
  "some writes fail": { calls: WRITING, share: 0.02, error: EIO },
  "it is gone": { calls: ALL, share: 1, error: EIO },
  "some reads fail": { calls: CALLS.reads, share: 0.02, error: EIO },
  "no sync succeeds": { calls: CALLS.syncs, share: 1, error: EIO },
  "it is full": { calls: CALLS.writes | CALLS.cuts, share: 1, error: ENOSPC },
  "some files cannot be opened or removed": {
    calls: CALLS.opens | CALLS.removals | CALLS.renames,
    share: 0.2,
    error: EIO,
  },
};

/** Result of one round of faults and the start after it. */
export interface FaultRound extends Compared {
  readonly round: number;
  readonly disk: string;
  /** Calls that failed. */
  readonly failed: number;
  /** Requests that were refused, by status and code. */
  readonly refusals: string;
  /** The readiness response at the end of the faults. */
  readonly ready: string;
  /** Reads during the faults that had the right bytes. */
  readonly reads: number;
  /** Whether the process ended during the faults or at SIGTERM. */
  readonly end: string;
  readonly files: number;
}

/**
 * Has calls on the data folder fail in the middle of a mixed load, and compares everything: with the process that has
 * survived it, and after the next start. Throws with the seed when anything that was acknowledged is lost or changed.
 */
export async function* faultRounds(faults: IoFaults, rounds: number, seed: number): AsyncGenerator<FaultRound> {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-faults-" });
  const ledger = new Ledger(WRITERS, KEYS_EACH, BUCKETS);
  const start = () => startApplication({ dataFolder, env: ENV, within: faults.within(dataFolder) });
  let application = await start();
  let isRunning = true;
  let round = 0;
  try {
    for (round = 1; round <= rounds; round++) {
      const random = seededRandom("faults", seed, round);
      const disks = Object.entries(DISKS);
      const [disk, set] = disks[(round - 1) % disks.length];
      const moment = between(random, EVENTS.least, EVENTS.most);
      let events = 0;
      const onEvent = () => {
        if (++events === moment) faults.set(set);
      };
      const isFailing = () => events >= moment;
      const refusals = new Map<string, number>();
      const onRefusal = (answer: Answer) => {
        const text = textOf(answer);
        const kind = `${answer.status} ${elementText(text, "Code")}`;
        assert.ok(answer.status >= 500 && elementText(text, "Message") !== "", `${kind}: ${text}`);
        refusals.set(kind, (refusals.get(kind) ?? 0) + 1);
      };
      const server = embeddedServer(dataFolder);
      const reader = await Reader.over(server);
      let isWritten = false;
      const reading = reader.read(() => events >= moment + FURTHER_EVENTS || isWritten, isFailing);
      // It is awaited below, and may fail before.
      reading.catch(() => {});
      await Promise.all(
        ledger.writers.map((keys, writer) =>
          writeUntilGone(server, keys, seededRandom("writer", seed, round, writer), onEvent, {
            isOver: () => events >= moment + FURTHER_EVENTS,
            mayFail: isFailing,
            onRefusal,
          })
        ),
      );
      isWritten = true;
      const reads = await reading;
      const ready = await readiness(application.site);
      const { failed } = faults;
      faults.clear();
      const isAlive = await readiness(application.site) !== "gone";
      const before = isAlive ? await compareAll(server, ledger, random) : null;
      if (isAlive) await reader.compare();
      isRunning = false;
      const { code } = await application.stop();
      application = await start();
      isRunning = true;
      const { files } = checkFolder(dataFolder);
      const compared = await compareAll(embeddedServer(dataFolder), ledger, random);
      const shown = [...refusals].map(([kind, count]) => `${count} x ${kind}`).join(", ");
      yield {
        ...{ round, disk, failed, ready, reads, files, refusals: shown },
        end: `${isAlive ? "stopped" : "by itself"}: ${code}`,
        ...compared,
        unanswered: compared.unanswered + (before?.unanswered ?? 0),
        happened: compared.happened + (before?.happened ?? 0),
      };
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`round ${round}, seed ${seed}: ${reason}\n${application.output()}`, { cause: error });
  } finally {
    faults.clear();
    if (isRunning) await application.stop();
    await Deno.remove(dataFolder, { recursive: true });
  }
}

/** Damages a data folder of a short load, and has `verify` find it. */
export async function* damaged(rounds: number, seed: number): AsyncGenerator<DamageRound> {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-damage-" });
  try {
    const application = await startApplication({ dataFolder, env: ENV });
    let events = 0;
    await writeUntilGone(
      embeddedServer(dataFolder),
      new Ledger(1, KEYS_EACH, BUCKETS).keys,
      seededRandom("damage", seed),
      () => events++,
      {
        isOver: () => events > EVENTS.most,
        mayFail: () => false,
      },
    );
    await application.stop();
    yield* damageRounds(dataFolder, rounds, seed);
  } finally {
    await Deno.remove(dataFolder, { recursive: true });
  }
}

/** The disk's state in the readiness response. */
async function readiness(site: string): Promise<string> {
  try {
    const response = await fetch(new URL("/readyz", site));
    return `${response.status} ${(await response.json()).checks?.disk}`;
  } catch {
    return "gone";
  }
}

const FIXED_SIZES = [100, 9000, 300_000, 2_000_000];

/** Reads objects that nothing changes: each has its bytes, or an error. */
class Reader {
  readonly #server: S3Server;
  readonly #bodies: readonly (readonly [key: string, bytes: Uint8Array])[];

  private constructor(server: S3Server, bodies: readonly (readonly [string, Uint8Array])[]) {
    this.#server = server;
    this.#bodies = bodies;
  }

  /** Writes the objects. */
  static async over(server: S3Server): Promise<Reader> {
    const wire = new S3Wire(server);
    const bodies = FIXED_SIZES.map((size) => [`fixed/${size}`, new Uint8Array(randomBytes(size))] as const);
    for (const [key, body] of bodies) await wire.succeed({ method: "PUT", bucket: BUCKETS.unversioned, key, body });
    wire.close();
    return new Reader(server, bodies);
  }

  /** Reads until it is over. @returns how many reads were right */
  async read(isOver: () => boolean, mayFail: () => boolean): Promise<number> {
    let right = 0;
    for (let n = 0; !isOver(); n++) {
      const [key, bytes] = this.#bodies[n % this.#bodies.length];
      const wire = new S3Wire(this.#server);
      try {
        const answer = await wire.send({ method: "GET", bucket: BUCKETS.unversioned, key });
        if (answer.status === 200) assert.ok(Buffer.from(answer.body).equals(bytes), `${key} has other bytes`);
        else assert.ok(mayFail() && answer.status >= 500, `${key}: ${answer.status}`);
        if (answer.status === 200 && mayFail()) right++;
      } catch (error) {
        // A body that breaks off is no whole one.
        if (error instanceof assert.AssertionError || !mayFail()) throw error;
      } finally {
        wire.close();
      }
    }
    return right;
  }

  async compare(): Promise<void> {
    const wire = new S3Wire(this.#server);
    for (const [key, bytes] of this.#bodies) {
      const { body } = await wire.succeed({ method: "GET", bucket: BUCKETS.unversioned, key });
      assert.ok(Buffer.from(body).equals(bytes), `${key} has other bytes`);
    }
    wire.close();
  }
}
