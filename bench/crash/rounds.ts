import { embeddedServer } from "@/bench/wire/s3_wire.ts";
import { between, seededRandom } from "@/embedded/archive/catalogue.ts";
import { startApplication } from "@/tests/application.ts";
import { compareAll, type Compared } from "./compare.ts";
import { checkFolder } from "./folder_check.ts";
import { Ledger } from "./ledger.ts";
import { writeUntilGone } from "./load.ts";

const WRITERS = 8;
const KEYS_EACH = 6;

/** The sample buckets of the tenant archive that are written to. */
const BUCKETS = { unversioned: "letters", versioned: "maps" };

/** The kill comes after so many events (requests sent, pieces of bodies sent, answers) … */
const EVENTS = { least: 150, most: 1200 };

/** … and up to so many ms later, so that it also comes while the server is at work and nobody is told anything. */
const LATEST_MS = 12;

/** Result of one kill and the start after it. */
export interface Round extends Compared {
  kill: number;
  /** Events up to the kill. */
  events: number;
  files: number;
}

/** The store alone: a cluster would go on writing results while the folder is checked. */
const ENV = { EMBEDDED: "store", ROLES: "gateway,results" };

/**
 * Kills the application in the middle of a mixed load, again and again over one folder, and compares everything after
 * each start. Throws with the seed when anything was lost; the moments of the kills depend on the seed, what the disk
 * and the other threads do meanwhile does not.
 */
export async function* crashRounds(kills: number, seed: number): AsyncGenerator<Round> {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-crash-" });
  const ledger = new Ledger(WRITERS, KEYS_EACH, BUCKETS);
  let application = await startApplication({ dataFolder, env: ENV });
  let isRunning = true;
  try {
    for (let number = 1; number <= kills; number++) {
      const random = seededRandom("crash", seed, number);
      const moment = between(random, EVENTS.least, EVENTS.most);
      let events = 0;
      const onEvent = () => {
        if (++events === moment) setTimeout(kill, random() * LATEST_MS);
      };
      const killed = Promise.withResolvers<void>();
      const kill = () => {
        if (!isRunning) return;
        isRunning = false;
        application.kill().then(killed.resolve, killed.reject);
      };
      const server = embeddedServer(dataFolder);
      await Promise.all(
        ledger.writers.map((keys, writer) =>
          writeUntilGone(server, keys, seededRandom("writer", seed, number, writer), onEvent, {
            isOver: () => !isRunning,
            mayFail: () => !isRunning,
          })
        ),
      );
      await killed.promise;
      application = await startApplication({ dataFolder, env: ENV });
      isRunning = true;
      const { files } = checkFolder(dataFolder);
      yield { kill: number, events: moment, files, ...await compareAll(embeddedServer(dataFolder), ledger, random) };
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${reason}\n${application.output()}`, { cause: error });
  } finally {
    const wasRunning = isRunning;
    isRunning = false;
    if (wasRunning) await application.stop();
    await Deno.remove(dataFolder, { recursive: true });
  }
}
